package adapters_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// refusals is what a platform refuses of a post, drawn.
type refusals struct {
	picture, buttons, replies, words, files, topic bool
}

func drawRefusals(random *rand.Rand) (f refusals) {
	for _, it := range []*bool{&f.picture, &f.buttons, &f.replies, &f.words, &f.files, &f.topic} {
		*it = random.IntN(3) == 0
	}
	return f
}

func (f refusals) refuse(c adaptertest.Call) string {
	message := c.Method == adaptertest.Send || c.Method == adaptertest.Edit
	switch {
	case f.picture && c.Picture, f.buttons && c.Buttons, f.replies && c.ReplyTo != "",
		f.words && message, f.files && c.Method == adaptertest.SendFile,
		f.topic && c.Thread != "":
		return "not here"
	}
	return ""
}

// Whatever a platform refuses of a post, people see what it says: with less beside it, as a
// file, or in the chat where the topic takes nothing. What can't be shown at all is told.
func TestWhatARefusedPostSaysIsSeen(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(300, 300, 60)) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			f := drawRefusals(random)
			r := newRig(t, adaptertest.Options{Refuse: f.refuse})
			r.form = adapters.Shape{MaxLen: 4096, MaxFile: []int{0, 1 << 20}[random.IntN(2)]}
			r.start()
			topic := r.platforms["a"].AddThread("-1", "topic")
			h := &told{}
			var all []adapters.Post
			for i := range 1 + random.IntN(3) {
				p := h.post(fmt.Sprint("k", i), fmt.Sprintf("words %d", i))
				if p.To.Thread = []string{"", topic}[random.IntN(2)]; p.To.Thread != "" {
					p.Elsewhere = placeA1
				}
				if random.IntN(2) == 0 {
					p.Picture = []byte("picture")
				}
				if random.IntN(2) == 0 {
					p.Buttons, p.Numbered = [][]adapters.Button{{{Label: "Yes", Data: "y"}}}, p.Text+"\n\nor write 1"
				}
				if random.IntN(2) == 0 {
					p.ReplyTo = "1"
				}
				p.Class = qos.Final
				all = append(all, p)
				r.post(p)
			}
			r.pass(time.Hour)
			for _, p := range all {
				checkSeen(t, r, h, f, p, topic)
			}
			if t.Failed() {
				t.Logf("seed %d: %+v, files of %d bytes", seed, f, r.form.MaxFile)
			}
		})
	}
}

// checkSeen wants a post's words in the chat where there's any way, each once, and its sender
// to have heard of it.
func checkSeen(t *testing.T, r *rig, h *told, f refusals, p adapters.Post, topic string) {
	t.Helper()
	there := slices.Concat(r.platforms["a"].Seen("-1", ""), r.platforms["a"].Seen("-1", topic))
	seen, numbered := 0, false
	for _, m := range there {
		if strings.Contains(m.Text, p.Text) || strings.Contains(string(m.Data), p.Text) {
			seen++
			numbered = strings.Contains(m.Text+string(m.Data), "or write 1")
		}
	}
	h.mu.Lock()
	heard := h.all[p.Text]
	h.mu.Unlock()
	can := !f.words || r.form.MaxFile > 0 && !f.files // as a message, or as a file
	switch {
	case len(heard) != 1:
		t.Errorf("the sender of %q heard %v", p.Text, heard)
	case can && (seen != 1 || heard[0] != nil):
		t.Errorf("%q is seen %d times, and its sender heard %v", p.Text, seen, heard)
	case !can && (seen != 0 || heard[0] == nil):
		t.Errorf("%q can't be shown, is seen %d times, and its sender heard %v", p.Text, seen, heard)
	case can && p.Numbered != "" && f.buttons && !numbered:
		t.Errorf("%q doesn't say how to choose without buttons", p.Text)
	}
}
