package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redistest"
)

// Two daemons with one bot's token mirror a session each to the same group, and share its
// limit through Redis, which is killed and comes back. Telegram never has to refuse a
// call, and both are served before and after; with full counts also while Redis is away.
func TestTwoDaemonsShareAGroup(t *testing.T) {
	slow(t)
	server, err := redistest.New(context.Background(), t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	random := newKillRig(t).trap // for latencies alone
	p := &sharedGroup{Server: telegramtest.New(telegramtest.Options{
		Latency: func(method string, _ int64) (time.Duration, time.Duration) { return random.latency(method) },
	})}
	person := p.AddUser(telegramtest.User{FirstName: "P"})
	p.group = p.AddChat(telegramtest.ChatSpec{Title: "Agents"}, person)
	var daemons []*killRig
	for _, name := range []string{"one", "two"} {
		k := newKillRig(t)
		k.share(p, server.Addr, name)
		daemons = append(daemons, k)
	}
	p.awaitServed(t, "with redis", daemons, 3)
	if drawtest.Stressed() {
		for _, k := range daemons {
			k.await("one budget", func() bool { return k.redisState() == api.HealthOK })
		}
		p.awaitServed(t, "sharing all there is", daemons, 8)
		server.Kill()
		for _, k := range daemons {
			k.await("word that redis is away", func() bool { return k.redisState() == api.HealthDown })
		}
		from := time.Now()
		p.awaitServed(t, "within the safe share", daemons, 3)
		t.Logf("without redis both were served 3 times after %v", time.Since(from).Round(time.Second))
	} else {
		server.Kill()
		time.Sleep(2 * time.Second)
	}
	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, k := range daemons {
		k.await("redis to be back", func() bool { s := k.redisState(); return s == api.HealthOK || s == api.HealthDegraded })
	}
	p.awaitServed(t, "with redis again", daemons, 3)
	p.check(t)
}

// sharedGroup is a stand-in for Telegram with one group.
type sharedGroup struct {
	*telegramtest.Server
	group int64
}

// share starts a daemon that mirrors a session of its own to the group. It has Telegram
// call it, since only one process at a time can ask Telegram.
func (k *killRig) share(p *sharedGroup, redis, name string) {
	k.Helper()
	text := fmt.Sprintf(`tmux: {servers: [{socket_path: %q}]}
polling: {output_cadence_s: 0.2, focus_cadence_s: 0.2}
redis: {addrs: [%q], max_processes: 2}
adapters:
  web: {enabled: false}
  telegram:
    enabled: true
    token: %q
    api_url: %s
    webhook: {url: "https://bridge.example.org/telegram", listen: "127.0.0.1:0"}
    chats: [{id: %d}]
mirrors: [{session: %q, to: "telegram:%d", view: stream}]
`, k.socket, redis, p.Token(), onAPort(k.T, p), p.group, name, p.group)
	if err := os.WriteFile(filepath.Join(k.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		k.Fatal(err)
	}
	k.run()
	k.await("tmux", func() bool {
		h, err := k.api.Health(k.ctx())
		return err == nil && !slices.ContainsFunc(h.Parts, func(p api.HealthPart) bool {
			return strings.HasPrefix(p.Name, "tmux") && p.State != api.HealthOK
		})
	})
	k.speak(speaker{name: name, lines: 1, rest: 200 * time.Millisecond})
}

// redisState is what health says of the shared budget.
func (k *killRig) redisState() api.HealthState {
	h, err := k.api.Health(k.ctx())
	if err != nil {
		return ""
	}
	for _, p := range h.Parts {
		if strings.HasPrefix(p.Name, "redis:") {
			return p.State
		}
	}
	return ""
}

// served counts the calls that showed text of a session.
func (p *sharedGroup) served(k *killRig) (n int) {
	for _, c := range p.CallsTo(p.group) {
		for name := range k.ids {
			if c.Code == 200 && strings.Contains(c.Params["text"], name+" line ") {
				n++
			}
		}
	}
	return n
}

// awaitServed waits until each daemon has been served so often again.
func (p *sharedGroup) awaitServed(t *testing.T, when string, daemons []*killRig, times int) {
	t.Helper()
	began := time.Now()
	before := map[*killRig]int{}
	for _, k := range daemons {
		before[k] = p.served(k)
	}
	for _, k := range daemons {
		k.await("calls "+when, func() bool {
			time.Sleep(100 * time.Millisecond)
			return p.served(k) >= before[k]+times
		})
	}
	t.Logf("%s: both served %d times within %v", when, times, time.Since(began).Round(time.Second))
}

// check fails the test if a window held too many calls or Telegram refused one.
func (p *sharedGroup) check(t *testing.T) {
	t.Helper()
	limit := telegramtest.TelegramLimits().Group[0]
	calls := p.CallsTo(p.group)
	slices.SortFunc(calls, func(a, b telegramtest.Call) int { return a.At.Compare(b.At) })
	most, first := 0, 0
	for i, c := range calls {
		for c.At.Sub(calls[first].At) >= limit.Per {
			first++
		}
		most = max(most, i-first+1)
	}
	t.Logf("%d calls to group %s, at most %d in %v", len(calls), strconv.FormatInt(p.group, 10), most, limit.Per)
	if most > limit.Calls {
		t.Errorf("%d calls in %v, allowed are %d", most, limit.Per, limit.Calls)
	}
	for _, c := range p.Refusals() {
		if !strings.Contains(c.Description, "message is not modified") {
			t.Errorf("Telegram refused %s: %s", c.Method, c.Description)
		}
	}
}
