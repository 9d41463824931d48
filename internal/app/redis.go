package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// sharedBudget is a budget that other processes share, with its connections.
type sharedBudget struct {
	*redisbucket.Budget
	adapter string
	client  io.Closer
}

// Run implements qos.Budget.
func (b *sharedBudget) Run(ctx context.Context, hear func(qos.Penalty), freed func(qos.Chat)) error {
	err := b.Budget.Run(ctx, hear, freed)
	return errors.Join(err, b.client.Close())
}

// budget makes the budget of one adapter: this process's own, or one that's shared
// through Redis.
func (d *daemon) budget(adapter string) (qos.Budget, error) {
	ledger := d.store.Ledger(adapter)
	if len(d.config.Redis.Addrs) == 0 {
		return qos.NewLocalBudget(ledger), nil
	}
	bot, err := botKey(d.config, adapter)
	if err != nil {
		return nil, err
	}
	server, err := redisServer(d.config.Redis)
	if err != nil {
		return nil, err
	}
	client := redisbucket.NewClient(server)
	b, err := redisbucket.New(redisbucket.Options{
		Client: client, Bot: bot, MaxProcesses: d.config.Redis.MaxProcesses, Timeout: server.Timeout, Ledger: ledger,
		StateFile: filepath.Join(d.opt.StateDir, "redis-"+adapter+".json"), Observer: d.metrics.ObserveRedis(adapter),
		Logger: d.opt.Log.With("component", "redis", "adapter", adapter),
	})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	s := &sharedBudget{Budget: b, adapter: adapter, client: client}
	d.shared = append(d.shared, s)
	return s, nil
}

// botKey names the bot of an adapter by a hash of its token, which doesn't betray it. A
// bot without a token goes by its adapter's name.
func botKey(cfg *config.Config, adapter string) (string, error) {
	text, err := botToken(cfg, adapter)
	if err != nil {
		return "", err
	}
	if text == "" {
		return adapter, nil
	}
	sum := sha256.Sum256([]byte("panebridge bot\x00" + adapter + "\x00" + text))
	return adapter + "-" + hex.EncodeToString(sum[:10]), nil
}

// redisServer translates `redis:`.
func redisServer(cfg config.Redis) (redisbucket.Server, error) {
	s := redisbucket.Server{
		Addrs: cfg.Addrs, MasterName: cfg.MasterName, Cluster: cfg.Cluster, Username: cfg.Username, Password: cfg.Password.Reveal(),
		SentinelUsername: cfg.SentinelUsername, DB: cfg.DB, Timeout: time.Duration(cfg.TimeoutMS) * time.Millisecond,
	}
	for _, f := range []struct {
		key, path string
		into      *string
	}{{"password_file", cfg.PasswordFile, &s.Password}, {"sentinel_password_file", cfg.SentinelPasswordFile, &s.SentinelPassword}} {
		if f.path == "" {
			continue
		}
		text, err := regular.Read(f.path, findings.MaxSecretFile)
		if err != nil {
			return s, fmt.Errorf("read redis.%s: %w", f.key, err)
		}
		*f.into = strings.TrimSpace(string(text))
	}
	var err error
	if cfg.TLS {
		s.TLS, err = redisTLS(cfg)
	}
	return s, err
}

// redisTLS reads the certificates that `redis:` names.
func redisTLS(cfg config.Redis) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.TLSCAFile != "" {
		text, err := regular.Read(cfg.TLSCAFile, findings.MaxSecretFile)
		if err != nil {
			return nil, fmt.Errorf("read redis.tls_ca_file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read redis.tls_ca_file: %s has no certificate in PEM", cfg.TLSCAFile)
		}
	}
	if cfg.TLSCertFile != "" {
		pair, err := keyPair(cfg.TLSCertFile, cfg.TLSKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read redis.tls_cert_file and tls_key_file: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// yields says why another process reads a bot's updates, of those that share it over Redis: the
// one whose member id is the least does, as long as it's there. "": this one does.
func (d *daemon) yields(adapter string) string { return yieldsTo(d.standings()[adapter]) }

// yieldsTo says whom a process leaves the reading to, and what that means; "": to nobody. Who
// doesn't know of the others reads, and finds out.
func yieldsTo(s redisbucket.Standing) string {
	if s.State != "shared" && s.State != "learning" {
		return ""
	}
	for _, m := range s.Members {
		if m.ID < s.Member && !m.Vanished {
			return fmt.Sprintf("process %s, with which this one shares the bot over Redis, reads what people write; this one (%s) shows its sessions, and gets none of it: give it a bot of its own from @BotFather", m.ID, s.Member)
		}
	}
	return ""
}

// standings are how the shared budgets stand, by their adapter.
func (d *daemon) standings() map[string]redisbucket.Standing {
	all := map[string]redisbucket.Standing{}
	for _, b := range d.shared {
		all[b.adapter] = b.Standing(time.Now())
	}
	return all
}

// redisParts are the parts of the health that tell how the shared budgets are.
func (d *daemon) redisParts() []api.Part {
	var out []api.Part
	for _, b := range d.shared {
		out = append(out, redisPart(b.adapter, b.Standing(time.Now())))
	}
	return out
}

func redisPart(adapter string, s redisbucket.Standing) api.Part {
	p := api.Part{Name: "redis:" + adapter, State: api.HealthOK, LastSuccess: s.Answered}
	var vanished []string
	for _, m := range s.Members {
		if m.Vanished && m.ID != s.Member {
			vanished = append(vanished, m.ID)
		}
	}
	here := len(s.Members) - len(vanished)
	switch s.State {
	case "shared":
		p.Detail = fmt.Sprintf("%d of at most %d processes share the bot; this one is %s", here, s.MaxProcesses, s.Member)
		if len(vanished) > 0 {
			p.State = api.HealthDegraded
			p.Detail += fmt.Sprintf("; %s vanished, and its share is held back: start it again, or `panebridge redis forget ID`", strings.Join(vanished, ", "))
		}
	case "joining":
		p.State, p.Detail = api.HealthDegraded, "asking to be let in"
	case "learning":
		p.State, p.Detail = api.HealthDegraded, "redis was empty: for one window calls are made within the safe share"
	case "silent":
		p.State, p.Detail = api.HealthDown, "no answer: silent until the last calls of all can't matter any more, then within the safe share"
	case "share":
		p.State, p.Detail = api.HealthDown, fmt.Sprintf("no answer: calls are made within the safe share, 1/%d of each limit", s.MaxProcesses)
	case "refused":
		p.State, p.Detail = api.HealthDown, "nothing is sent"
	}
	if s.Err != nil {
		p.Detail += " (" + s.Err.Error() + ")"
	}
	return p
}

// keyPair reads a certificate and its key.
func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := regular.Read(certFile, findings.MaxSecretFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := regular.Read(keyFile, findings.MaxSecretFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
