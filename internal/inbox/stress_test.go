package inbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
)

// A child of the stress test is this test's program with the variable set: "write N NAME"
// or "listen".
const childEnv = "PANEBRIDGE_INBOX_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(strings.Fields(job)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Who the stress test's mail and notices are for.
const (
	writerAddress   = inbox.Address("pb_writer")
	listenerAddress = inbox.Address("pb_listener")
)

func child(job []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := do(ctx, job); ctx.Err() == nil {
		return err
	}
	return nil // asked to end, whatever it was at
}

func do(ctx context.Context, job []string) error {
	dir := os.Getenv("PANEBRIDGE_INBOX_DIR")
	db, err := store.OpenInbox(ctx, filepath.Join(dir, "panebridge.db"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	bells := inbox.Bells{Folder: filepath.Join(dir, inbox.BellFolder)}
	if job[0] == "listen" {
		_, err := inbox.Listening{Store: db, Bells: bells, Follow: true, Print: func(all []inbox.Notice) error {
			var text strings.Builder
			for _, n := range all {
				line, err := json.Marshal(n)
				if err != nil {
					return err
				}
				text.Write(append(line, '\n'))
			}
			_, err := io.WriteString(os.Stdout, text.String())
			return err
		}}.Run(ctx, listenerAddress, false)
		return err
	}
	var n int
	if _, err := fmt.Sscan(job[1], &n); err != nil {
		return err
	}
	for i := range n {
		text := fmt.Sprintf("%s-%d", job[2], i)
		if i%2 == 0 {
			if _, err := (inbox.PostOffice{Store: db}).Send(ctx, nil, writerAddress, listenerAddress, text); err != nil {
				return err
			}
			_, _ = fmt.Fprintln(os.Stdout, "mail", text)
			continue
		}
		if err := inbox.Notify(ctx, db, bells, inbox.Notice{To: listenerAddress, At: time.Now(), From: job[2], Type: inbox.Info, Msg: text}); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(os.Stdout, "notice", text)
	}
	return nil
}

// swarm are the processes of a stress test.
type swarm struct {
	t       *testing.T
	dir     string
	readers sync.WaitGroup // of writers' outputs

	mu     sync.Mutex
	done   []string // "mail TEXT", "notice TEXT": what writers say is stored
	errors []string
}

func (s *swarm) start(job string, stdout *os.File) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+job, "PANEBRIDGE_INBOX_DIR="+s.dir)
	cmd.Stderr = (*complaints)(s)
	if stdout != nil {
		cmd.Stdout = stdout
	} else {
		out, err := cmd.StdoutPipe()
		if err != nil {
			s.t.Fatal(err)
		}
		s.readers.Go(func() { s.read(out) })
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd
}

func (s *swarm) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		s.mu.Lock()
		s.done = append(s.done, lines.Text())
		s.mu.Unlock()
	}
}

// complaints keeps what children write to standard error.
type complaints swarm

func (c *complaints) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors = append(c.errors, string(text))
	return len(text), nil
}

// TestManyProcesses has 16 processes send and notify at once and 8 listen, and kills some
// of each: no mail is lost or doubled, no notice is lost, and one that's told twice says so.
func TestManyProcesses(t *testing.T) {
	each := 60
	if drawtest.Stressed() {
		each = 1000
	}
	s := &swarm{t: t, dir: t.TempDir()}
	printed, err := os.OpenFile(filepath.Join(s.dir, "printed"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = printed.Close() }()
	var listeners, writers []*exec.Cmd
	for range 8 {
		listeners = append(listeners, s.start("listen", printed))
	}
	for i := range 16 {
		writers = append(writers, s.start(fmt.Sprintf("write %d w%d", each, i), nil))
	}
	over := make(chan struct{})
	var chaos sync.WaitGroup
	chaos.Go(func() { // only this goroutine touches listeners meanwhile
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(20+rand.IntN(60)) * time.Millisecond):
			}
			i := rand.IntN(len(listeners))
			_ = listeners[i].Process.Kill()
			_ = listeners[i].Wait()
			listeners[i] = s.start("listen", printed)
		}
	})
	for i, w := range writers {
		if i%5 == 4 {
			time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
			_ = w.Process.Kill()
		}
	}
	s.readers.Wait() // Wait would close the pipes
	for _, w := range writers {
		_ = w.Wait()
	}
	close(over)
	chaos.Wait()
	s.drain(listeners)
	s.check(readNotices(t, printed))
}

// drain waits until nothing is left to tell, and ends the listeners.
func (s *swarm) drain(listeners []*exec.Cmd) {
	db := openInbox(s.t, s.dir)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left, err := db.Undelivered(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d notices are left", left)
		}
	}
	for _, l := range listeners {
		_ = l.Process.Signal(syscall.SIGTERM)
		_ = l.Wait()
	}
}

func openInbox(tb testing.TB, dir string) *store.Inbox {
	tb.Helper()
	db, err := store.OpenInbox(tb.Context(), filepath.Join(dir, "panebridge.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// readNotices reads what listeners printed. The last line of one that was killed may not
// be whole: the same notice comes again.
func readNotices(t *testing.T, f *os.File) (all []inbox.Notice) {
	t.Helper()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var n inbox.Notice
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			t.Errorf("%v: %q", err, lines.Text())
			continue
		}
		all = append(all, n)
	}
	return all
}

func (s *swarm) check(told []inbox.Notice) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.errors {
		s.t.Errorf("a child says: %s", e)
	}
	mails, err := openInbox(s.t, s.dir).Mail(s.t.Context(), inbox.Query{To: listenerAddress})
	if err != nil {
		s.t.Fatal(err)
	}
	stored, plain, counted := map[string]int{}, map[string]int{}, map[string]int{}
	for _, m := range mails {
		stored[m.Text]++
	}
	again := 0
	for _, n := range told {
		counted[n.Msg]++
		if n.Redelivered {
			again++
		} else {
			plain[n.Msg]++
		}
	}
	for text, n := range stored {
		if n != 1 {
			s.t.Errorf("mail %q is there %d times", text, n)
		}
	}
	for text, n := range plain {
		if n > 1 {
			s.t.Errorf("notice %q was told %d times without a mark", text, n)
		}
	}
	sent, notified := 0, 0
	for _, line := range s.done {
		kind, text, _ := strings.Cut(line, " ")
		switch kind {
		case "mail":
			if sent++; stored[text] != 1 {
				s.t.Errorf("mail %q was stored and is there %d times", text, stored[text])
			}
		case "notice":
			if notified++; counted[text] == 0 {
				s.t.Errorf("notice %q was stored and never told", text)
			}
		}
	}
	if sent < 100 || notified < 100 || !slices.ContainsFunc(told, func(n inbox.Notice) bool { return !n.Redelivered }) {
		s.t.Errorf("only %d mails and %d notices: that's no test", sent, notified)
	}
	s.t.Logf("%d mails, %d notices stored; %d told, %d of them marked as told again", sent, notified, len(told), again)
}
