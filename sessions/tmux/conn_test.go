package tmux

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// peer is the tmux server's end of a connection.
type peer struct {
	t    *testing.T
	conn *serverConn
	in   *bufio.Reader
	out  *os.File
	n    int // blocks sent
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, conn: newConn(inW, outR, func(string) {}), in: bufio.NewReader(inR), out: outW}
	ended := make(chan error)
	go func() { ended <- p.conn.run() }()
	t.Cleanup(func() { _ = outW.Close(); <-ended; _ = inR.Close(); _ = outR.Close() })
	return p
}

// wants reads the next command lines.
func (p *peer) wants(lines ...string) {
	p.t.Helper()
	for _, want := range lines {
		got, err := p.in.ReadString('\n')
		if err != nil || got != want+"\n" {
			p.t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
}

// answers sends a block with one line in it.
func (p *peer) answers(line string) {
	p.t.Helper()
	p.n++
	if _, err := fmt.Fprintf(p.out, "%%begin 1 %d 1\n%s\n%%end 1 %[1]d 1\n", p.n, line); err != nil {
		p.t.Fatal(err)
	}
}

// settled waits until the reader has worked in all that was sent.
func (p *peer) settled(unanswered int) {
	for {
		p.conn.mu.Lock()
		n := len(p.conn.inflight)
		p.conn.mu.Unlock()
		if n == unanswered {
			return
		}
		runtime.Gosched()
	}
}

func ask(line string) *commandLine {
	return &commandLine{line: line, blocks: 1, done: make(chan struct{})}
}

func isDone(r *commandLine) bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Requests that are written together are answered together, so that those who
// asked go on together.
func TestRepliesOfOneWriteComeTogether(t *testing.T) {
	p := newPeer(t)
	one, two, three := ask("one"), ask("two"), ask("three")
	for _, r := range []*commandLine{one, two} {
		if err := p.conn.addQuietly(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.conn.enqueue(three); err != nil {
		t.Fatal(err)
	}
	p.wants("one", "two", "three")
	p.answers("1")
	p.answers("2")
	p.settled(1)
	if isDone(one) || isDone(two) {
		t.Error("a reply was handed out before the last of its write")
	}
	p.answers("3")
	for _, r := range []*commandLine{one, two, three} {
		<-r.done
		if r.err != nil || len(r.reply) != 1 {
			t.Errorf("%s: got %v, %v", r.line, r.reply, r.err)
		}
	}
}

// A reply that waits for others of its write isn't lost when its asker gives up.
func TestReplyThatIsKnownIsReturnedAtTheDeadline(t *testing.T) {
	p := newPeer(t)
	known, unknown := ask("known"), ask("unknown")
	if err := p.conn.addQuietly(known); err != nil {
		t.Fatal(err)
	}
	if err := p.conn.enqueue(unknown); err != nil {
		t.Fatal(err)
	}
	p.wants("known", "unknown")
	p.answers("1")
	p.settled(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if reply, err := p.conn.awaitReply(ctx, known); err != nil || len(reply) != 1 || reply[0].lines[0] != "1" {
		t.Errorf("got %v, %v", reply, err)
	}
	if _, err := p.conn.awaitReply(ctx, unknown); !errors.Is(err, sessions.ErrUncertain) {
		t.Errorf("without a reply: %v", err)
	}
}

// A quiet request never makes a write of its own.
func TestQuietRequestWaitsForTheNext(t *testing.T) {
	c := newConn(nil, nil, nil) // isn't run: the test takes what the writer would
	if err := c.addQuietly(ask("quiet")); err != nil {
		t.Fatal(err)
	}
	if got := c.takeQueued(); got != "" {
		t.Errorf("a quiet request alone: wrote %q", got)
	}
	if err := c.enqueue(ask("next")); err != nil {
		t.Fatal(err)
	}
	if got := c.takeQueued(); got != "quiet\nnext\n" {
		t.Errorf("with the next: wrote %q", got)
	}
	if err := c.addQuietly(ask("quiet")); err != nil {
		t.Fatal(err)
	}
	if got := c.takeQueued(); got != "" {
		t.Errorf("a quiet request after that: wrote %q", got)
	}
}
