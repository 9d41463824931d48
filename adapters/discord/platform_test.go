package discord_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// Files that people attach can be fetched, also when their address has expired; the
// largest that's taken, and not one byte more.
func TestFetch(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		quiet()
		content := bytes.Repeat([]byte("0123456789"), 10_000)
		w.must(w.ada.Attach(w.plain, "look", discordtest.Upload{Name: "../a b.png", Content: content}))
		quiet()
		list := eventsOf[intake.Said](e)
		if len(list) != 1 || len(list[0].Action.(intake.Said).Files) != 1 {
			t.Fatalf("came %+v", list)
		}
		f := list[0].Action.(intake.Said).Files[0]
		if f.Size != int64(len(content)) || f.Kind != intake.FileDocument || !strings.Contains(f.Name, ".png") {
			t.Errorf("the file is %+v", f)
		}
		p := e.bot
		for _, late := range []time.Duration{0, 25 * time.Hour} {
			time.Sleep(late)
			var got bytes.Buffer
			if err := p.Fetch(context.Background(), f, int64(len(content)), &got); err != nil || !bytes.Equal(got.Bytes(), content) {
				t.Errorf("after %s: %d bytes, %v", late, got.Len(), err)
			}
		}
		for _, size := range []int64{f.Size, 0} {
			f.Size = size
			var got bytes.Buffer
			if err := p.Fetch(context.Background(), f, int64(len(content))-1, &got); !errors.Is(err, intake.ErrTooLarge) || got.Len() >= len(content) {
				t.Errorf("%d bytes, %v", got.Len(), err)
			}
		}
		for _, c := range w.Calls() {
			if strings.Contains(c.Path, "attachments") && c.Status == http.StatusUnauthorized {
				t.Errorf("the call %+v", c)
			}
		}
	})
}

// Nobody has us fetch from elsewhere than Discord, nor get the token, nor be led away.
func TestFetchFromNowhereElse(t *testing.T) {
	var asked []string
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.String())
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s was given the token", r.URL)
		}
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), Request: r, ContentLength: -1}
		if strings.Contains(r.URL.Path, "redirect") {
			resp.StatusCode = http.StatusFound
			resp.Header.Set("Location", "https://evil.example/x")
		}
		return resp, nil
	})
	a, err := discord.New(discord.Options{Token: "MTIzNDU2Nzg5MDEyMzQ1Njc4.abcdef.abcdefghijklmnopqrstuvwxyz", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(address string) error {
		asked = nil
		return a.Fetch(context.Background(), intake.Attachment{ID: "1 2 3 " + address}, 100, io.Discard)
	}
	for _, address := range []string{
		"https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&is=2&hm=3", "https://media.discordapp.net/attachments/1/2/a.png",
	} {
		if err := fetch(address); err != nil || len(asked) != 1 {
			t.Errorf("%s: %v, asked %v", address, err, asked)
		}
	}
	for _, address := range []string{
		"http://cdn.discordapp.com/x", "https://cdn.discordapp.com.evil.example/x", "https://evil.example/cdn.discordapp.com", "file:///etc/passwd",
		"https://cdn.discordapp.com:444/x", "https://cdn.discordapp.com@evil.example/x", "https://me:you@cdn.discordapp.com/x", "//cdn.discordapp.com/x", "",
		"https://169.254.169.254/latest", "http://127.0.0.1:7333/api/v1/health", "https://discord.com/api/v9/users/@me", "https://cdn.discordapp.com/" + strings.Repeat("x", 5000),
	} {
		if err := fetch(address); err == nil || len(asked) != 0 {
			t.Errorf("%q: %v, asked %v", address, err, asked)
		}
	}
	if err := fetch("https://cdn.discordapp.com/redirect"); err == nil || len(asked) != 1 {
		t.Errorf("a redirect: %v, asked %v", err, asked)
	}
	for _, id := range []string{"", "1 2 3", "a 2 3 https://cdn.discordapp.com/x", "https://cdn.discordapp.com/x"} {
		asked = nil
		if err := a.Fetch(context.Background(), intake.Attachment{ID: id}, 100, io.Discard); err == nil || len(asked) != 0 {
			t.Errorf("file %q: %v, asked %v", id, err, asked)
		}
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What may work later is said to.
func TestFetchThatMayWorkLater(t *testing.T) {
	for status, later := range map[int]bool{0: true, 503: true, 429: true, 400: false} {
		a, err := discord.New(discord.Options{
			Token: "MTIzNDU2Nzg5MDEyMzQ1Njc4.abcdef.abcdefghijklmnopqrstuvwxyz",
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if status == 0 {
					return nil, errors.New("no network")
				}
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		err = a.Fetch(context.Background(), intake.Attachment{ID: "1 2 3 https://cdn.discordapp.com/x"}, 100, io.Discard)
		if err == nil || errors.Is(err, sessions.ErrUnavailable) != later {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

// Discord learns the commands once, and again when they've changed; not sooner than it
// wants.
func TestSetCommands(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		kept := &notes{kept: map[string]string{}}
		ctx := context.Background()
		set := func(commands []intake.CommandInfo) error {
			return w.noting(kept).SetCommands(ctx, commands)
		}
		w.noErr(set(commands.Commands()))
		calls := len(w.Calls())
		w.noErr(set(commands.Commands()))
		if len(w.Calls()) != calls {
			t.Error("the same commands were set again")
		}
		list := w.Commands("")
		if len(list) != len(commands.Commands()) {
			t.Errorf("Discord has %d commands, of %d", len(list), len(commands.Commands()))
		}
		// Each is offered where the bot is, and nowhere else.
		if n := strings.Count(w.CallsTo("SetCommands")[0].Body, `"contexts":[0,1],"integration_types":[0]`); n != len(list) {
			t.Errorf("%d commands say where they're offered, of %d", n, len(list))
		}
		w.Inject(discordtest.Fault{Call: "SetCommands", Times: 1, RetryAfter: time.Hour, Scope: discordtest.ScopeUser})
		some := commands.Commands()[:3]
		if err := set(some); err == nil {
			t.Error("no error")
		}
		calls = len(w.Calls())
		time.Sleep(50 * time.Minute)
		if err := set(some); err == nil || len(w.Calls()) != calls {
			t.Errorf("%v, %d calls", err, len(w.Calls())-calls)
		}
		time.Sleep(11 * time.Minute)
		w.noErr(set(some))
		if len(w.Commands("")) != 3 {
			t.Errorf("Discord has %+v", w.Commands(""))
		}
		w.noRefusals()
	})
}

// Who's on a channel's server is in the group; an error isn't an answer.
func TestMember(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		quiet()
		p := e.bot
		at := adapters.Target{Adapter: "discord", Chat: w.plain}
		if in, err := p.Member(context.Background(), at, "discord:"+w.ada.ID); !in || err != nil {
			t.Errorf("she's in: %v, %v", in, err)
		}
		if in, err := p.Member(context.Background(), at, "discord:123456789012345678"); in || err != nil {
			t.Errorf("nobody is in: %v, %v", in, err)
		}
		for _, wrong := range []string{"discord:x", "discord:", "../1"} {
			if in, err := p.Member(context.Background(), at, wrong); in || err == nil {
				t.Errorf("%q: %v, %v", wrong, in, err)
			}
		}
		at.Chat = "123456789012345678"
		if in, err := p.Member(context.Background(), at, "discord:"+w.ada.ID); in || err == nil {
			t.Errorf("a channel that isn't there: %v, %v", in, err)
		}
	})
}
