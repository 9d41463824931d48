package web_test

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// network is one whose connections can die without a word, as those of a phone that goes from one network to the next.
type network struct {
	net.Listener

	mu    sync.Mutex
	conns []*connection
}

func (n *network) listen(l net.Listener) net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Listener = l
	return n
}

// Accept takes a connection, which lives.
func (n *network) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	one := &connection{Conn: c, closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, one)
	return one, nil
}

// die has all connections die. What's on its way to the server still comes there if hears.
func (n *network) die(hears bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.die(hears)
	}
	n.conns = nil
}

type connection struct {
	net.Conn

	mu         sync.Mutex
	deaf, mute bool
	once       sync.Once
	closed     chan struct{}
}

func (c *connection) die(hears bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mute, c.deaf = true, !hears
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	deaf := c.deaf
	c.mu.Unlock()
	if deaf {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err //nolint:wrapcheck // the server compares it
}

func (c *connection) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mute {
		return len(p), nil
	}
	return c.Conn.Write(p) //nolint:wrapcheck // as above
}

// Close ends a dead connection for the server alone.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close() //nolint:wrapcheck // as above
}

// quicker has the page wait a tenth of its time for answers.
const quicker = `(() => { const real = AbortSignal.timeout.bind(AbortSignal); AbortSignal.timeout = (ms) => real(ms / 10); })()`

// Where a connection dies without a word the page goes on by others: the lines come, a question is answered, and a text is
// typed once, whether its request came there or not.
func TestConnectionsThatDieWithoutAWord(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, hears := range []bool{false, true} {
		t.Run(fmt.Sprint("requests come there ", hears), func(t *testing.T) {
			t.Parallel()
			n := &network{}
			s := newSite(t)
			s.stop()
			s.listen = n.listen
			s.start(t)
			id := s.daemon.Add("one", "")
			s.daemon.Append(id, sessions.KindPane, texts(1, 10)...)
			b := browse(t, 390, 844)
			b.AwayAtTimes()
			b.Do(before(quicker), s.open())
			last := func(n int) string {
				return fmt.Sprintf(`document.querySelector('#lines').lastElementChild?.textContent === 'line %d'`, n)
			}
			b.Until("the lines", last(10)+` && !document.querySelector('#text').disabled`)
			for round := range 2 {
				n.die(hears)
				s.daemon.Append(id, sessions.KindPane, texts(10*round+11, 10*round+20)...)
				b.Until("the lines that came meanwhile", last(10*round+20))
				b.Until("that nothing is said of the connection", `document.querySelector('#connection').hidden`)
			}
			b.Do(chromedp.Focus("#text"))
			for round := range 2 {
				text := fmt.Sprint("text ", round)
				b.Do(browsertest.InsertText(text))
				n.die(hears)
				b.Do(browsertest.Enter())
				sent := func() bool {
					return browsertest.Eval[bool](b, `document.querySelector('#text').value === '' && !document.querySelector('.outgoing')`)
				}
				b.Until("what came of it", `!document.querySelector('.outgoing')`)
				for !sent() { // it stands in the field again
					b.Do(chromedp.Focus("#text"), browsertest.Enter())
					b.Until("what came of it", `!document.querySelector('.outgoing')`)
				}
			}
			var typed []string
			for _, r := range s.daemon.Receipts() {
				typed = append(typed, r.Text)
			}
			if !slices.Equal(typed, []string{"text 0", "text 1"}) {
				t.Errorf("typed was %q", typed)
			}
			s.daemon.Ask(id, permission())
			b.Until("the question", armed)
			b.Shot("silent")
		})
	}
}
