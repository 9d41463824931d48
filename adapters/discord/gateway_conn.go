package discord

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/sessions"
)

// Kinds of messages of the gateway
// (docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-opcodes).
const (
	opDispatch     = 0
	opHeartbeat    = 1
	opIdentify     = 2
	opResume       = 6
	opReconnect    = 7
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

const (
	// helloFor is how long the gateway may take to greet, and welcomeFor to let the bot
	// in.
	helloFor   = 15 * time.Second
	welcomeFor = 20 * time.Second
	writeFor   = 10 * time.Second
	// maxFrame bounds a message, in bytes. The largest are those that begin a server: with
	// 500 channels, 1,000 threads and 250 roles some 2 MB.
	maxFrame = 16 << 20
	// closeKeeps is the code with which we close: the session can be resumed, unlike
	// after 1000 and 1001.
	closeKeeps = 4000
)

// gatewayFrame is a message of the gateway.
type gatewayFrame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// gatewayConn is one connection to the gateway. The goroutine that made it reads, another
// keeps it alive; either may end it.
type gatewayConn struct {
	ws      *websocket.Conn
	writing sync.Mutex
	asked   chan struct{} // Discord wants a heartbeat now
	acked   chan struct{} // a heartbeat was answered
	alive   func()        // it's well
	session atomic.Pointer[gatewaySession]

	ending sync.Once
	cause  error // why we ended it; set before it's closed
}

// connect makes a connection, and takes in what comes until it ends. The error says
// why it did.
func (g *Gateway) connect(ctx context.Context, children *sync.WaitGroup) error {
	g.link.Waits("the gateway hasn't let the bot in yet")
	address, err := g.gatewayAddress(ctx)
	if err != nil {
		return err
	}
	c, err := g.dial(ctx, address)
	if err != nil {
		g.deaf++
		return err
	}
	g.deaf = 0
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beating sync.WaitGroup
	defer beating.Wait()
	defer cancel()
	c.alive = func() {
		if c.session.Load() != nil {
			g.link.Works(ctx)
		}
	}
	stop := context.AfterFunc(ctx, func() { c.closeFor(ctx.Err()) })
	defer stop()
	defer func() { c.closeFor(io.EOF) }()

	interval, err := c.readHello()
	if err != nil {
		return c.endReason(err)
	}
	beating.Go(func() { c.sendHeartbeats(ctx, interval) })
	welcome := time.AfterFunc(welcomeFor, func() { c.closeFor(errNoWelcome) })
	defer welcome.Stop()
	if err := g.login(ctx, c); err != nil {
		return c.endReason(err)
	}
	for {
		f, err := c.readFrame()
		if err == nil {
			err = g.handleFrame(ctx, c, f, welcome, children)
		}
		if err != nil {
			return c.endReason(err)
		}
	}
}

// gatewayAddress is where to connect: where the session is resumed, if there's one; else,
// when the bot may log in again, where the gateway is.
func (g *Gateway) gatewayAddress(ctx context.Context) (string, error) {
	if g.session != nil && g.session.url != "" && g.deaf < maxDeaf {
		return g.session.url, nil
	}
	for {
		address, wait, err := g.budget.askGateway(ctx)
		switch {
		case err != nil:
			if f, ok := errors.AsType[*failure](err); ok && f.Status == http.StatusUnauthorized {
				e := closing(4004)
				e.early = true
				if f.local {
					e.again = f.RetryAfter
				}
				return "", e
			}
			return "", err
		case g.session != nil || wait <= 0:
			return gatewayURL(address, g.secure())
		case wait > identifyEvery:
			g.link.Fails(ctx, tooSoon{time.Now().Add(wait)}.Error())
		}
		_ = sessions.Pause(ctx, wait)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
}

// secure says whether the gateway must be reached by TLS.
func (g *Gateway) secure() bool { return strings.HasPrefix(g.adapter.opt.APIURL, "https:") }

func (g *Gateway) dial(ctx context.Context, address string) (*gatewayConn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	d, err := g.dialer(address)
	if err != nil {
		return nil, err
	}
	ws, resp, err := d.DialContext(ctx, address, nil)
	if resp != nil {
		_ = resp.Body.Close() // the library has read it
	}
	if err != nil {
		why := g.adapter.client.exchange.Clean(err.Error())
		if resp != nil {
			why = fmt.Sprintf("status %d: %s", resp.StatusCode, why)
		}
		return nil, errors.New("connect to the gateway: " + why)
	}
	ws.SetReadLimit(maxFrame)
	return &gatewayConn{ws: ws, asked: make(chan struct{}, 1), acked: make(chan struct{}, 1)}, nil
}

// login resumes the session, or begins one.
func (g *Gateway) login(ctx context.Context, c *gatewayConn) error {
	if s := g.session; s != nil {
		c.session.Store(s)
		return c.sendFrame(opResume, s.resume(g.adapter.opt.Token))
	}
	if err := g.budget.noteLogin(ctx); err != nil {
		return err
	}
	return c.sendFrame(opIdentify, identify(g.adapter.opt.Token))
}

// handleFrame takes a message in. It returns at once, whatever else is slow: what it says is
// only queued.
func (g *Gateway) handleFrame(ctx context.Context, c *gatewayConn, f gatewayFrame, welcome *time.Timer, children *sync.WaitGroup) error {
	switch f.Op {
	case opDispatch:
		switch f.Type {
		case eventReady:
			s, err := newSession(f.Data, g.secure())
			if err != nil {
				return err
			}
			g.session = s
			c.session.Store(s)
			welcome.Stop()
			g.link.Works(ctx)
		case eventResumed:
			welcome.Stop()
			g.link.Works(ctx)
		}
		s := c.session.Load()
		if s == nil {
			return nil // nothing is said to who isn't let in
		}
		g.intake.putEvent(ctx, c, s, f, children)
	case opHeartbeat:
		wakeUp(c.asked)
	case opHeartbeatAck:
		wakeUp(c.acked)
	case opReconnect:
		return errReconnect
	case opInvalid:
		if string(f.Data) == "true" {
			return errNotNow
		}
		return errInvalid
	}
	return nil
}

func wakeUp(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// readHello reads how often a heartbeat is wanted.
func (c *gatewayConn) readHello() (time.Duration, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(helloFor)); err != nil {
		return 0, err
	}
	f, err := c.readFrame()
	if err != nil {
		return 0, err
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	const most = 10 * 60 * 1000
	if f.Op != opHello || json.Unmarshal(f.Data, &hello) != nil || hello.Interval < 100 || hello.Interval > most {
		return 0, errFrames
	}
	return time.Duration(hello.Interval) * time.Millisecond, c.ws.SetReadDeadline(time.Time{})
}

func (c *gatewayConn) readFrame() (f gatewayFrame, err error) {
	_, raw, err := c.ws.ReadMessage()
	if err != nil {
		return f, err
	}
	if json.Unmarshal(raw, &f) != nil {
		return f, errFrames
	}
	return f, nil
}

// sendFrame writes a message. It may be called from several goroutines.
func (c *gatewayConn) sendFrame(op int, data any) error {
	raw, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeFor)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, raw)
}

// closeFor closes the connection; the first who does says why. Discord is told, if it still
// listens, whether the session goes on.
func (c *gatewayConn) closeFor(why error) {
	c.ending.Do(func() {
		c.cause = why
		code := closeKeeps
		if why == context.Canceled { //nolint:errorlint // it's ctx.Err() itself
			code = websocket.CloseNormalClosure
		}
		_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
		_ = c.ws.Close()
	})
}

// endReason is why a connection ended that failed with an error, in order: what we did to it,
// else what was wrong.
func (c *gatewayConn) endReason(err error) error {
	c.closeFor(err)
	if c.cause != err { //nolint:errorlint // whether it's the very same
		err = c.cause
	}
	if e, ok := err.(*connEnding); ok { //nolint:errorlint // the value itself: nothing wraps it
		return e
	}
	return broken(err)
}

// sendHeartbeats sends heartbeats on a connection until ctx ends, and ends the connection when
// one isn't answered within half an interval: a gateway that has died silently is
// noticed after one and a half, and Discord's own rule is to look before the next
// (docs.discord.com/developers/events/gateway#heartbeat-interval-example-heartbeat-ack).
func (c *gatewayConn) sendHeartbeats(ctx context.Context, interval time.Duration) {
	next := time.NewTimer(rand.N(interval)) // all clients that connect at once don't beat at once
	defer next.Stop()
	overdue := time.NewTimer(interval)
	overdue.Stop()
	defer overdue.Stop()
	send := func() {
		select {
		case <-c.acked: // of one before
		default:
		}
		if err := c.sendFrame(opHeartbeat, c.heartbeat()); err != nil {
			c.closeFor(broken(err))
			return
		}
		next.Reset(interval)
		overdue.Reset(interval / 2)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.asked:
			send()
		case <-next.C:
			send()
		case <-c.acked:
			overdue.Stop()
			c.alive()
		case <-overdue.C:
			c.closeFor(errDeaf)
			return
		}
	}
}

