package api

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Reach says from where the page can be reached, beside this machine's browsers.
type Reach struct {
	// PublicURL is the page's address for browsers elsewhere; "": there's none.
	PublicURL string
	// AllowedHosts are further names by which browsers call it, exactly, with a port unless
	// it's the scheme's.
	AllowedHosts []string
	// BehindProxy says that a proxy stands before it. Then nobody else is served but this
	// machine's browsers.
	BehindProxy bool
	// TrustedProxies are the addresses of that proxy; empty: loopback's.
	TrustedProxies []netip.Prefix
	// TLS has the page's certificate; nil: it's served by http.
	TLS *tls.Config
}

// trusts reports whether a proxy is trusted that connects from an address.
func (r *Reach) trusts(from netip.Addr) bool {
	if !r.BehindProxy || !from.IsValid() {
		return false
	}
	if len(r.TrustedProxies) == 0 {
		return from.IsLoopback()
	}
	return slices.ContainsFunc(r.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(from) })
}

// Origin is the origin of the page where it listens: for browsers of this machine. Where it
// listens on all addresses that's the loopback interface's.
func (r *Reach) Origin(l net.Listener) string {
	if l == nil {
		return ""
	}
	at := l.Addr().String()
	if listens, err := netip.ParseAddrPort(at); err == nil && listens.Addr().IsUnspecified() {
		at = "127.0.0.1:" + strconv.Itoa(int(listens.Port()))
	}
	return r.scheme() + "://" + at
}

// IsLocal reports whether browsers of this machine reach an origin as such: by the loopback interface.
func IsLocal(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

func (r *Reach) scheme() string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// visit is a request as the door sees it.
type visit struct {
	local bool   // a browser of this machine has sent it, by a name of the loopback interface
	from  string // the address of who has sent it, as far as it's known
	// origins are those of the page under the name by which it's called; empty: the page
	// hasn't that name.
	origins []string
	// refused says why it isn't served; "": it is.
	refused string
}

// forwardingHeaders are those by which proxies say for whom they ask. Browsers send none.
//
//nolint:gochecknoglobals // a list that nothing changes
var forwardingHeaders = []string{
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-By",
	"X-Real-Ip", "X-Client-Ip", "X-Original-Host", "X-Original-Forwarded-For", "True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "Via",
	"Tailscale-User-Login", "Tailscale-User-Name", "Tailscale-Headers-Info",
}

// isForwarded reports whether a request says that a proxy hands it on.
func isForwarded(h http.Header) bool {
	return slices.ContainsFunc(forwardingHeaders, func(name string) bool { return len(h.Values(name)) > 0 })
}

// visitOf looks at a request. port is the one that the page listens on.
func (r *Reach) visitOf(req *http.Request, port string) visit {
	conn, _ := req.Context().Value(guardedKey{}).(*guardedConn)
	forwarded := isForwarded(req.Header)
	var v visit
	own := conn == nil || conn.whose == whoseOwn
	if conn != nil {
		v.from = addressOf(conn.Conn).String()
	}
	switch {
	case forwarded && (conn == nil || !conn.trusted):
		v.refused = "a proxy hands this on that isn't known: set adapters.web.behind_proxy to true, and adapters.web.trusted_proxies to its address" + seenFrom(v.from)
		return v
	case forwarded:
		v.from = forwardedFor(req.Header, v.from)
	}
	name, itsPort := splitHost(req.Host, r.scheme())
	atLoopback := isLoopbackName(name)
	v.local = own && !forwarded && atLoopback
	switch {
	case v.local && itsPort == port:
		v.origins = []string{r.scheme() + "://" + strings.ToLower(req.Host)}
	default:
		v.origins = r.originsOf(req.Host)
	}
	if len(v.origins) > 0 {
		return v
	}
	if forwarded && atLoopback {
		v.refused = "the proxy has replaced the Host that the browser sent by " + req.Host + ": have it keep that (nginx: proxy_set_header Host $http_host)"
		return v
	}
	v.refused = "the page isn't served by the name " + req.Host + ": on this machine it's " + r.scheme() + "://127.0.0.1:" + port +
		", and for others adapters.web.public_url and allowed_hosts name it"
	return v
}

func seenFrom(address string) string {
	if address == "" {
		return ""
	}
	return " (" + address + ")"
}

// originsOf are the page's origins under a name that the configuration gives it. Loopback names
// are those of tunnels, which are called by http.
func (r *Reach) originsOf(host string) []string {
	host = strings.ToLower(host)
	var origins []string
	if u, err := url.Parse(r.PublicURL); err == nil && u.Host != "" && sameHost(host, u.Host, u.Scheme) {
		origins = append(origins, u.Scheme+"://"+host)
	}
	for _, allowed := range r.AllowedHosts {
		name, _ := splitHost(allowed, "https")
		scheme := "https"
		if isLoopbackName(name) {
			scheme = r.scheme()
		}
		if origin := scheme + "://" + host; sameHost(host, allowed, scheme) && !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return origins
}

// sameHost compares a Host header with a name, of which each may leave out the scheme's port.
func sameHost(host, name, scheme string) bool {
	n1, p1 := splitHost(host, scheme)
	n2, p2 := splitHost(name, scheme)
	return n1 != "" && strings.EqualFold(n1, n2) && p1 == p2
}

// splitHost splits a Host header into its name, without brackets, and its port, which is the
// scheme's if there's none.
func splitHost(host, scheme string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	port = "80"
	if scheme == "https" {
		port = "443"
	}
	return strings.Trim(host, "[]"), port
}

func isLoopbackName(name string) bool {
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.IsLoopback()
}

// forwardedFor is for whom a trusted proxy asks: the last address that it names, since it has
// added that itself, and who asked may have made up those before.
func forwardedFor(h http.Header, proxy string) string {
	lines := h.Values("X-Forwarded-For")
	if len(lines) == 0 {
		return proxy
	}
	last := lines[len(lines)-1]
	addr, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:]))
	if err != nil {
		return proxy
	}
	return addr.Unmap().WithZone("").String()
}

type visitKey struct{}

func withVisit(ctx context.Context, v visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// visitIn returns the visit of a request; an empty one on the Unix socket.
func visitIn(ctx context.Context) visit {
	v, _ := ctx.Value(visitKey{}).(visit)
	return v
}
