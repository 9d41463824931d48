package push_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/push/pushstoretest"
	"github.com/panebridge/panebridge/internal/push/pushtest"
	"github.com/panebridge/panebridge/sessions"
)

// An endpoint is https at public addresses: whoever names another gets an error that says what would be right.
func TestEndpointsAreThoseOfThePublicInternet(t *testing.T) {
	const unknown = "must be a name of public addresses alone"
	for endpoint, want := range map[string]string{
		"https://8.8.8.8/push":                              "",
		"https://8.8.8.8:443/push":                          "",
		"https://8.8.8.8:8443/push":                         "must be at port 443",
		"https://8.8.8.8:22/":                               "must be at port 443",
		"https://8.8.8.8:0443/":                             "must be at port 443",
		"https://good.example:8443/":                        "must be at port 443",
		"https://5.9.1.2/":                                  "isn't an address of the public internet", // the machine's own
		"https://5.9.1.3/":                                  "",                                        // beside it at its provider's
		"https://81.2.69.160/":                              "isn't an address of the public internet", // of a network it's in
		"https://81.2.70.1/":                                "",
		"https://[2a02:8071:1::99]/":                        "isn't an address of the public internet", // behind the same router
		"https://[2a02:8071:2::99]/":                        "",
		"https://1.2.3.4/":                                  "", // of a network that's none: 0.0.0.0/0
		"https://[2001:4860:4860::8888]/push":               "",
		"https://100.63.255.255/x":                          "", // beside CGNAT
		"https://172.32.0.1/x":                              "",
		"http://8.8.8.8/push":                               "must be an https address",
		"ftp://8.8.8.8/push":                                "must be an https address",
		"//8.8.8.8/push":                                    "must be an https address",
		"https:///push":                                     "must be an https address",
		"https://%zz/":                                      "must be an https address",
		"https://me@8.8.8.8/push":                           "neither a user nor a fragment",
		"https://8.8.8.8/push#x":                            "neither a user nor a fragment",
		"https://8.8.8.8/" + strings.Repeat("x", 2048):      "longer than 2048 bytes",
		"https://127.0.0.1/":                                "isn't an address of the public internet",
		"https://127.9.9.9:7333/":                           "must be at port 443",
		"https://127.9.9.9/":                                "isn't an address of the public internet",
		"https://0.0.0.0/":                                  "isn't an address of the public internet",
		"https://10.1.2.3/":                                 "isn't an address of the public internet",
		"https://100.64.0.1/":                               "isn't an address of the public internet", // CGNAT, and a tailnet
		"https://100.127.255.255/":                          "isn't an address of the public internet",
		"https://169.254.169.254/latest/meta-data":          "isn't an address of the public internet",
		"https://172.16.0.1/":                               "isn't an address of the public internet",
		"https://172.31.255.255/":                           "isn't an address of the public internet",
		"https://192.168.1.1/":                              "isn't an address of the public internet",
		"https://192.0.2.1/":                                "isn't an address of the public internet",
		"https://198.18.0.1/":                               "isn't an address of the public internet",
		"https://224.0.0.1/":                                "isn't an address of the public internet",
		"https://255.255.255.255/":                          "isn't an address of the public internet",
		"https://[::]/":                                     "isn't an address of the public internet",
		"https://[::1]/":                                    "isn't an address of the public internet",
		"https://[::ffff:127.0.0.1]/":                       "isn't an address of the public internet",
		"https://[::ffff:8.8.8.8]/":                         "isn't an address of the public internet",
		"https://[64:ff9b::7f00:1]/":                        "isn't an address of the public internet", // NAT64
		"https://[64:ff9b::808:808]/":                       "isn't an address of the public internet",
		"https://[64:ff9b:1::1]/":                           "isn't an address of the public internet",
		"https://[fc00::1]/":                                "isn't an address of the public internet",
		"https://[fd7a:115c:a1e0::1]/":                      "isn't an address of the public internet", // a tailnet's
		"https://[fe80::1]/":                                "isn't an address of the public internet",
		"https://[fec0::1]/":                                "isn't an address of the public internet",
		"https://[ff02::1]/":                                "isn't an address of the public internet",
		"https://[2001::1]/":                                "isn't an address of the public internet", // Teredo
		"https://[2001:db8::1]/":                            "isn't an address of the public internet",
		"https://[2002:7f00:1::1]/":                         "isn't an address of the public internet", // 6to4 of 127.0.0.1
		"https://[3fff::1]/":                                "isn't an address of the public internet",
		"https://both.example/":                             unknown, // one of two
		"https://beside.example/":                           unknown,
		"https://beside.example./":                          unknown,
		"https://lost.example/":                             unknown,
		"https://hosts.example/":                            "",
		"https://2130706433/":                               unknown, // a number isn't an address
		"https://127。0。0。1/":                                unknown,
		"https://good.example/" + strings.Repeat("x", 1000): "",
	} {
		found := map[string][]netip.Addr{
			"good.example": {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("2001:4860:4860::8888")},
			"both.example": {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("127.0.0.1")},
			// As the system's resolver has those of /etc/hosts.
			"hosts.example": {netip.MustParseAddr("::ffff:8.8.8.8")}, "beside.example": {netip.MustParseAddr("::ffff:10.1.2.3")}, "beside.example.": {netip.MustParseAddr("::ffff:10.1.2.3")},
		}
		r := push.Route{Own: addresses("127.0.0.1/8", "5.9.1.2/32", "81.2.69.142/24", "1.2.3.5/0", "2a02:8071:1::7/64", "fe80::7/64"), Lookup: func(_ context.Context, _, host string) ([]netip.Addr, error) {
			if a, err := netip.ParseAddr(host); err == nil {
				return []netip.Addr{a}, nil
			}
			if found[host] == nil {
				return nil, errors.New("no such host")
			}
			return found[host], nil
		}}
		err := r.CheckEndpoint(t.Context(), endpoint)
		switch {
		case want == "" && err != nil:
			t.Errorf("%.60s is refused: %v", endpoint, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, sessions.ErrInvalid) && !errors.Is(err, sessions.ErrUnavailable)):
			t.Errorf("%.60s: %v, want one that says %q", endpoint, err, want)
		}
	}
}

