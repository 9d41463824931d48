package redisbots

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/redistest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

func TestABotIsNamedByAHashOfItsToken(t *testing.T) {
	cfg := all.Form().Default()
	const token = "123456:AAbbCCddEEff"
	telegram.ConfigOf(cfg).Token = config.NewSecret(token)
	one, err := keyOf(cfg, "telegram")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(one, "123456") || strings.Contains(one, "AAbb") || !strings.HasPrefix(one, "telegram-") {
		t.Fatalf("the bot is called %s", one)
	}
	telegram.ConfigOf(cfg).Token = config.NewSecret(token + "g")
	if other, _ := keyOf(cfg, "telegram"); other == one {
		t.Fatal("another token gives the same name")
	}
	if got, _ := keyOf(cfg, "memory"); got != "memory" {
		t.Fatalf("a bot without token is called %s", got)
	}
}

func TestThePartOfTheHealthSaysWhatsWrong(t *testing.T) {
	here := redisbucket.BucketMember{ID: "me"}
	for _, c := range []struct {
		standing redisbucket.MemberStatus
		state    api.HealthState
		says     string
	}{
		{redisbucket.MemberStatus{State: "shared", Member: "me", MaxProcesses: 4, Members: []redisbucket.BucketMember{here}}, api.HealthOK, "1 of at most 4"},
		{redisbucket.MemberStatus{State: "shared", Member: "me", Members: []redisbucket.BucketMember{here, {ID: "lost", Vanished: true}}}, api.HealthDegraded, "lost vanished"},
		{redisbucket.MemberStatus{State: "learning"}, api.HealthDegraded, "safe share"},
		{redisbucket.MemberStatus{State: "silent"}, api.HealthDown, "silent"},
		{redisbucket.MemberStatus{State: "share", MaxProcesses: 4}, api.HealthDown, "1/4"},
		{redisbucket.MemberStatus{State: "refused", Err: &redisbucket.FullError{MaxProcesses: 1, Members: []redisbucket.BucketMember{here}}}, api.HealthDown, "redis.max_processes is 1"},
	} {
		if p := Part("telegram", c.standing); p.State != c.state || !strings.Contains(p.Detail, c.says) || p.Name != "redis:telegram" {
			t.Errorf("%s: %+v", c.standing.State, p)
		}
	}
}

// More processes than the bot gets calls a second can't each have one.
func TestDoctorWarnsOfTooManyProcesses(t *testing.T) {
	cfg := all.Form().Default()
	for adapter, calls := range map[string]int{"telegram": 30, "discord": 45} {
		cfg.Redis.MaxProcesses = calls
		if f := examineBot(cfg, SharedBot{Adapter: adapter}); f.Severity != findings.Fine {
			t.Errorf("%s: %+v", adapter, f)
		}
		cfg.Redis.MaxProcesses = calls + 1
		if f := examineBot(cfg, SharedBot{Adapter: adapter}); f.Severity != findings.Doubtful || !strings.Contains(f.Detail, "nothing would be sent") {
			t.Errorf("%s: %+v", adapter, f)
		}
	}
}

// What an operator sees of processes that share a bot, and forgetting one.
func TestMembersAndForgetting(t *testing.T) {
	t.Parallel()
	s, err := redistest.New(context.Background(), t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	cfg := all.Form().Default()
	cfg.Redis.Addrs = []string{s.Addr}
	telegram.ConfigOf(cfg).Enabled = true
	telegram.ConfigOf(cfg).Token = config.NewSecret("1:a")
	server, err := ServerOf(cfg.Redis)
	if err != nil {
		t.Fatal(err)
	}
	bot, _ := keyOf(cfg, "telegram")
	client := redisbucket.NewClient(server)
	defer client.Close()
	run := func(ctx context.Context) (*redisbucket.Budget, chan error) {
		b, err := redisbucket.New(redisbucket.Options{Client: client, Bot: bot, MaxProcesses: cfg.Redis.MaxProcesses})
		if err != nil {
			t.Fatal(err)
		}
		b.Configure(qostest.Limits())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx, func(qos.Penalty) {}, func(qos.ChatKey) {}) }()
		for range 500 {
			if s := b.Status(time.Now()).State; s == "learning" || s == "shared" {
				return b, ended
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("it isn't let in: %+v", b.Status(time.Now()))
		return nil, nil
	}
	ctx, stop := context.WithCancel(context.Background())
	b, ended := run(ctx)
	id := b.Status(time.Now()).Member
	time.Sleep(300 * time.Millisecond) // its first beat
	if err := Forget(context.Background(), cfg, id); err == nil || !strings.Contains(err.Error(), "running") {
		t.Fatalf("forgetting one that runs: %v", err)
	}
	for _, f := range Examine(context.Background(), cfg) {
		if f.Severity != findings.Fine {
			t.Errorf("a sound Redis: %+v", f)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	bots, err := Bots(context.Background(), cfg)
	if err != nil || len(bots) != 1 || len(bots[0].Members) != 1 || !bots[0].Members[0].Left {
		t.Fatalf("after it signed off: %+v, %v", bots, err)
	}
	if err := Forget(context.Background(), cfg, "nobody"); err == nil || !strings.Contains(err.Error(), id) {
		t.Fatalf("forgetting nobody: %v", err)
	}
}
