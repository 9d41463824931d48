package exchange

import (
	"errors"
	"net/http"
	"net/url"
	"time"
)

const (
	// connectTimeout is how long a TLS connection may take to come up.
	connectTimeout = 10 * time.Second
	// idleTimeout is how long an unused connection is kept. Telegram closes them after
	// some more than a minute; a request on one that's just being closed would be
	// lost without anybody knowing.
	idleTimeout = 45 * time.Second
)

// NewTransport makes connections to a platform, through a proxy if there's one; else as
// the environment says (HTTPS_PROXY). HTTP/1.1 only: a connection of its own for each
// call under way, so that one that hangs holds up no other.
func NewTransport(proxy *url.URL) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http documents it
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.ForceAttemptHTTP2 = false
	t.TLSHandshakeTimeout = connectTimeout
	t.IdleConnTimeout = idleTimeout
	t.MaxIdleConnsPerHost = 10 // eight calls, a poll, and one to spare
	return t
}

// ParseProxy reads a proxy's address: http, https or socks5. "": there's none, and the
// address is nil. The error repeats nothing of it: there may be a password in it.
func ParseProxy(address string) (*url.URL, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	u, err := url.Parse(address)
	if err == nil && u.Host != "" {
		switch u.Scheme {
		case "http", "https", "socks5", "socks5h":
			return u, nil
		}
	}
	return nil, errors.New("proxy is not an address; as in socks5://127.0.0.1:1080")
}

// CheckAPI says whether an address can be an API's; example is one. The error repeats
// nothing of it.
func CheckAPI(address, example string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return errors.New("api_url is not an address; as in " + example)
	}
	return nil
}
