package app

import (
	"log/slog"
	"regexp"
	"strings"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/redact"
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
	d.opt.Log = slog.New(masked.NewHandler(d.opt.Log.Handler(), d.logMasker))
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
