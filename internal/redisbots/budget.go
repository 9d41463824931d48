// Package redisbots has what a daemon, doctor and an operator do with bots that several processes
// share over Redis, as the configuration says. The budget itself is qos/redisbucket.
package redisbots

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// Budget is a budget that other processes share, with its connections.
type Budget struct {
	*redisbucket.Budget
	Adapter string
	client  io.Closer
}

// Run implements qos.Budget.
func (b *Budget) Run(ctx context.Context, hear func(qos.Penalty), freed func(qos.ChatKey)) error {
	err := b.Budget.Run(ctx, hear, freed)
	return errors.Join(err, b.client.Close())
}

// keyOf names the bot of an adapter by a hash of its token, which doesn't betray it. A
// bot without a token goes by its adapter's name.
func keyOf(cfg *config.Config, adapter string) (string, error) {
	text, err := all.TokenOf(cfg, adapter)
	if err != nil {
		return "", err
	}
	if text == "" {
		return adapter, nil
	}
	sum := sha256.Sum256([]byte("panebridge bot\x00" + adapter + "\x00" + text))
	return adapter + "-" + hex.EncodeToString(sum[:10]), nil
}

// ServerOf is the server that the configuration names, with what stands in its files.
func ServerOf(cfg config.Redis) (redisbucket.RedisServer, error) {
	s := redisbucket.RedisServer{
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
		s.TLS, err = tlsOf(cfg)
	}
	return s, err
}

// tlsOf reads the certificates that `redis:` names.
func tlsOf(cfg config.Redis) (*tls.Config, error) {
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

// YieldsTo says whom a process leaves the reading to, and what that means; "": to nobody. Who
// doesn't know of the others reads, and finds out.
func YieldsTo(s redisbucket.MemberStatus) string {
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

// Part is how a shared budget stands, as a part of the health.
func Part(adapter string, s redisbucket.MemberStatus) api.HealthPart {
	p := api.HealthPart{Name: "redis:" + adapter, State: api.HealthOK, LastSuccess: s.Answered}
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

// Open connects to the Redis of the configuration for the budget of an adapter. What it writes down and whom it
// tells stand in o; the bot, the client and the limits of the configuration are filled in.
func Open(cfg *config.Config, adapter string, o redisbucket.Options) (*Budget, error) {
	bot, err := keyOf(cfg, adapter)
	if err != nil {
		return nil, err
	}
	server, err := ServerOf(cfg.Redis)
	if err != nil {
		return nil, err
	}
	client := redisbucket.NewClient(server)
	o.Client, o.Bot, o.MaxProcesses, o.Timeout = client, bot, cfg.Redis.MaxProcesses, server.Timeout
	b, err := redisbucket.New(o)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &Budget{Budget: b, Adapter: adapter, client: client}, nil
}

// Others names the processes with which one shares a bot over Redis, to begin a sentence with;
// "": there's none. One that vanished counts: its sessions may be there.
func Others(s redisbucket.MemberStatus) string {
	var ids []string
	for _, m := range s.Members {
		if m.ID != s.Member && !m.Left {
			ids = append(ids, m.ID)
		}
	}
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return "Process " + ids[0]
	default:
		return "Each of the processes " + strings.Join(ids, ", ")
	}
}
