package discord_test

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// The one who may do everything, the server, its channel that's known with a thread in
// it, and the bot. No stranger has these numbers by chance.
const (
	boss        = "1309876543210987654"
	house       = "1309876543210000001"
	knownChat   = "1309876543210000002"
	knownThread = "1309876543210000003"
	botID       = "1309876543210000004"
)

// desk answers calls of the API, too, and counts them.
type desk struct {
	*platformtest.SessionDesk
	mu    sync.Mutex
	calls map[string]int
}

func (d *desk) Agents() []string { return []string{"claude"} }

func (d *desk) SearchAgents() sessions.AgentSearch { return sessions.AgentSearch{} }

func (d *desk) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body, what := http.StatusOK, "{}", r.URL.Host
	if path, ok := strings.CutPrefix(r.URL.Path, "/api/v9/"); ok {
		parts := strings.Split(path, "/")
		what = parts[0]
		switch {
		case path == "gateway/bot":
			body = `{"url":"ws://discord.test/gateway"}`
		case strings.HasSuffix(path, "/messages"):
			body = "[]"
		case parts[0] == "channels":
			status, body = http.StatusNotFound, `{"message":"Unknown Channel","code":10003}`
		}
	} else if what == "cdn.discordapp.com" {
		d.Fetched.Add(1)
		body = "content"
	}
	d.mu.Lock()
	d.calls[what]++
	d.mu.Unlock()
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r, ContentLength: int64(len(body)),
	}, nil
}

// Nobody who isn't let in has anything typed, fetched, answered or written, whatever they
// send; nothing panics, and memory doesn't grow with them. Those who are let in are served
// all the while, in order and once, over broken connections too.
func TestHostileEvents(t *testing.T) {
	s := platformtest.NewSiege(t, knownChat)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(begins))
		hostile(t, s)
	})
}

func hostile(t *testing.T, s *platformtest.Siege) {
	t.Helper()
	d := &desk{SessionDesk: s.Desk, calls: map[string]int{}}
	server := &wild{frames: map[int64][]byte{}}
	network, stopServing := memnet.Start(server)
	defer func() {
		if err := stopServing(); err != nil {
			t.Error(err)
		}
	}()
	var g *discord.Gateway
	s.Begin(t, func(db *store.Store) platformtest.SiegeTarget {
		a, err := discord.New(discord.Options{
			Token: "MTIzNDU2Nzg5MDEyMzQ1Njc4.abcdef.abcdefghijklmnopqrstuvwxyz", APIURL: "http://discord.test/api", Transport: d, Guild: house,
			Dial: network.Dial, Notes: db.Notes("discord"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return platformtest.SiegeTarget{
			Side: platformtest.Side{
				Name: "discord", Platform: a, Decode: decoder.Decode,
				Reader: func(q *intake.Queue, in *inbound.Inbound) platformtest.UpdateReader {
					g = a.Gateway(filled(discord.GatewayOptions{Keeper: q, Host: platform.Host{Knows: in.KnowsChat, Admits: in.Admits, Complete: in.Complete}}))
					return g
				},
			},
			Sessions: d, Hub: d, Boss: "discord:" + boss, Chat: target(knownChat, ""), Logger: slog.New(slog.DiscardHandler),
		}
	})
	time.Sleep(time.Minute)
	x := &attacker{platformtest.NewAttacker()}
	s.Rage(func() {
		for range 100 {
			kind, data := x.event()
			server.mu.Lock()
			server.say(kind, data)
			server.mu.Unlock()
		}
		if x.IntN(5) == 0 {
			server.raw([]byte(x.Pick(`{"op":0,"d":`, "\xff\xfe", `[]`, `{"op":"x"}`, `{"op":9,"d":true}`, `{"op":7}`, `{"op":1}`, `{"op":11}`).(string)))
		}
	})
	if h := g.Health(); h.Condition != intake.Well {
		t.Errorf("health is %+v", h)
	}
	if n := s.Queue.Stats().SetAside; n != 0 {
		t.Errorf("%d events were set aside", n)
	}
	s.End(t, &x.Attacker)
	t.Logf("calls %v", d.calls)
	for what := range d.calls {
		if !slices.Contains([]string{"gateway", "channels", "interactions", "webhooks", "cdn.discordapp.com"}, what) {
			t.Errorf("%s was called", what)
		}
	}
}
