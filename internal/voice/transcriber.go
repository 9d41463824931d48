package voice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/regular"
)

// Options say how speech becomes text. Either Command or URL is given.
type Options struct {
	// Command is a program with its arguments; the audio's path stands for the argument "{}", or behind the last. What it writes
	// to its standard output is the text.
	Command []string
	// URL is the address of a service, KeyFile the file with its key; "": it takes none.
	URL, KeyFile string
	// Model and Language are told to the service; "": it chooses.
	Model, Language string
	// Within is how long a transcription may take. 0: a minute.
	Within time.Duration
	// MaxBytes is the size of the largest recording that's transcribed. 0: 25 MB, which is what OpenAI takes.
	MaxBytes int64
	// Transport makes the requests. Nil: the system's, with its proxy.
	Transport http.RoundTripper
}

const (
	defaultWithin   = time.Minute
	defaultMaxBytes = 25 << 20
	atOnce          = 2      // transcriptions at a time: a command takes all of a processor
	waiting         = 4      // that wait for those; whoever comes then hears that it's busy
	maxText         = 10_000 // bytes of a text: half an hour of speech
	maxAnswer       = 1 << 20
)

// Errors of Transcribe that say what people can do about it.
var (
	ErrBusy     = errors.New("others are being transcribed; send it again in a minute")
	ErrTooLarge = errors.New("the recording is too large to be transcribed")
	ErrEmpty    = errors.New("nothing was understood")
	ErrTooLong  = fmt.Errorf("it says more than the %d bytes that are typed of a recording", maxText)
)

// Transcriber makes text of speech. It's safe for concurrent use.
type Transcriber struct {
	opt    Options
	client *http.Client
	slots  chan struct{} // holds a token for each transcription
	places chan struct{} // the same, and for each that waits
}

// New returns a Transcriber. It calls nothing. An error says which option is wrong.
func New(opt Options) (*Transcriber, error) {
	if (len(opt.Command) > 0) == (opt.URL != "") {
		return nil, errors.New("give either a command or an address to transcribe speech with")
	}
	if opt.Within == 0 {
		opt.Within = defaultWithin
	}
	if opt.MaxBytes == 0 {
		opt.MaxBytes = defaultMaxBytes
	}
	return &Transcriber{
		opt: opt, slots: make(chan struct{}, atOnce), places: make(chan struct{}, atOnce+waiting),
		// Who is redirected would get the recording, too.
		client: &http.Client{Transport: opt.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Transcribe returns what's said in a recording, on one line, without control characters. It blocks until that's known, the
// time is over, or ctx ends; a program that it began has ended then. The error says why there's no text, and has no secret.
func (t *Transcriber) Transcribe(ctx context.Context, path string) (string, error) {
	f, err := t.open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	default:
		return "", ErrBusy
	}
	bounded, cancel := context.WithTimeout(ctx, t.opt.Within)
	defer cancel()
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-bounded.Done():
		return "", t.explain(ctx, ErrBusy)
	}
	said := t.ask
	if t.opt.URL == "" {
		said = t.run
	}
	text, err := said(bounded, f)
	if err != nil {
		if bounded.Err() != nil {
			err = t.explain(ctx, fmt.Errorf("it took longer than %s", t.opt.Within))
		}
		return "", err
	}
	switch text = oneLine(text); {
	case text == "":
		return "", ErrEmpty
	case len(text) > maxText: // a part of what was said may mean something else
		return "", ErrTooLong
	}
	return text, nil
}

// open opens a recording. The session's program may have put something else in its place, or a link to what it can't read
// itself: these are refused.
func (t *Transcriber) open(path string) (f *os.File, err error) {
	if err := regular.CheckOwner(path); err != nil {
		return nil, fmt.Errorf("look at the recording: %w", err)
	}
	if f, err = regular.OpenBelow(filepath.Dir(path), filepath.Base(path)); err != nil {
		return nil, fmt.Errorf("look at the recording: %w", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("look at the recording: %w", err)
	case info.Size() > t.opt.MaxBytes:
		err = fmt.Errorf("%w: at most %d MB are taken", ErrTooLarge, t.opt.MaxBytes>>20)
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// explain is the error of ctx if it has ended, else why.
func (t *Transcriber) explain(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return why
}

// oneLine is a text on one line, without what a terminal would read as more than text.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// readBounded reads at most maxAnswer bytes.
func readBounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = errors.New("the answer is too long")
	}
	return text, err
}
