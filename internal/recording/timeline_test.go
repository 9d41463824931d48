package recording_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
)

// dialog matches what a program shows while it waits for an answer.
var dialog = regexp.MustCompile(`Do you want|Would you like|Allow execution|Apply this change|Permission required|Which storage`)

// The truth about a state is what the model did; the screen in the middle of a
// span bears it out: a dialog is on it while the agent waits, and none while it's
// idle.
func TestTimelineAgreesWithTheScreen(t *testing.T) {
	found := map[sessions.State]int{}
	agents := map[string]bool{}
	for _, r := range all(t) {
		spans, err := r.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		if !r.Has("model.jsonl") || r.Busy {
			if len(spans) > 0 {
				t.Errorf("%s: a timeline without a model, or of a busy machine", r.Name)
			}
			continue
		}
		frames, err := r.Frames()
		if err != nil {
			t.Fatal(err)
		}
		agents[r.Agent] = true
		last := time.Duration(0)
		for _, s := range spans {
			if s.From < last || s.To <= s.From || s.To > frames[len(frames)-1].At {
				t.Errorf("%s: span %v after %v, and the end is %v", r.Name, s, last, frames[len(frames)-1].At)
			}
			last = s.To
			found[s.State]++
			if s.To-s.From < time.Second {
				continue
			}
			screen := strings.Join(frames[int((s.From+s.To)/2/recording.FrameStep)].Snapshot.Rows, "\n")
			if open := dialog.MatchString(screen); s.State == sessions.StateWaiting && !open || s.State == sessions.StateIdle && lower(screen) {
				t.Errorf("%s: in the middle of %v to %v it's %s, and the screen shows\n%s", r.Name, s.From, s.To, s.State, screen)
			}
		}
	}
	if len(agents) < 6 || found[sessions.StateIdle] < 60 || found[sessions.StateWorking] < 60 || found[sessions.StateWaiting] < 20 {
		t.Errorf("agents %v, spans %v", agents, found)
	}
}

// lower says whether a dialog that can be answered is on a screen: the text
// alone may stand there still, as part of the conversation.
func lower(screen string) bool {
	return regexp.MustCompile(`(?m)^[│ ]*[❯›●] *1\. (?:Yes|Allow)|△ Permission required`).MatchString(screen)
}

// Two commands asked for at once are two dialogs, and one time of waiting.
func TestTimelineWaitsOnBehindOneOfTwoDialogs(t *testing.T) {
	s := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	got := recording.Known{
		Model: []recording.Request{
			{Begin: s(2), First: s(3), End: s(4), Rule: "two", User: "do two things", Called: []string{"shell", "shell"}},
			{Begin: s(10), First: s(11), End: s(12), Rule: "two", Step: 1, User: "do two things"},
		},
		Actions: []recording.Action{
			{At: s(0.5), Kind: "ready"},
			{At: s(1), Kind: "paste"},
			{At: s(1.5), Kind: "keys", Keys: []string{"Enter"}},
			{At: s(6), Kind: "keys", Keys: []string{"Enter"}},
			{At: s(8), Kind: "keys", Keys: []string{"Down", "Enter"}},
			{At: s(20), Kind: "end"},
		},
		Hooks: []recording.Hook{
			{At: s(5), Event: "permission.asked"},
			{At: s(5.1), Event: "permission.asked"},
			{At: s(12.5), Event: "session.idle"},
		},
	}.Spans()
	want := []recording.Span{
		{From: s(0.5), To: s(1), State: sessions.StateIdle},
		{From: s(2), To: s(5), State: sessions.StateWorking},
		{From: s(5), To: s(8.15), State: sessions.StateWaiting},
		{From: s(8.15), To: s(12), State: sessions.StateWorking},
		{From: s(12.5), To: s(20), State: sessions.StateIdle},
	}
	if len(got) != len(want) {
		t.Fatalf("spans %v", got)
	}
	for i := range want {
		want[i].Why = got[i].Why
		if got[i] != want[i] {
			t.Errorf("span %d is %v, want %v", i, got[i], want[i])
		}
	}
}
