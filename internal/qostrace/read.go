package qostrace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/qos"
)

// Recording is what files tell. Names in Steps are numbers.
type Recording struct {
	Adapter string
	Steps   []qos.TraceStep
	Private map[qos.ChatKey]bool // which chats are private

	Lost int  // steps that the disk was too slow for
	Full bool // a day's file was full before its end
	Cut  int  // lines that a kill cut short

	day   string        // of the last file
	last  time.Time     // of the last step
	shift time.Duration // of this run's times, so that they don't go back where the clock was set back between two runs
}

// mostDays is how many days a recording may have: as many as the daemon keeps.
const mostDays = 365

// ReadFiles reads files in the order of their days; a name that ends in .gz is unpacked.
func ReadFiles(paths ...string) (*Recording, error) {
	r := &Recording{Private: map[qos.ChatKey]bool{}}
	for _, path := range paths {
		if err := r.addFile(path); err != nil {
			return nil, fmt.Errorf("read the recording %s: %w", path, err)
		}
	}
	private := func(key qos.ChatKey) bool { return r.Private[key] }
	for i := range r.Steps {
		r.Steps[i].Options.Limits.IsPrivate = private
	}
	return r, nil
}

func (r *Recording) addFile(path string) error {
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReader(f)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReader(z)
	}
	return r.add(in)
}

// add reads one file's lines. A line that can't be read is a kill's, or that of a disk without room, if the next
// one begins a run, or there's none. How many steps are missing may be said in between.
func (r *Recording) add(in *bufio.Reader) error {
	d := stepReader{recording: r, before: r.day}
	var bad error
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !cut {
			return err
		}
		if len(bytes.TrimSpace(text)) > 0 {
			var l line
			err := json.Unmarshal(text, &l)
			switch {
			case bad == nil, err == nil && l.Kind == kindLost:
			case err != nil || l.Kind != qos.TraceStarted.String():
				return bad
			default:
				bad = nil
				r.Cut++
			}
			if err == nil {
				err = d.take(l)
				if err != nil {
					return fmt.Errorf("line %d: %w", n, err)
				}
			} else {
				bad = fmt.Errorf("line %d: %w", n, err)
			}
		}
		if cut {
			break
		}
	}
	if bad != nil {
		r.Cut++
	}
	if d.base.IsZero() {
		return errors.New("it has no first line that says its version")
	}
	return nil
}

// stepReader makes steps of lines.
type stepReader struct {
	recording *Recording
	base      time.Time
	before    string // the day of the file read before; empty: there's none
}

func (d *stepReader) take(l line) error {
	r := d.recording
	switch l.Kind {
	case kindFile:
		return d.begin(l)
	case kindLost:
		r.Lost += l.Lost
		return nil
	case kindFull:
		r.Full = true
		return nil
	}
	if d.base.IsZero() {
		return errors.New("it has no first line that says its version")
	}
	if l.After != "" && l.After == d.before {
		return nil // how things stood is known from the file before
	}
	if l.At < 0 || l.At >= int64(24*time.Hour) {
		return fmt.Errorf("its time isn't of %s, the file's day", r.day)
	}
	if l.Kind == qos.TraceStarted.String() {
		r.shift = max(0, r.last.Sub(d.base.Add(time.Duration(l.At))))
	}
	s, err := d.decode(l)
	if err != nil {
		return err
	}
	if s.Kind == 0 {
		return nil
	}
	if s.At.Before(r.last) {
		return errors.New("its time is before that of the line above: the file was changed")
	}
	r.last = s.At
	r.Steps = append(r.Steps, s)
	return nil
}

