package redisbots

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/redistest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// permissions are what docs/redis.md says the user needs, and nothing else.
const permissions = "resetkeys ~panebridge:* resetchannels &panebridge:* -@all +@connection +eval +evalsha +info +time +publish +subscribe +unsubscribe" +
	" +@string +@hash +@sortedset +del +exists +pexpire +pttl"

// A server as it should be run: TLS alone, which asks for a client's certificate, and a
// user that may do what it needs. The whole of a budget works on it: it's let in, it's
// granted a call, it tells of a penalty; and doctor finds nothing.
func TestTLSAndAUser(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	certificates, err := redistest.NewCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	acl := write("acl", "user default off\nuser bridge on >right "+permissions+"\n")
	s, err := redistest.New(ctx, filepath.Join(dir, "server"), true, "--aclfile", acl)
	if err != nil {
		t.Fatal(err)
	}
	s.Certificates, s.Username, s.Password = certificates, "bridge", "right"
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	sound := func() *config.Config {
		cfg := all.Form().Default()
		telegram.ConfigOf(cfg).Enabled, telegram.ConfigOf(cfg).Token = true, config.NewSecret("1:a")
		r := &cfg.Redis
		r.Addrs, r.Username, r.PasswordFile = []string{s.Addr}, "bridge", write("password", "right\n")
		r.TLS, r.TLSCAFile, r.TLSCertFile, r.TLSKeyFile = true, certificates.CA, certificates.Client.Cert, certificates.Client.Key
		r.TimeoutMS = 2000 // a handshake on a busy machine
		return cfg
	}

	cfg := sound()
	work(t, cfg)
	for _, f := range Examine(ctx, cfg) {
		if f.Severity != findings.Fine {
			t.Errorf("doctor finds %+v", f)
		}
	}
	for name, spoil := range map[string]func(*config.Redis){
		"no TLS":                  func(r *config.Redis) { r.TLS = false },
		"an authority not known":  func(r *config.Redis) { r.TLSCAFile = "" },
		"no client's certificate": func(r *config.Redis) { r.TLSCertFile, r.TLSKeyFile = "", "" },
		"a wrong password":        func(r *config.Redis) { r.PasswordFile, r.Password = "", config.NewSecret("mistaken") },
		"another user":            func(r *config.Redis) { r.Username = "default" },
	} {
		cfg := sound()
		spoil(&cfg.Redis)
		found := Examine(ctx, cfg)
		if len(found) == 0 || found[0].Severity != findings.Broken || found[0].Fix == "" {
			t.Errorf("%s: doctor finds %+v", name, found)
		}
		for _, f := range found {
			if strings.Contains(f.Detail+f.Fix, "mistaken") {
				t.Errorf("%s: the password is told: %s", name, f.Detail)
			}
		}
	}
}

// work has a budget of this configuration do all that it does with Redis.
func work(t *testing.T, cfg *config.Config) {
	t.Helper()
	server, err := ServerOf(cfg.Redis)
	if err != nil {
		t.Fatal(err)
	}
	client := redisbucket.NewClient(server)
	defer client.Close()
	bot, _ := keyOf(cfg, "telegram")
	b, err := redisbucket.New(redisbucket.Options{Client: client, Bot: bot, MaxProcesses: 4, Timeout: server.Timeout})
	if err != nil {
		t.Fatal(err)
	}
	b.Configure(qostest.Limits())
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, func(qos.Penalty) {}, func(qos.ChatKey) {}) }()
	got := make(chan qos.SlotAnswer, 1)
	for range 200 {
		now := time.Now()
		a := b.AskSlot(now, qos.SlotQuestion{Chat: "-1", Class: qos.Final, Deadline: now.Add(20 * time.Second)}, func(a qos.SlotAnswer) { got <- a })
		if a.State == qos.Pending {
			a = <-got
		}
		if a.State == qos.Granted {
			b.Settle(time.Now(), a.Permit, time.Now())
			b.Penalize(time.Now(), qos.Penalty{Scope: qos.Scope{Chat: "-2", AllFamilies: true}, Until: now.Add(time.Hour), Multiplier: 0.7})
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for range 500 {
		if n, err := client.HLen(ctx, "panebridge:{"+bot+"}:penalties").Result(); err == nil && n == 1 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n, err := client.HLen(ctx, "panebridge:{"+bot+"}:penalties").Result(); err != nil || n != 1 {
		t.Fatalf("redis doesn't know of the penalty: %d, %v; the budget stands %+v", n, err, b.Status(time.Now()))
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
