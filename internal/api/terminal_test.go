package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/ttywatch"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/viewing"
)

// setupTerminals returns a bench whose screens are shown as they change.
func setupTerminals(t *testing.T, change ...func(*api.Options)) *bench {
	t.Helper()
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return setup(t, append(change, func(o *api.Options) {
		o.Masker = masker
		o.Terminals = viewing.NewGallery(viewing.Options{
			Screen:      o.Sessions.Screen,
			WatchWrites: func(string) (polling.WriteWatch, error) { return nil, ttywatch.ErrUnsupported },
		})
	})...)
}

// frames are the events of a session's terminal, as they come.
func (b *bench) frames(t *testing.T, id sessions.ID) (<-chan client.Event, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	events := make(chan client.Event, 100)
	go func() {
		defer close(events)
		if err := b.client.Terminal(ctx, string(id), func(e client.Event) error { events <- e; return nil }); err != nil && ctx.Err() == nil && !errors.Is(err, client.ErrStreamEnded) {
			t.Error(err)
		}
	}()
	return events, cancel
}

func nextFrame(t *testing.T, events <-chan client.Event) (f api.FrameEvent) {
	t.Helper()
	select {
	case e := <-events:
		if err := json.Unmarshal(e.Data, &f); err != nil || e.Name != api.EventFrame {
			t.Fatalf("%s event %s: %v", e.Name, e.Data, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no frame comes")
	}
	return f
}

// Frames say what changed, without secrets, and that a screen can't be seen, for a while or any more.
func TestTerminalShowsWhatChanges(t *testing.T) {
	b := setupTerminals(t)
	id := b.daemon.Add("one", "")
	screen := sessions.Screen{Width: 40, Height: 3, Rows: []string{"\x1b[31mred\x1b[0m & plain", "token=" + secret, "$ "}}
	b.daemon.SetScreen(id, screen)
	events, _ := b.frames(t, id)
	first := nextFrame(t, events)
	if len(first.Rows) != 3 || first.Height != 3 || first.Rows[0] != `<span class="f1">red</span> &amp; plain` || strings.Contains(first.Rows[1], secret) || !strings.Contains(first.Rows[1], "masked") {
		t.Errorf("the first frame is %+v", first)
	}
	screen.Rows = append([]string{}, screen.Rows...)
	screen.Rows[2] = "$ ls"
	b.daemon.SetScreen(id, screen)
	if f := nextFrame(t, events); len(f.Rows) != 1 || f.Rows[2] != "$ ls" || f.N <= first.N {
		t.Errorf("the next frame is %+v", f)
	}
	screen.Height, screen.Rows = 4, append(screen.Rows, "below")
	b.daemon.SetScreen(id, screen)
	if f := nextFrame(t, events); len(f.Rows) != 4 || f.Height != 4 {
		t.Errorf("after a change of size the frame is %+v", f)
	}
	b.daemon.Fail(sessions.ErrUnavailable)
	if e := <-events; e.Name != api.EventUnframe || strings.Contains(string(e.Data), `"ended"`) {
		t.Errorf("while tmux hangs: %s %s", e.Name, e.Data)
	}
	b.daemon.Fail(nil)
	if f := nextFrame(t, events); len(f.Rows) != 4 {
		t.Errorf("after that the frame is %+v", f)
	}
	b.daemon.Fail(sessions.ErrEnded)
	if e := <-events; e.Name != api.EventUnframe || !strings.Contains(string(e.Data), `"ended":true`) {
		t.Errorf("of a session that has ended: %s %s", e.Name, e.Data)
	}
	if e, goesOn := <-events; goesOn {
		t.Errorf("behind the end comes %s %s", e.Name, e.Data)
	}
}

// Secrets are shown to an admin's device that asks for them, and to no other.
func TestOnlyAnAdminSeesSecretsOnTheTerminal(t *testing.T) {
	b := setupTerminals(t, reaching(proxied))
	id := b.daemon.Add("one", "")
	for name, want := range map[string]int{"Viewer": http.StatusForbidden, "Operator": http.StatusForbidden} {
		who := b.device(t, publicHost, name, access.Viewer, access.Role(strings.ToLower(name)))
		if got, text := b.send(t, http.MethodGet, "/api/v1/sessions/"+string(id)+"/terminal?secrets=show", "", at(who, publicHost, "100.64.0.7")); got.status != want {
			t.Errorf("%s: %d %s", name, got.status, text)
		}
	}
}

// Keys that are pressed at a frame are meant for what stood there when it was last looked at: a person who presses them hasn't
// seen what came later.
func TestKeysCarryTheirFrame(t *testing.T) {
	b := setupTerminals(t)
	id := b.daemon.Add("one", "")
	b.daemon.SetScreen(id, sessions.Screen{Width: 9, Height: 1, Rows: []string{"before"}})
	events, stop := b.frames(t, id)
	before := nextFrame(t, events)
	began := time.Now()
	b.daemon.SetScreen(id, sessions.Screen{Width: 9, Height: 1, Rows: []string{"after"}})
	after := nextFrame(t, events)
	time.Sleep(200 * time.Millisecond)
	for i, n := range []int64{before.N, after.N} {
		if err := b.client.KeysAt(t.Context(), string(id), n, "y"); err != nil {
			t.Fatal(err)
		}
		switch seen := b.daemon.Presses()[i].Seen; {
		case n == before.N && seen.After(began), n == after.N && (seen.Before(began.Add(100*time.Millisecond)) || seen.After(time.Now())):
			t.Errorf("keys at frame %d of %d are taken as pressed at what was seen %v after the change", n, after.N, seen.Sub(began))
		}
	}
	var refused *api.Error
	if err := b.client.KeysAt(t.Context(), string(id), after.N+1000, "y"); !errors.As(err, &refused) || refused.Status != http.StatusConflict || !strings.Contains(refused.Message, "press again") {
		t.Errorf("at a frame that never was: %v", err)
	}
	stop()
	for range events {
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := b.client.KeysAt(t.Context(), string(id), after.N, "y")
		if errors.As(err, &refused) && refused.Status == http.StatusConflict {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("when nobody looks any more: %v", err)
		}
	}
}
