package discord

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/websocket"
)

// dialer makes connections to an address of the gateway: by Options.Dial, else through
// the proxy, else straight.
func (g *Gateway) dialer(address string) (*websocket.Dialer, error) {
	d := &websocket.Dialer{NetDialContext: g.adapter.opt.Dial, HandshakeTimeout: connectTimeout}
	if d.NetDialContext != nil {
		return d, nil
	}
	proxy, err := proxyFor(address, g.adapter.opt.proxy())
	switch {
	case err != nil:
		return nil, err
	case proxy == nil:
	case proxy.Scheme == "https": // which the library doesn't know
		d.NetDialContext = tunnel{proxy: proxy}.dial
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

// tunnel makes connections through a proxy that's reached by TLS.
type tunnel struct {
	proxy *url.URL
	roots *tls.Config // nil: the system's
}

// dial asks the proxy for a connection to an address (RFC 9110, section 9.3.6).
func (t tunnel) dial(ctx context.Context, network, address string) (_ net.Conn, err error) {
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
