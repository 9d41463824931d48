package telegram_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// photo sends one of an album; its size, of 1 byte and more, tells it from others.
func (w *world) photo(album string, size int, caption string) int {
	w.Helper()
	n, err := w.ada.Send(w.ada.Private(), telegramtest.Post{
		Text: caption, Album: album, File: &telegramtest.Upload{Kind: telegramtest.Photo, Content: make([]byte, size)},
	})
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// albums are what people said, each with the sizes of its files.
func (r *reader) albums() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		said := e.Action.(intake.Said)
		var sizes []int64
		for _, f := range said.Files {
			sizes = append(sizes, f.Size)
		}
		list = append(list, fmt.Sprintf("%s %v at %s", said.Text, sizes, e.Message))
	}
	return list
}

// Photos that are sent together come one by one, over several polls, maybe of two
// processes. They're one message, with the caption that one of them has.
func TestPhotosSentTogetherAreOneMessage(t *testing.T) {
	for name, between := range map[string]func(w *world, r *reader, journal *journaltest.Memory) *reader{
		"at once": func(_ *world, r *reader, _ *journaltest.Memory) *reader { return r },
		"over several polls": func(_ *world, r *reader, _ *journaltest.Memory) *reader {
			time.Sleep(time.Second)
			return r
		},
		"over a restart": func(w *world, r *reader, journal *journaltest.Memory) *reader {
			time.Sleep(time.Second)
			r.end()
			time.Sleep(time.Hour)
			return w.read(journal.Process(), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				journal := journaltest.NewMemory()
				r := w.read(journal.Process(), nil)
				time.Sleep(time.Minute)
				r.mu.Lock()
				r.events = nil
				r.mu.Unlock()
				first := w.photo("a", 1, "")
				r = between(w, r, journal)
				w.photo("a", 2, "look at these")
				w.photo("a", 3, "")
				other := w.photo("b", 4, "another")
				time.Sleep(time.Minute)
				late := w.photo("a", 5, "")
				time.Sleep(time.Minute)
				r.end()
				want := []string{
					fmt.Sprintf("look at these [1 2 3] at %d", first), fmt.Sprintf("another [4] at %d", other), fmt.Sprintf(" [5] at %d", late),
				}
				if got := r.albums(); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}
