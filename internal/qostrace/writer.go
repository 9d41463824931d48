package qostrace

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/qos"
)

const (
	// DayBytes is how long a day's file may get at most. 30 busy sessions make some 100 bytes a second each.
	DayBytes = 128 << 20
	// waiting is how many steps may wait for the disk.
	waiting = 4096
	// writeEvery is how long a step waits at most for others, so that they're written together.
	writeEvery = 2 * time.Second
)

// Writer is a qos.TraceSink that writes an adapter's steps into files. RecordStep never blocks: what the disk
// is too slow for is counted, and the file says how many steps are missing where.
type Writer struct {
	opt  Options
	keep atomic.Int64
	in   chan *qos.TraceStep
	lost atomic.Int64

	// Owned by Run's goroutine.
	enc     encoder
	day     string
	file    io.WriteCloser
	buffer  *bufio.Writer
	size    int64
	full    bool
	failing bool
	retry   time.Time
	last    *qos.TraceStep // how the options stand
	docs    map[qos.DocID]qos.Doc
	number  map[uint64]qos.DocID // calls under way
}

// Options are a Writer's.
type Options struct {
	Adapter  string
	StateDir string // there must be one; Folder is made in it when there's something to write
	// Days is how many days' files are kept, today's among them. 0: nothing is recorded.
	Days   int
	Bytes  int64 // of a day's file at most. 0: DayBytes
	Logger *slog.Logger
}

