package push

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// maxEndpoint bounds an endpoint, in bytes: those of the services that there are have 200 to 800.
	maxEndpoint = 2048
	// lookupTime is how long the look at an endpoint's name may take.
	lookupTime = 5 * time.Second
	// exchangeTime is how long one exchange with a push service may take in all.
	exchangeTime = 15 * time.Second
	// maxHead and maxAnswer bound what's read of an answer, in bytes: nothing in it is needed but its
	// status and Retry-After, and a refusal's first words for the log.
	maxHead   = 16 << 10
	maxAnswer = 512
	// servicePort is where all push services are: whoever could name another might look by the daemon for
	// what listens elsewhere.
	servicePort = 443
)

// Route is how push services are reached. Its zero value is the internet, and nothing of the machine or
// of networks beside it, their public addresses included: an endpoint is an address that a browser names.
// The configuration can't change it; tests do.
type Route struct {
	Loopback bool           // loopback is as good as public addresses
	AnyPort  bool           // each port is as good as servicePort
	Roots    *x509.CertPool // whose certificates are good; nil: the system's
	// Own are the addresses of the machine, with their networks; nil: as the system says.
	Own func() ([]net.Addr, error)
	// Lookup finds the addresses of a name; nil: as the system does.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	// Dial makes connections; nil: to public addresses alone.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

var errElsewhere = errors.New("the address isn't one of the public internet's")

// CheckEndpoint returns an error that wraps sessions.ErrInvalid, or ErrUnavailable, unless an endpoint is https
// at public addresses. It asks the system for the name's, and is asked again when something's sent: a name may
// point elsewhere by then. The error tells nothing about names and addresses that isn't in the endpoint: whoever
// names one could ask so what there is in the machine's networks.
func (r Route) CheckEndpoint(ctx context.Context, endpoint string) error {
	wrong := func(why string) error {
		return fmt.Errorf("%w push endpoint: %s; take it as PushSubscription.endpoint has it", sessions.ErrInvalid, why)
	}
	u, err := url.Parse(endpoint)
	switch {
	case len(endpoint) > maxEndpoint:
		return wrong(fmt.Sprintf("it's longer than %d bytes", maxEndpoint))
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return wrong("it must be an https address")
	case u.User != nil || u.Fragment != "":
		return wrong("it must have neither a user nor a fragment")
	case u.Port() != "" && u.Port() != strconv.Itoa(servicePort) && !r.AnyPort:
		return wrong("it must be at port 443, as those of all push services are")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if !r.allows(a) {
			return wrong(u.Hostname() + " isn't an address of the public internet")
		}
		return nil
	}
	lookup := r.Lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupNetIP
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := lookup(ctx, "ip", u.Hostname())
	// What's found may be an address of IPv4 in the form of one of IPv6, as that of a name in /etc/hosts is.
	if err != nil || len(found) == 0 || slices.ContainsFunc(found, func(a netip.Addr) bool { return !r.allows(a.Unmap()) }) {
		return fmt.Errorf("%w: no push service is known here as %s: it must be a name of public addresses alone", sessions.ErrUnavailable, u.Hostname())
	}
	return nil
}

// allows reports whether something may be sent to an address.
func (r Route) allows(a netip.Addr) bool {
	if r.Loopback && a.Unmap().IsLoopback() {
		return true
	}
	return isPublic(a) && !r.isBeside(a)
}

// A network of the machine's is one beside it if its prefix has so many bits at least: shorter ones are none
// that anybody has at one place.
const (
	leastBits4 = 16
	leastBits6 = 48
)

// isBeside reports whether an address is the machine's own, or one of the networks that it's in: those may be public,
// and are reached from within past all that guards them. Where the system doesn't say which they are, all are.
func (r Route) isBeside(a netip.Addr) bool {
	own := r.Own
	if own == nil {
		own = net.InterfaceAddrs
	}
	all, err := own()
	return err != nil || slices.ContainsFunc(all, func(one net.Addr) bool {
		network, err := netip.ParsePrefix(one.String())
		if err != nil {
			return false // an interface without an address
		}
		least := leastBits6
		if network.Addr().Is4() {
			least = leastBits4
		}
		return network.Addr() == a || network.Bits() >= least && network.Contains(a)
	})
}

// client makes the client by which everything is sent. It follows no redirect, and uses no proxy, which
// would reach for it what it may not.
func (r Route) client() *http.Client {
	dial := r.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: exchangeTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !r.allows(to.Addr()) || to.Port() != servicePort && !r.AnyPort {
				return fmt.Errorf("connect to %s: %w", address, errElsewhere)
			}
			return nil
		}}).DialContext
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: r.Roots}, TLSHandshakeTimeout: exchangeTime,
			ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHead, MaxIdleConns: 8, IdleConnTimeout: time.Minute,
		},
	}
}

// reserved are the networks within those of unicast that aren't the public internet's: IANA's registries of
// special-purpose addresses, of IPv4 and of what's within 2000::/3.
var reserved = []netip.Prefix{ //nolint:gochecknoglobals // a constant table
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("224.0.0.0/3"), // multicast, and what's reserved behind it
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), // Teredo, 6to4: they hold addresses of IPv4
	netip.MustParsePrefix("3fff::/20"),
}

// unicast is what IPv6 has of public addresses. What's mapped or translated (::ffff:0:0/96, 64:ff9b::/96,
// 64:ff9b:1::/48), local (fc00::/7, fe80::/10) or multicast is outside.
var unicast = netip.MustParsePrefix("2000::/3") //nolint:gochecknoglobals // a constant, but for its type

// isPublic reports whether an address is one of the public internet's.
func isPublic(a netip.Addr) bool {
	if a.Zone() != "" || !a.Is4() && !unicast.Contains(a) {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}
