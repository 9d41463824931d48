package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
)

const (
	checkOutside = "page from outside"
	pageManual   = "docs/page.md shows how."
	// outsideTime is for one request by way of the public address.
	outsideTime = 10 * time.Second
	// outsideBytes bounds what's read of an answer.
	outsideBytes = 64 << 10
)

// examineOutside tries the page's public address as a device elsewhere would; none where there's none. It blocks
// for as long as two requests may take.
func examineOutside(ctx context.Context, dir string) []finding {
	c := client.New(statedir.SocketPath(dir))
	defer c.Close()
	asked, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	page, err := c.Page(asked)
	if err != nil || page.PublicURL == "" {
		return nil // that the page is off or away is another check's
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it's one
	transport.DisableKeepAlives = true
	o := outside{
		base: strings.TrimSuffix(page.PublicURL, "/"),
		client: &http.Client{
			Transport: transport, Timeout: outsideTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if f := o.tryStart(ctx, page.Start); f != nil {
		return []finding{*f}
	}
	// A machine that's busy may read two events at once that came apart, but hardly twice.
	f := o.tryStream(ctx)
	if f != nil {
		f = o.tryStream(ctx)
	}
	if f != nil {
		return []finding{*f}
	}
	return []finding{{Check: checkOutside, State: verdictOK, Detail: page.PublicURL + " is good: its certificate, its name, and events come as they're sent"}}
}

// outside is the way to the page by its public address.
type outside struct {
	base   string
	client *http.Client
}

// get asks for a path. The caller closes the answer's body.
func (o *outside) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return o.client.Do(r)
}

// tryStart looks whether this daemon answers there; nil: it does.
func (o *outside) tryStart(ctx context.Context, start string) *finding {
	resp, err := o.get(ctx, api.StartPath)
	if err != nil {
		return o.unreached(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, outsideBytes))
	if err != nil {
		return o.unreached(err)
	}
	var refusal struct {
		Error api.Error `json:"error"`
	}
	var now api.SigningStart
	switch {
	case resp.StatusCode == http.StatusOK && json.Unmarshal(text, &now) == nil && now.Start != "":
		if now.Start == start {
			return nil
		}
		return o.finding(verdictBroken, "another panebridge answers there", "Have the proxy hand on to this one's adapters.web.listen.")
	case json.Unmarshal(text, &refusal) == nil && refusal.Error.Message != "":
		return o.finding(verdictBroken, "panebridge refuses it: "+refusal.Error.Message, pageManual)
	case resp.StatusCode >= http.StatusInternalServerError:
		return o.finding(verdictBroken, fmt.Sprintf("the proxy answers %s: it doesn't reach the page", resp.Status), "Have it hand on to adapters.web.listen, by http unless tls_cert_file is set. "+pageManual)
	case resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest:
		return o.finding(verdictBroken, "it leads on to "+cmp.Or(resp.Header.Get("Location"), "nowhere"), "Set adapters.web.public_url to where the page itself is, without a login of another program before it.")
	}
	return o.finding(verdictBroken, fmt.Sprintf("another program answers there (%s)", resp.Status), "Have the proxy hand on all paths to adapters.web.listen. "+pageManual)
}

// tryStream looks whether events come as they're sent; nil: they do.
func (o *outside) tryStream(ctx context.Context) *finding {
	const fix = "Turn its buffering and compression of answers off (nginx: proxy_buffering off; gzip off)."
	resp, err := o.get(ctx, api.StreamTestPath)
	if err != nil {
		return o.unreached(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return o.finding(verdictWarning, "whether events come as they're sent can't be told: "+resp.Status, "Try again.")
	}
	piece := make([]byte, 64)
	n, err := resp.Body.Read(piece)
	first := time.Now()
	rest, errRest := io.ReadAll(io.LimitReader(resp.Body, outsideBytes))
	if err = cmp.Or(err, errRest); err != nil && !errors.Is(err, io.EOF) {
		return o.finding(verdictBroken, fmt.Sprintf("an event stream breaks off (%v)", err), "Have the proxy keep connections for as long as they're open. "+pageManual)
	}
	if between := time.Since(first); between < api.StreamTestPause/2 || bytes.Count(append(piece[:n:n], rest...), []byte(":")) < 2 {
		return o.finding(verdictBroken, "a proxy gathers events before it hands them on: the page lags behind, or shows nothing", fix)
	}
	return nil
}

// unreached says why a request got no answer.
func (o *outside) unreached(err error) *finding {
	var (
		name    *net.DNSError
		invalid x509.CertificateInvalidError
		other   x509.HostnameError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		request *url.Error
	)
	if errors.As(err, &request) {
		err = request.Err
	}
	switch {
	case errors.As(err, &name):
		return o.finding(verdictBroken, fmt.Sprintf("the name %s isn't known (%v)", name.Name, name), "Give it to the machine of the proxy in your DNS, or correct adapters.web.public_url.")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return o.finding(verdictBroken, fmt.Sprintf("its certificate is good from %s to %s only", invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly)), "Renew it.")
	case errors.As(err, &other):
		return o.finding(verdictBroken, "its certificate is for another name: "+err.Error(), "Get one for the name in adapters.web.public_url.")
	case errors.As(err, &unknown):
		return o.finding(verdictWarning, "its certificate is by nobody whom this machine trusts", "Have each device trust who issued it, or get one that all trust, such as Let's Encrypt's.")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return o.finding(verdictBroken, "what answers there doesn't speak TLS", "Give the proxy a certificate. "+pageManual)
	case errors.Is(err, context.DeadlineExceeded):
		return o.finding(verdictWarning, "nobody answers within ten seconds", "It may be that only this machine doesn't reach it: try it on a device. Else look whether the proxy runs, and at firewalls.")
	}
	return o.finding(verdictBroken, fmt.Sprintf("nobody answers there (%v)", err), "Start the proxy, or correct adapters.web.public_url. "+pageManual)
}

func (o *outside) finding(state checkOutcome, detail, fix string) *finding {
	return &finding{Check: checkOutside, State: state, Detail: o.base + ": " + detail, Fix: fix}
}