// NewWriter returns a writer. It makes nothing before Run.
func NewWriter(opt Options) *Writer {
	if opt.Bytes == 0 {
		opt.Bytes = DayBytes
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Writer{opt: opt, in: make(chan *qos.TraceStep, waiting), docs: map[qos.DocID]qos.Doc{}, number: map[uint64]qos.DocID{}}
	w.keep.Store(int64(opt.Days))
	return w
}

// SetDays changes how many days are kept.
func (w *Writer) SetDays(days int) { w.keep.Store(int64(days)) }

// RecordStep implements qos.TraceSink. It never blocks.
func (w *Writer) RecordStep(step qos.TraceStep) {
	select {
	case w.in <- &step:
	default:
		w.lost.Add(1)
	}
}

// Run writes until ctx ends, and then what waits. It returns no error: a disk that fails is said in the log, and
// tried again.
func (w *Writer) Run(ctx context.Context) error {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	defer w.closeFile()
	for {
		select {
		case step := <-w.in:
			w.takeStep(*step)
		case <-tick.C:
			w.flush()
		case <-ctx.Done():
			for {
				select {
				case step := <-w.in:
					w.takeStep(*step)
					continue
				default:
				}
				return nil
			}
		}
	}
}

// takeStep writes a step. What changed is known also while nothing is recorded, so that a file that begins in
// the middle begins with how things stand.
func (w *Writer) takeStep(step qos.TraceStep) {
	w.enc.takeOptions(step)
	if w.openDay(step) {
		w.write(w.enc.encode(step))
	}
	w.follow(step)
}

// follow keeps up how things stand.
func (w *Writer) follow(s qos.TraceStep) {
	switch s.Kind {
	case qos.TraceStarted:
		clear(w.docs)
		clear(w.number)
		w.last = &s
	case qos.TraceTuned:
		w.last = &s
	case qos.TraceOpened:
		w.docs[s.Doc.ID] = s.Doc
	case qos.TraceWanted:
		if d, ok := w.docs[s.Doc.ID]; ok {
			d.Wanted, d.Final = max(d.Wanted, s.Doc.Wanted), max(d.Final, s.Doc.Final)
			w.docs[s.Doc.ID] = d
		}
	case qos.TraceClosed:
		delete(w.docs, s.Doc.ID)
	case qos.TraceSessionClosed:
		for id, d := range w.docs {
			if d.Session == s.Doc.Session {
				delete(w.docs, id)
			}
		}
	case qos.TraceCalled:
		if s.Call.Doc != "" {
			w.number[s.Number] = s.Call.Doc
		}
	case qos.TraceAnswered:
		w.answered(s)
	default:
	}
}

func (w *Writer) answered(s qos.TraceStep) {
	id := w.number[s.Number]
	delete(w.number, s.Number)
	d, ok := w.docs[id]
	if !ok {
		return
	}
	switch s.Result.Outcome {
	case qos.Delivered:
		d.Delivered = max(d.Delivered, s.Result.Delivered)
		if s.Result.Final >= d.Final {
			d.Final = 0
		}
		if s.Result.Chat != "" {
			d.Chat = s.Result.Chat
		}
		w.docs[id] = d
	case qos.Rejected, qos.ChatGone:
		delete(w.docs, id)
	default:
	}
}

// openDay has the file of a step's day open. It returns false if there's to be none, or can't be.
func (w *Writer) openDay(step qos.TraceStep) bool {
	keep := int(w.keep.Load())
	day := w.enc.wall(step.At).UTC().Format(time.DateOnly)
	after := ""
	if keep == 0 || day != w.day {
		if w.file != nil {
			after = w.day
		}
		w.closeFile()
	}
	if w.failing {
		after = ""
	}
	if keep == 0 || w.full && day == w.day {
		return false
	}
	if w.file != nil {
		return true
	}
	if step.At.Before(w.retry) && step.At.After(w.retry.Add(-retryAfter)) {
		w.lost.Add(1)
		return false
	}
	if err := w.open(day, keep); err != nil {
		w.fail(step.At, err)
		return false
	}
	if step.Kind != qos.TraceStarted {
		w.writeStanding(step.At, after)
	}
	return true
}

// retryAfter is how long a disk that fails is left alone.
const retryAfter = 10 * time.Second

func (w *Writer) open(day string, keep int) error {
	in, err := openFolder(w.opt.StateDir)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	key, err := readKey(in)
	if err != nil {
		return err
	}
	if err := forgetOld(in, w.opt.Adapter, day, keep); err != nil {
		return err
	}
	file, size, err := openFile(in, w.opt.Adapter, day)
	if err != nil {
		return err
	}
	w.enc.numbers = numbers{key: key}
	w.enc.base, err = time.Parse(time.DateOnly, day)
	if err != nil {
		return errors.Join(fmt.Errorf("read a day: %w", err), file.Close())
	}
	w.file, w.buffer, w.size, w.day, w.full = file, bufio.NewWriterSize(file, 64<<10), size, day, false
	if w.failing {
		w.failing = false
		w.opt.Logger.Info("what chats' schedulers do is recorded again", "adapter", w.opt.Adapter)
	}
	if size == 0 {
		w.write(line{Kind: kindFile, Version: Version, Adapter: w.opt.Adapter, Day: day})
	} else if size >= w.opt.Bytes {
		w.full = true
		w.closeFile()
		w.full = true
		return errFull
	}
	return nil
}

var errFull = errors.New("the day's file is full")

// writeStanding writes how things stand, into a file that begins in the middle of a run. after is the day whose file
// it goes on from; empty: there's none, or steps are missing.
func (w *Writer) writeStanding(at time.Time, after string) {
	if w.last == nil {
		return
	}
	start := *w.last
	start.Kind, start.At, start.First = qos.TraceStarted, at, true
	write := func(s qos.TraceStep) {
		l := w.enc.encode(s)
		l.After = after
		w.write(l)
	}
	write(start)
	for _, d := range w.docs {
		write(qos.TraceStep{Kind: qos.TraceOpened, At: at, Doc: d})
	}
}

// write appends a line, and before it how many steps are missing.
func (w *Writer) write(l line) {
	if n := w.lost.Swap(0); n > 0 {
		w.opt.Logger.Warn("the disk is too slow for what's recorded of chats' schedulers", "adapter", w.opt.Adapter, "missing", n)
		w.append(line{Kind: kindLost, At: l.At, Lost: int(n)})
	}
	w.append(l)
}

func (w *Writer) append(l line) {
	if w.file == nil {
		return
	}
	text, err := json.Marshal(l)
	if err == nil {
		if w.size+int64(len(text)) > w.opt.Bytes && l.Kind != kindFile {
			text, err = json.Marshal(line{Kind: kindFull, At: l.At})
			w.full = true
			w.opt.Logger.Warn("the day's recording of a scheduler is full: nothing more is recorded until tomorrow", "adapter", w.opt.Adapter, "bytes", w.opt.Bytes)
		}
	}
	if err == nil {
		w.size += int64(len(text)) + 1
		_, err = w.buffer.Write(append(text, '\n'))
	}
	switch {
	case err != nil:
		w.fail(w.enc.base.Add(time.Duration(l.At)), err)
	case w.full:
		full := w.day
		w.closeFile()
		w.day = full
	}
}

func (w *Writer) flush() {
	if w.buffer == nil {
		return
	}
	if err := w.buffer.Flush(); err != nil {
		w.fail(time.Now(), err)
	}
}

// fail says once that nothing can be recorded.
func (w *Writer) fail(at time.Time, err error) {
	if errors.Is(err, errFull) {
		return
	}
	w.retry = at.Add(retryAfter)
	if !w.failing {
		w.failing = true
		w.opt.Logger.Warn("what a chat's scheduler does can't be recorded", "adapter", w.opt.Adapter, "err", err)
	}
	w.lost.Add(1)
	w.discard()
}

func (w *Writer) discard() {
	if w.file != nil {
		_ = w.file.Close() // what failed is said
	}
	w.file, w.buffer, w.day = nil, nil, ""
}

func (w *Writer) closeFile() {
	w.flush()
	w.discard()
}
