package app

import (
	"context"
	"log/slog"
	"regexp"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// hidePage keeps secret what's a part of every address that lets a browser in.
func (d *daemon) hidePage(secret string) {
	d.masker.Add("panebridge's page", secret)
	d.logMasker.Add("panebridge's page", secret)
	d.secrets.Add("page's address", secret)
}

// hideCode keeps a pairing code out of whatever leaves the host by way of a session.
func (d *daemon) hideCode(code string) {
	d.masker.Add("pairing code", code)
	d.logMasker.Add("pairing code", code)
}

// newMasker makes what hides secrets in whatever leaves the host, and the daemon's own
// in its log.
func (d *daemon) newMasker() error {
	var err error
	if d.masker, err = redact.New(maskOptions(d.config.Redact)); err != nil {
		return err
	}
	if d.logMasker, err = redact.New(redact.Options{Off: true}); err != nil {
		return err
	}
	d.opt.Log = slog.New(maskedHandler{d.opt.Log.Handler(), d.logMasker})
	d.learnSecrets(d.config)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		proxy, _ := d.opt.Env(name)
		d.logMasker.Add("proxy password", passwordIn(proxy))
	}
	return nil
}

// passwordIn is the password in an address, which may be one that can't be read.
func passwordIn(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest, '@')
	_, password, _ := strings.Cut(rest[:max(at, 0)], ":")
	return password
}

// secretName tells variables that hold a secret from NODE_ENV=production.
var secretName = regexp.MustCompile(`(?i)key|token|secret|pass|cred|auth`)

// pairingRule finds a pairing code as it's printed, whatever the daemon knows of it: one that
// has been restarted doesn't know those it made before.
func pairingRule() redact.Rule {
	const letter = `[2-9A-HJKMNP-TV-Z]` // those of inbound's codes
	return redact.Rule{Name: "pairing code", Pattern: `/pair +(` + letter + `{8})(?:[^0-9A-Za-z]|$)`}
}

func maskOptions(cfg config.Redact) redact.Options {
	o := redact.Options{Off: !cfg.Enabled, Allow: cfg.Allow}
	for _, r := range cfg.Rules {
		o.Rules = append(o.Rules, redact.Rule{Name: r.Name, Pattern: r.Pattern})
	}
	if cfg.Enabled {
		o.Rules = append(o.Rules, pairingRule())
	}
	return o
}

// maskedScreens are the sessions as chats see them: screens have no secrets.
type maskedScreens struct {
	callers.Questions
	masker *redact.Masker
}

func (m maskedScreens) Screen(ctx context.Context, id sessions.ID) (sessions.Screen, error) {
	s, err := m.Questions.Screen(ctx, id)
	s.Rows = m.masker.Rows(nil, s.Rows)
	return s, err
}

func (m maskedScreens) PromptScreen(ctx context.Context, p sessions.Prompt) sessions.Screen {
	s := m.Manager.PromptScreen(ctx, p)
	s.Rows = m.masker.Rows(nil, s.Rows)
	return s
}

// maskedStore is the store as commands read it: lines have no secrets.
type maskedStore struct {
	*store.Store
	log adapters.Log
}

func (s maskedStore) Tail(ctx context.Context, id sessions.ID, n int) ([]sessions.Line, error) {
	lines, err := s.Store.Tail(ctx, id, n)
	if err != nil || len(lines) == 0 {
		return lines, err
	}
	out, err := s.log.Read(ctx, id, lines[0].N, len(lines))
	return out.Lines, err
}

// Search finds what can be seen: whoever looks for a part of a secret isn't told whether
// it's right.
func (s maskedStore) Search(ctx context.Context, id sessions.ID, text string, limit int) ([]sessions.Line, error) {
	lines, err := s.Store.Search(ctx, id, text, limit)
	if err != nil {
		return nil, err
	}
	var found []sessions.Line
	for _, l := range lines {
		out, err := s.log.Read(ctx, id, l.N, 1)
		if err != nil {
			return nil, err
		}
		if len(out.Lines) == 1 && out.Lines[0].N == l.N && strings.Contains(lower(out.Lines[0].Text), lower(text)) {
			found = append(found, out.Lines[0])
		}
	}
	return found, nil
}

// lower makes letters from A to Z small, and no others.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