// heartbeat is the number of the last event that's taken care of; nil: none is. What
// isn't stored hasn't come, so that it's kept for a resume.
func (c *gatewayConn) heartbeat() any {
	s := c.session.Load()
	if s == nil || s.stored.Load() == 0 {
		return nil
	}
	return s.stored.Load()
}

// dialer makes connections to an address of the gateway: by Options.Dial, else through
// the proxy, else straight.
func (g *Gateway) dialer(address string) (*websocket.Dialer, error) {
	d := &websocket.Dialer{NetDialContext: g.adapter.opt.Dial, HandshakeTimeout: connectTimeout}
	if d.NetDialContext != nil {
		return d, nil
	}
	configured, _ := exchange.ParseProxy(g.adapter.opt.Proxy) // it was checked
	proxy, err := proxyFor(address, configured)
	switch {
	case err != nil:
		return nil, err
	case proxy == nil:
	case proxy.Scheme == "https": // which the library doesn't know
		d.NetDialContext = proxyTunnel{proxy: proxy}.dial
	default:
		if proxy.Scheme == "socks5h" {
			proxy.Scheme = "socks5" // the library has the proxy find hosts in any case
		}
		d.Proxy = http.ProxyURL(proxy)
	}
	return d, nil
}

// proxyFor is the proxy to an address: the configured one, else as the environment says;
// nil: none.
func proxyFor(address string, configured *url.URL) (*url.URL, error) {
	if configured != nil {
		return configured, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("read the gateway's address: it isn't one")
	}
	u.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil || proxy == nil {
		return nil, err
	}
	own := *proxy
	return &own, nil
}

// proxyTunnel makes connections through a proxy that's reached by TLS.
type proxyTunnel struct {
	proxy *url.URL
	roots *tls.Config // nil: the system's
}

// dial asks the proxy for a connection to an address (RFC 9110, section 9.3.6).
func (t proxyTunnel) dial(ctx context.Context, network, address string) (_ net.Conn, err error) {
	d := tls.Dialer{NetDialer: &net.Dialer{}, Config: t.roots}
	conn, err := d.DialContext(ctx, network, net.JoinHostPort(t.proxy.Hostname(), cmp.Or(t.proxy.Port(), "443")))
	if err != nil {
		return nil, fmt.Errorf("connect to the proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Close()
		}
	}()
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if u := t.proxy.User; u != nil {
		password, _ := u.Password()
		r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := r.Write(conn); err != nil {
		return nil, fmt.Errorf("ask the proxy for a connection: %w", err)
	}
	// Nothing can be read too much: whoever is behind the proxy waits to be spoken to.
	resp, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return nil, fmt.Errorf("ask the proxy for a connection: %w", err)
	}
	_ = resp.Body.Close() // of an answer to CONNECT there's none
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask the proxy for a connection: it answers %d", resp.StatusCode)
	}
	return conn, nil
}