// addresses are those of a machine.
func addresses(prefixes ...string) func() ([]net.Addr, error) {
	return func() (all []net.Addr, err error) {
		for _, p := range prefixes {
			at, network, err := net.ParseCIDR(p)
			if err != nil {
				return nil, err
			}
			all = append(all, &net.IPNet{IP: at, Mask: network.Mask})
		}
		return all, nil
	}
}

// A name of the machine's networks is refused as one that isn't known, with nothing about it: whoever may see sessions could
// else ask what there is.
func TestARefusalTellsNothingOfTheNetwork(t *testing.T) {
	said := map[string]bool{}
	for _, answer := range []struct {
		at  []netip.Addr
		err error
	}{
		{at: []netip.Addr{netip.MustParseAddr("10.1.2.3")}},
		{at: []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("fd00::7")}},
		{err: &net.DNSError{Err: "no such host", Name: "db.corp", Server: "10.0.0.53:53", IsNotFound: true}},
		{err: &net.DNSError{Err: "server misbehaving", Name: "db.corp", Server: "10.0.0.53:53"}},
		{},
	} {
		r := push.Route{Lookup: func(context.Context, string, string) ([]netip.Addr, error) { return answer.at, answer.err }}
		err := r.CheckEndpoint(t.Context(), "https://db.corp/")
		if !errors.Is(err, sessions.ErrUnavailable) {
			t.Fatalf("%v: %v", answer, err)
		}
		said[err.Error()] = true
	}
	if len(said) != 1 {
		t.Errorf("it's said in %d ways: %v", len(said), said)
	}
}

// Where the system doesn't say which addresses are the machine's, none is taken for another's.
func TestUnknownAddressesOfTheMachine(t *testing.T) {
	r := push.Route{Own: func() ([]net.Addr, error) { return nil, errors.New("the system doesn't say") }}
	if err := r.CheckEndpoint(t.Context(), "https://8.8.8.8/"); !errors.Is(err, sessions.ErrInvalid) {
		t.Error(err)
	}
}

// loopback is a push service on a real port, with what trusts it.
func loopback(t *testing.T) (*pushtest.Service, push.Route) {
	t.Helper()
	certificate, roots, err := pushtest.Certificate("localhost")
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := &pushtest.Service{Origin: "https://localhost:" + port}
	serve(t, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}}), s)
	return s, push.Route{Roots: roots, AnyPort: true}
}

func serve(t *testing.T, l net.Listener, h http.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- memnet.Serve(ctx, l, h) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
}

// pushes has a Pusher that goes by a route push one question to a device, and returns what becomes of it.
func pushes(t *testing.T, r push.Route, s *pushtest.Service) (*pushtest.Device, func() push.Standing) {
	t.Helper()
	p := begin(t, r, pushstoretest.New())
	d := s.Subscribe(p.PublicKey())
	if err := p.Subscribe(t.Context(), time.Now(), push.Subscription{Browser: "br_1", Endpoint: d.Endpoint, Key: d.Key, Auth: d.Auth, Wishes: all()}); err != nil {
		t.Fatal(err)
	}
	return d, func() push.Standing { st, _ := p.Find("br_1"); return st }
}

// begin has a Pusher run until the test ends. A session asks a question.
func begin(t *testing.T, r push.Route, store *pushstoretest.Memory) *push.Pusher {
	t.Helper()
	p := push.New(push.Options{
		Store: store, Notes: store, Route: r, Mask: masked, RingAfter: func() time.Duration { return 0 },
		Prompts: func() []sessions.Prompt {
			return []sessions.Prompt{{ID: "pr_1", Session: "pb_1", Dialog: sessions.Dialog{Title: "Go on?"}, OpenedAt: time.Now()}}
		},
		Name: func(sessions.ID) (string, bool) { return "deploy", true },
		May:  func(string, time.Time) bool { return true },
	})
	if err := p.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the Pusher ended with %v", err)
		}
	})
	return p
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// By real sockets and TLS, where loopback is allowed, a question comes.
func TestAQuestionComesOverTLS(t *testing.T) {
	s, r := loopback(t)
	r.Loopback = true
	d, _ := pushes(t, r, s)
	await(t, "the question", func() bool { return len(d.Messages()) == 1 })
	if got := shows(t, d); got != "deploy: Go on?" {
		t.Errorf("it shows %q", got)
	}
}

