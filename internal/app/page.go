package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/store"
)

const (
	// maxCertificate bounds a file with certificates or a key, in bytes.
	maxCertificate = 1 << 20
	// certificateEvery is how often it's looked whether the certificate has changed, if somebody
	// connects: the one of before may be over, or its key known to others.
	certificateEvery = time.Second
)

// reachOf is from where the page can be reached, by the configuration.
func reachOf(w config.Web, log *slog.Logger) (api.Reach, error) {
	r := api.Reach{PublicURL: w.PublicURL, AllowedHosts: w.AllowedHosts, BehindProxy: w.BehindProxy}
	for _, text := range w.TrustedProxies {
		prefix, err := config.ParseAddressRange(text)
		if err != nil {
			return r, fmt.Errorf("read adapters.web.trusted_proxies: %w", err)
		}
		r.TrustedProxies = append(r.TrustedProxies, prefix)
	}
	if w.TLSCertFile == "" {
		return r, nil
	}
	kept := &certificateFile{cert: w.TLSCertFile, key: w.TLSKeyFile, log: log}
	if _, err := kept.Get(time.Now()); err != nil {
		return r, err
	}
	r.TLS = &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return kept.Get(time.Now()) },
	}
	return r, nil
}

// pageDevices are the page's browsers, as chats know them.
type pageDevices struct{ d *daemon }

// devices are the page's browsers; nil: it's off.
func (d *daemon) devices() commands.Devices {
	if !d.config.Adapters.Web.Enabled {
		return nil
	}
	return pageDevices{d}
}

// ListDevices implements commands.Devices.
func (p pageDevices) ListDevices(now time.Time) []commands.Device {
	var all []commands.Device
	for _, b := range p.d.browsers.List(now) {
		all = append(all, deviceOf(b))
	}
	for _, w := range p.d.browsers.Waiting(now) {
		one := deviceOf(w.Browser)
		one.Number, one.From = w.Number, w.From
		all = append(all, one)
	}
	return all
}

func deviceOf(b browsers.Browser) commands.Device {
	return commands.Device{ID: b.ID, Name: cmp.Or(b.Name, b.Label), Label: b.Label, Roles: b.Roles.String(), Used: b.LastUsed}
}

// ConfirmDevice implements commands.Devices.
func (p pageDevices) ConfirmDevice(ctx context.Context, id, by string) (commands.Device, error) {
	b, err := p.d.browsers.Confirm(ctx, time.Now(), id)
	if err != nil {
		return commands.Device{}, err
	}
	p.d.opt.Log.Info("a device was let in", "device", b.ID, "name", b.Name, "roles", b.Roles.String(), "by", by)
	return deviceOf(b), nil
}

// RevokeDevice implements commands.Devices.
func (p pageDevices) RevokeDevice(ctx context.Context, id, by string) error {
	if err := p.d.browsers.Revoke(ctx, id); err != nil {
		return err
	}
	p.d.opt.Log.Info("a device was revoked", "device", id, "by", by)
	return nil
}

// pageAudit keeps what's done by the page in the log of what's done in chats.
type pageAudit struct{ store *store.Store }

// BeginCall implements api.Audit.
func (a pageAudit) BeginCall(ctx context.Context, c api.AuditedCall) error {
	_, err := a.store.BeginEntry(ctx, auditEntry(c))
	return err
}

// EndCall implements api.Audit.
func (a pageAudit) EndCall(ctx context.Context, c api.AuditedCall) error {
	return a.store.EndEntry(ctx, auditEntry(c), nil)
}

func auditEntry(c api.AuditedCall) inbound.AuditEntry {
	return inbound.AuditEntry{
		Key: c.Key, At: c.At, Place: adapters.Target{Adapter: "web"}, Person: c.Author, Name: c.Name, Kind: inbound.KindPage, What: c.Call,
		Session: c.Session, Outcome: c.Outcome,
	}
}

// CheckPage says what's wrong with the page's certificate: it can't be read, isn't of the key
// beside it, is over, or isn't for the name that the page has.
func CheckPage(cfg *config.Config, file string, env config.Env) error {
	w := cfg.Adapters.Web
	if !w.Enabled || w.TLSCertFile == "" {
		return nil
	}
	return locateProblems(certificateProblems(w, time.Now()), file, env)
}

func certificateProblems(w config.Web, now time.Time) (found []config.Problem) {
	wrong := func(key, message string) {
		found = append(found, config.Problem{Path: "adapters.web." + key, Message: message})
	}
	cert, err := readBounded(w.TLSCertFile)
	if err != nil {
		wrong("tls_cert_file", err.Error())
	}
	secret, err := readBounded(w.TLSKeyFile)
	if err != nil {
		wrong("tls_key_file", err.Error())
	}
	if len(found) > 0 {
		return found
	}
	pair, err := parseCertificate(cert, secret)
	if err != nil {
		wrong("tls_cert_file", err.Error())
		return found
	}
	if now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
		wrong("tls_cert_file", fmt.Sprintf("its certificate is good from %s to %s only: renew it", pair.Leaf.NotBefore.Format(time.DateOnly), pair.Leaf.NotAfter.Format(time.DateOnly)))
	}
	u, err := url.Parse(w.PublicURL)
	if err == nil && u.Hostname() != "" && !w.BehindProxy && pair.Leaf.VerifyHostname(u.Hostname()) != nil {
		wrong("tls_cert_file", fmt.Sprintf("its certificate is for %s, and public_url says %s: a browser would refuse it", cmp.Or(strings.Join(namesIn(pair), ", "), "no name at all (subjectAltName)"), u.Hostname()))
	}
	return found
}

func namesIn(pair *tls.Certificate) []string {
	names := append([]string{}, pair.Leaf.DNSNames...)
	for _, ip := range pair.Leaf.IPAddresses {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			names = append(names, addr.Unmap().String())
		}
	}
	return names
}

func parseCertificate(cert, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the page's certificate and its key: %w", err)
	}
	return &pair, nil
}

func readBounded(path string) ([]byte, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxCertificate))
}

// certificateFile is the page's certificate, as it is in its files.
type certificateFile struct {
	cert, key string // paths
	log       *slog.Logger

	mu         sync.Mutex // held while the files are read
	looked     time.Time
	text       []byte // of both, as they were read last
	pair       *tls.Certificate
	complained bool
}

// Get returns the certificate, and reads it anew if its files have changed. Where they can't be
// read any more, it's the one of before.
func (c *certificateFile) Get(now time.Time) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pair != nil && now.Sub(c.looked) < certificateEvery {
		return c.pair, nil
	}
	c.looked = now
	pair, text, err := c.read()
	switch {
	case err == nil && pair != nil:
		if c.pair != nil {
			c.log.Info("the page has another certificate", "good_until", pair.Leaf.NotAfter)
		}
		c.pair, c.text, c.complained = pair, text, false
	case err != nil && c.pair == nil:
		return nil, err
	case err != nil && !c.complained:
		c.complained = true
		c.log.Error("the page's certificate can't be read again; the one of before is shown", "err", err)
	}
	return c.pair, nil
}

// read reads the files; a nil pair means that nothing has changed.
func (c *certificateFile) read() (*tls.Certificate, []byte, error) {
	cert, err := readBounded(c.cert)
	if err != nil {
		return nil, nil, err
	}
	key, err := readBounded(c.key)
	if err != nil {
		return nil, nil, err
	}
	text := append(append(bytes.Clone(cert), 0), key...)
	if bytes.Equal(text, c.text) {
		return nil, nil, nil
	}
	pair, err := parseCertificate(cert, key)
	return pair, text, err
}