// begin takes in a file's first line.
func (d *stepReader) begin(l line) error {
	r := d.recording
	if l.Version < 1 || l.Version > Version {
		return fmt.Errorf("it's of version %d; this program reads up to %d", l.Version, Version)
	}
	base, err := time.Parse(time.DateOnly, l.Day)
	switch {
	case err != nil:
		return fmt.Errorf("read its day: %w", err)
	case !d.base.IsZero() && !d.base.Equal(base):
		return errors.New("it says another day than the file's first line")
	case d.base.IsZero() && d.before != "" && l.Day <= d.before:
		return fmt.Errorf("it's of %s, and the file before of %s: give them in the order of their days, each once", l.Day, d.before)
	case len(r.Steps) > 0 && base.Sub(r.Steps[0].At) > mostDays*24*time.Hour:
		return fmt.Errorf("it's more than %d days behind the first", mostDays)
	}
	d.base, r.Adapter, r.day = base, l.Adapter, l.Day
	return nil
}

func (d *stepReader) at(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return d.base.Add(time.Duration(ns) + d.recording.shift)
}

func name(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func (d *stepReader) chat(n uint64, private bool) qos.ChatKey {
	key := qos.ChatKey(name(n))
	if private {
		d.recording.Private[key] = true
	}
	return key
}

func (d *stepReader) decode(l line) (qos.TraceStep, error) {
	kind, known := qos.ParseTraceKind(l.Kind)
	if !known {
		return qos.TraceStep{}, nil // of a later version that's compatible
	}
	s := qos.TraceStep{Kind: kind, At: d.base.Add(time.Duration(l.At) + d.recording.shift), First: l.First}
	doc, session := qos.DocID(name(l.Doc)), qos.SessionKey(name(l.Session))
	family, class := qos.Family(l.Family), qos.Class(l.Class)
	scope := func() qos.Scope {
		return qos.Scope{Chat: d.chat(l.Chat, l.Private), Family: family, AllFamilies: l.All}
	}
	switch kind {
	case qos.TraceStarted, qos.TraceTuned:
		if l.Settings == nil {
			return s, errors.New("a start has no settings")
		}
		var err error
		s.Options, err = l.Settings.read()
		return s, err
	case qos.TraceOpened:
		s.Doc = qos.Doc{
			ID: doc, Chat: d.chat(l.Chat, l.Private), Session: session,
			Delivered: l.Delivered, Wanted: l.Wanted, Final: l.Final, Uncertain: l.Uncertain,
		}
	case qos.TraceWanted:
		s.Doc, s.Live, s.Count = qos.Doc{ID: doc, Wanted: l.Wanted, Final: l.Final}, l.Live, l.Count
	case qos.TraceClosed, qos.TraceSessionClosed, qos.TraceFocused:
		s.Doc, s.Mode = qos.Doc{ID: doc, Session: session}, qos.CloseMode(l.Mode)
	case qos.TracePosted, qos.TraceTried:
		s.Request = qos.Request{
			Chat: d.chat(l.Chat, l.Private), Key: name(l.Key), Class: class, Family: family, Session: session, Uncertain: l.Uncertain,
		}
	case qos.TraceLearned:
		s.Scope, s.Learned = scope(), qos.Learned{Limit: l.Limit, Remaining: l.Remained, Reset: d.at(l.Until)}
	case qos.TracePenalized:
		s.Penalty = qos.Penalty{Scope: scope(), Until: d.at(l.Until), Multiplier: l.Factor}
	case qos.TraceFreed:
		s.Scope = scope()
	case qos.TraceCalled:
		s.Number = l.Number
		s.Call = qos.Call{
			Chat: d.chat(l.Chat, l.Private), Class: class, Family: family, Session: session, Doc: doc, Key: name(l.Key),
			Delivered: l.Delivered, Wanted: l.Wanted, Final: l.Final, Uncertain: l.Uncertain,
		}
	case qos.TraceAnswered:
		outcome, ok := outcomeOf(l.Outcome)
		if !ok {
			return s, fmt.Errorf("%q is no outcome", l.Outcome)
		}
		s.Number, s.Answered = l.Number, d.at(l.Until)
		s.Result = qos.CallResult{
			Outcome: outcome, Delivered: l.Delivered, Final: l.Final, More: l.More, Again: d.at(l.Again), Over: l.Over,
			RetryAfter: time.Duration(l.Retry), Global: l.Global, Narrow: l.Narrow, Chat: d.chat(l.To, l.Private),
		}
	default:
	}
	return s, nil
}