// A name that points to a public address while it's subscribed, and to this machine when something's sent, is refused then.
func TestANameThatPointsElsewhereLaterIsRefused(t *testing.T) {
	s, r := loopback(t)
	r.Lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
	}
	d, standing := pushes(t, r, s)
	await(t, "the failure", func() bool { return standing().Trouble == "the push service can't be reached" })
	if d.Asked() != 0 {
		t.Error("the service was asked all the same")
	}
}

// Another port than a push service's is refused when something's sent, too: it may be that of an endpoint that was taken before.
func TestAnotherPortIsRefusedLater(t *testing.T) {
	s, r := loopback(t)
	r.Loopback = true
	d, _ := pushes(t, r, s)
	await(t, "the question", func() bool { return len(d.Messages()) == 1 })

	r.AnyPort = false
	store := pushstoretest.New()
	if err := store.PutPushSubscription(t.Context(), push.Subscription{Browser: "br_1", Endpoint: d.Endpoint, Key: d.Key, Auth: d.Auth, Wishes: all()}); err != nil {
		t.Fatal(err)
	}
	p := begin(t, r, store)
	await(t, "the failure", func() bool { st, _ := p.Find("br_1"); return st.Trouble == "the push service can't be reached" })
	if d.Asked() != 1 {
		t.Error("the service was asked all the same")
	}
}

// A redirection isn't followed, wherever it leads.
func TestARedirectionIsNotFollowed(t *testing.T) {
	s, r := loopback(t)
	r.Loopback = true
	var l net.ListenConfig
	other, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, other, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	s.Break(pushtest.Answer{Status: http.StatusTemporaryRedirect, Location: "http://" + other.Addr().String() + "/"})
	d, standing := pushes(t, r, s)
	await(t, "the answer", func() bool { return standing().Trouble == "the push service answered 307" })
	if n := len(d.Messages()); n != 0 {
		t.Errorf("%d messages came", n)
	}
}

// What isn't a subscription is refused with words that say what would be right.
func TestABadSubscriptionIsRefused(t *testing.T) {
	store := pushstoretest.New()
	p := push.New(push.Options{
		Store: store, Notes: store, Mask: masked,
		Route: push.Route{Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}},
		May: func(browser string, _ time.Time) bool { return browser != "br_gone" },
	})
	if err := p.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := (&pushtest.Service{Origin: origin}).Subscribe(p.PublicKey())
	good := push.Subscription{Browser: "br_1", Endpoint: d.Endpoint, Key: d.Key, Auth: d.Auth, Wishes: all()}
	for _, c := range []struct {
		name   string
		change func(s *push.Subscription)
		want   string // "": it's taken
	}{
		{"wishes of one who isn't notified", func(s *push.Subscription) { s.Endpoint = "" }, "isn't notified yet"},
		{"no key", func(s *push.Subscription) { s.Key = "" }, "must be a point of P-256"},
		{"a key that's no point", func(s *push.Subscription) { s.Key = strings.Repeat("B", 87) }, "must be a point of P-256"},
		{"a key in another alphabet", func(s *push.Subscription) { s.Key += "==" }, "must be a point of P-256"},
		{"a short secret", func(s *push.Subscription) { s.Auth = s.Auth[:20] }, "must be 16 bytes"},
		{"half of quiet hours", func(s *push.Subscription) { s.Quiet.From = "22:00" }, "22:00 to 07:00"},
		{"quiet hours that are none", func(s *push.Subscription) { s.Quiet = push.QuietHours{From: "25:00", To: "07:00"} }, "22:00 to 07:00"},
		{"nowhere", func(s *push.Subscription) { s.Quiet = push.QuietHours{From: "22:00", To: "07:00", Zone: "Mars/North"} }, "Europe/Berlin"},
		{"what's no id", func(s *push.Subscription) { s.Muted = []sessions.ID{sessions.ID(strings.Repeat("x", 65))} }, "isn't a session's id"},
		{"too many", func(s *push.Subscription) { s.Muted = make([]sessions.ID, 501) }, "at most 500"},
		{"one who's gone", func(s *push.Subscription) { s.Browser = "br_gone" }, "isn't let in any more"},
		{"a good one", func(s *push.Subscription) {
			s.Quiet = push.QuietHours{From: "22:00", To: "07:00", Zone: "Europe/Berlin"}
		}, ""},
		{"its wishes", func(s *push.Subscription) { s.Endpoint = "" }, ""},
	} {
		s := good
		c.change(&s)
		switch err := p.Subscribe(t.Context(), time.Now(), s); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want one that says %q", c.name, err, c.want)
		}
	}
}
