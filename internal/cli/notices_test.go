package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
)

// A reader that doesn't read doesn't keep a listener that's told to end: its notices count as
// not printed.
func TestListenEndsWhereNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unread, out := io.Pipe()
		defer func() { _ = unread.Close() }()
		stop := errors.New("stop")
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, stop)
		defer cancel()
		m := &agentInbox{invocation: &invocation{stdio: Stdio{Out: out}}}
		start := time.Now()
		err := m.printNotices(ctx, []inbox.Notice{{From: "work", Type: inbox.Info, Msg: "unread"}})
		if !errors.Is(err, stop) {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(start); took != time.Minute+printGrace {
			t.Errorf("it took %s", took)
		}
	})
}

// What can be printed is, though listening is to end.
func TestListenPrintsWhatItHasTaken(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	m := &agentInbox{invocation: &invocation{stdio: Stdio{Out: &out}}}
	if err := m.printNotices(ctx, []inbox.Notice{{From: "work", Type: inbox.Info, Msg: "read"}}); err != nil || !strings.Contains(out.String(), `"msg":"read"`) {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestListenTakesSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0s": 0, "60": time.Minute, "1.5": 1500 * time.Millisecond, "2h": 2 * time.Hour} {
		var s listenSpan
		if err := s.Set(text); err != nil || time.Duration(s) != want {
			t.Errorf("%q: %s, %v", text, &s, err)
		}
	}
	for _, text := range []string{"", "soon", "-1", "-5s"} {
		if err := new(listenSpan).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// Mail of somebody else gives the reader's terminal no orders.
func TestMailIsPrintedWithoutControlCharacters(t *testing.T) {
	if got, want := indented("one\x1b[2J\r\x00\n\ttwo\u009b\n"), "    one[2J\n    \ttwo"; got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}
