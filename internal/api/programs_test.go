package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// programs tells of one program, and records for as long as it's let.
type programs struct{ refuse error }

func (p programs) Insight(id sessions.ID) agent.Insight {
	return agent.Insight{Session: id, Program: "claude", Text: sessions.TextTranscript}
}

func (p programs) Record(ctx context.Context, id sessions.ID, private bool, tell func(format.Item) error) error {
	if p.refuse != nil {
		return p.refuse
	}
	if err := tell(format.Item{Head: &format.Head{Agent: string(id), Private: private}}); err != nil {
		return err
	}
	<-ctx.Done()
	return tell(format.Item{T: 1.5, End: &format.End{Why: "its time was over", Frames: 15}})
}

func TestProgramsAndRecordings(t *testing.T) {
	b := setup(t, func(o *api.Options) { o.Programs = programs{} })
	id := b.daemon.Add("work", "")
	b.daemon.SetState(b.daemon.Add("old", ""), sessions.StateEnded, "it was closed")
	list, err := b.client.Programs(t.Context())
	if err != nil || len(list) != 1 || list[0].Session != id || list[0].Program != "claude" {
		t.Errorf("%+v, %v", list, err)
	}
	var got []format.Item
	err = b.client.Record(t.Context(), "work", 50*time.Millisecond, true, func(it format.Item) error {
		got = append(got, it)
		return nil
	})
	if err != nil || len(got) != 2 || got[0].Head.Agent != string(id) || !got[0].Head.Private || got[1].End.Frames != 15 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, length := range []time.Duration{0, -time.Second, api.MaxRecording + 1} {
		err := b.client.Record(t.Context(), "work", length, false, func(format.Item) error { return nil })
		if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Status != http.StatusBadRequest {
			t.Errorf("for %s: %v", length, err)
		}
	}
	answer, body := b.send(t, http.MethodGet, "/api/v1/sessions/work/recording?for=1s", "", b.sign)
	if answer.status != http.StatusForbidden || !strings.Contains(body, "for the command line only") {
		t.Errorf("through the port: %d %s", answer.status, body)
	}
}

// What's refused before anything was recorded is an error like that of other calls.
func TestRecordingIsRefused(t *testing.T) {
	b := setup(t, func(o *api.Options) { o.Programs = programs{fmt.Errorf("work: %w", sessions.ErrEnded)} })
	b.daemon.Add("work", "")
	err := b.client.Record(t.Context(), "work", time.Minute, false, func(format.Item) error { return nil })
	if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Status != http.StatusGone {
		t.Errorf("%v", err)
	}
}

// A daemon that's stopped in the middle ends the recording as its time would.
func TestRecordingBreaksOff(t *testing.T) {
	b := setup(t, func(o *api.Options) { o.Programs = programs{} })
	b.daemon.Add("work", "")
	items := 0
	err := b.client.Record(t.Context(), "work", time.Minute, false, func(it format.Item) error {
		if items++; it.Head != nil {
			go b.stop()
		}
		return nil
	})
	if items != 2 || err != nil {
		t.Errorf("%d items, %v", items, err)
	}
}

// Since is when a session came to its state; what it was before isn't known.
func TestBrokerKnowsSinceWhen(t *testing.T) {
	b, feed := api.NewBroker(), new(sessions.Feed)
	b.Follow(feed)
	old, fresh := sessions.NewID(), sessions.NewID()
	feed.PublishOutput(sessions.OutputEvent{Session: old, State: sessions.StateIdle})
	feed.PublishSession(sessions.Session{ID: old, State: sessions.StateIdle})
	if at := b.Since(old); !at.IsZero() {
		t.Errorf("it's idle since %v, but who knows", at)
	}
	before := time.Now()
	feed.PublishOutput(sessions.OutputEvent{Session: old, State: sessions.StateWorking})
	at := b.Since(old)
	if at.Before(before) {
		t.Errorf("it works since %v, want after %v", at, before)
	}
	feed.PublishOutput(sessions.OutputEvent{Session: old})
	feed.PublishSession(sessions.Session{ID: old, State: sessions.StateWorking})
	if again := b.Since(old); !again.Equal(at) {
		t.Errorf("it works since %v, and then since %v", at, again)
	}
	feed.PublishSession(sessions.Session{ID: fresh, State: sessions.StateStarting})
	if at := b.Since(fresh); at.Before(before) {
		t.Errorf("a new one starts since %v", at)
	}
}
