package inbound_test

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
)

// album is files that Ann sends together, one by one, numbered from a number on, the
// first with a caption.
func (w *world) album(from, to int, caption string) (list []intake.Update) {
	w.Helper()
	for n := from; n <= to; n++ {
		id := strconv.Itoa(n)
		ev := w.event(ann, nil)
		ev.Key, ev.Message = "chat:album "+id, "album "+id
		raw, err := json.Marshal(struct {
			intake.Event
			Action intake.Said
		}{ev, intake.Said{Text: caption, Album: "a", Files: []intake.Attachment{{ID: id, Kind: intake.FilePhoto}}}})
		if err != nil {
			w.Fatal(err)
		}
		list = append(list, intake.Update{Key: id, Raw: raw})
		caption = ""
	}
	return list
}

// intake is a queue in front of the process's Inbound, until the process ends.
func (w *world) intake(m *journaltest.Memory) (q *intake.Queue, end func()) {
	w.Helper()
	in, ended := w.in, make(chan error)
	ctx, cancel := context.WithCancel(context.Background())
	q = intake.NewQueue(intake.QueueOptions{
		Journal: m.Process(), Handle: in.Handle, GaveUp: in.HandleGivenUp,
		Decode: func(raw []byte) (intake.Event, bool, error) {
			var e struct {
				intake.Event
				Action intake.Said
			}
			err := json.Unmarshal(raw, &e)
			e.Event.Action = e.Action
			return e.Event, true, err
		},
	})
	go func() { ended <- q.Run(ctx) }()
	return q, func() {
		w.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	}
}

// contents are what was typed, each path as what's in its file.
func (w *world) contents() (list []string) {
	w.Helper()
	for _, text := range w.panes.typed() {
		words := strings.Fields(text)
		for i, word := range words {
			if !strings.HasPrefix(word, "/") {
				continue
			}
			content, err := os.ReadFile(word)
			if err != nil {
				w.Error(err)
			}
			words[i] = string(content)
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

func TestAnAlbumIsOneInput(t *testing.T) {
	inWorld(t, func(w *world) {
		w.chat.files = map[string]string{"1": "one", "2": "two", "3": "three"}
		q, end := w.intake(journaltest.NewMemory())
		list := w.album(1, 3, "compare")
		for _, u := range list {
			if err := q.Keep(w.Context(), []intake.Update{u}); err != nil {
				w.Fatal(err)
			}
			w.pass(time.Second)
			w.wantTyped()
		}
		w.pass(10 * time.Second)
		if got := w.contents(); len(got) != 1 || got[0] != "compare one two three" {
			w.Errorf("typed %q, want the caption and three paths", got)
		}
		if posts := w.wantPosts("👍"); len(posts) == 1 && posts[0].ReplyTo != "album 1" {
			w.Errorf("the reaction stands on %s", posts[0].ReplyTo)
		}
		w.chat.fail = 3 // as often as a file is tried
		if err := q.Keep(w.Context(), w.album(11, 13, "again")); err != nil {
			w.Fatal(err)
		}
		w.pass(time.Minute)
		end()
		w.wantPosts("Nothing was typed. File 1 of 3, (photo), couldn't be fetched")
		if got := w.contents(); len(got) != 1 {
			w.Errorf("typed %q, though a file is missing", got)
		}
	})
}

// A process is killed at each of its steps to the outside in turn, while an album is
// handled. What comes late is another input, whenever that was.
func TestAnAlbumIsTypedOnceOverCrashes(t *testing.T) {
	for at := 1; ; at++ {
		survived := false
		inWorld(t, func(w *world) {
			w.chat.files = map[string]string{"1": "one", "2": "two", "3": "three"}
			m := journaltest.NewMemory()
			keep := func(q *intake.Queue, list []intake.Update) {
				if err := q.Keep(w.Context(), list); err != nil {
					w.Fatal(err)
				}
				w.pass(time.Minute)
			}
			w.process.mu.Lock()
			w.process.steps, w.process.killAt = 0, at
			w.process.mu.Unlock()
			q, end := w.intake(m)
			keep(q, w.album(1, 2, "compare"))
			survived = !w.process.killed()
			begun := w.process.intent.Load()
			end()
			w.restart()
			late := w.album(3, 3, "")
			if _, err := m.Process().Keep(w.Context(), late); err != nil { // it's there when the next one starts
				w.Fatal(err)
			}
			_, end = w.intake(m)
			w.pass(time.Hour)
			end()
			synctest.Wait()
			said := ""
			for _, p := range w.hub.take() {
				said += p.Text + p.Reaction + " "
			}
			// What was being typed when it was killed may stand in the pane, and nobody knows:
			// then what's late stands behind it.
			if typed := strings.Join(w.panes.typed(), " "); begun && strings.Contains(said, "Failed") {
				if n := strings.Count(typed, ".jpg"); n != 1 && n != 3 {
					w.Errorf("killed at step %d, while it was being typed; typed %q, said %q", at, typed, said)
				}
				return
			}
			if typed := strings.Join(w.contents(), "|"); typed != "compare one two|three" {
				w.Errorf("killed at step %d, when it was being typed: %v; typed %q, said %q", at, begun, typed, said)
			}
		})
		if survived || t.Failed() {
			t.Logf("%d steps", at-1)
			break
		}
	}
}
