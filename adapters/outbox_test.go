package adapters_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// told is what senders of posts heard.
type told struct {
	mu   sync.Mutex
	all  map[string][]error
	last map[string]string // ids of messages
}

func (h *told) sent(name string) func(string, error) {
	return func(id string, err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.all == nil {
			h.all, h.last = map[string][]error{}, map[string]string{}
		}
		h.all[name] = append(h.all[name], err)
		if err == nil {
			h.last[name] = id
		}
	}
}

// once wants that a sender heard one thing: nil, or an error of a kind.
func (h *told) once(t *testing.T, name string, want error) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.all[name]; len(got) != 1 || !errors.Is(got[0], want) {
		t.Errorf("%s heard %v, want once %v", name, got, want)
	}
}

var placeA1 = adapters.Target{Adapter: "a", Chat: "-1"}

func (h *told) post(key, text string) adapters.Post {
	return adapters.Post{To: placeA1, Key: key, Class: qos.Interactive, Text: text, Sent: h.sent(text)}
}

func (r *rig) post(p adapters.Post) {
	r.Helper()
	if err := r.hub.Post(p); err != nil {
		r.Fatal(err)
	}
}

// shown are the texts that a person sees in chat -1 of platform a.
func (r *rig) shown() string {
	var out []string
	for _, m := range r.platforms["a"].Seen("-1", "") {
		out = append(out, m.Text)
	}
	return strings.Join(out, " | ")
}

func (r *rig) wantShown(want string) {
	r.Helper()
	if got := r.shown(); got != want {
		r.Errorf("the chat shows %q, want %q", got, want)
	}
}

// faults returns the faults given, one per call, then none.
func faults(all ...adaptertest.Fault) func(adaptertest.Call) adaptertest.Fault {
	var mu sync.Mutex
	return func(adaptertest.Call) (f adaptertest.Fault) {
		mu.Lock()
		defer mu.Unlock()
		if len(all) > 0 {
			f, all = all[0], all[1:]
		}
		return f
	}
}

const postMark = `\[sent once more: this may be here already]`

func outboxTest(t *testing.T, test func(r *rig, h *told)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, adaptertest.Options{})
		r.start()
		test(r, &told{})
	})
}

func TestAPostIsSentAndEditedByItsKey(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		r.post(h.post("k", "one"))
		r.post(h.post("other", "two"))
		r.pass(time.Minute)
		r.wantShown("one | two")
		h.once(r.T, "one", nil)
		r.post(h.post("k", "three"))
		r.pass(time.Minute)
		r.wantShown("three | two")
		h.once(r.T, "three", nil)
		if h.last["one"] == "" || h.last["one"] != h.last["three"] {
			r.Errorf("ids %v: the edit must be of the same message", h.last)
		}
	})
}

func TestAPostTakesThePlaceOfOneThatWaits(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		slow := adaptertest.Fault{Out: 2 * time.Second}
		r.platforms["a"].SetFault(faults(slow, slow, slow))
		r.post(h.post("first", "holds the chat up"))
		r.pass(time.Second)
		r.post(h.post("k", "one"))
		r.post(h.post("k", "two"))
		r.pass(2 * time.Second) // two's call is under way
		r.post(h.post("k", "three"))
		r.post(h.post("k", "four"))
		r.pass(time.Minute)
		r.wantShown("holds the chat up | four")
		h.once(r.T, "one", adapters.ErrReplaced)
		h.once(r.T, "two", nil)
		h.once(r.T, "three", adapters.ErrReplaced)
		h.once(r.T, "four", nil)
		if n := len(r.platforms["a"].Arrivals()); n != 3 {
			r.Errorf("%d calls, want 3: two sends, one edit", n)
		}
	})
}

func TestAnUncertainSendIsMadeOnceMoreAndMarked(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		r.platforms["a"].SetFault(faults(adaptertest.Fault{Kind: adaptertest.Unanswered}))
		r.post(h.post("k", "one"))
		r.pass(5 * time.Minute)
		r.wantShown("one | " + postMark + "\n\none")
		h.once(r.T, "one", nil)

		r.platforms["a"].SetFault(faults(adaptertest.Fault{Kind: adaptertest.Unanswered}))
		r.post(h.post("k", "edited"))
		r.pass(5 * time.Minute)
		r.wantShown("one | edited")
		h.once(r.T, "edited", nil)
	})
}

func TestAMessageThatIsGoneIsMadeAnewByACallOfItsOwn(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		r.post(h.post("k", "one"))
		r.pass(time.Minute)
		r.platforms["a"].DeleteMessage("-1", h.last["one"])
		r.post(h.post("k", "two"))
		r.pass(time.Minute)
		r.wantShown("two")
		h.once(r.T, "two", nil)
		p := h.post("k2", "three")
		p.Message = h.last["one"]
		r.post(p)
		r.pass(time.Minute)
		r.wantShown("two | three")
		h.once(r.T, "three", nil)
	})
}

func TestWhatIsRefusedIsTold(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		long := strings.Repeat("x", 5000)
		r.post(h.post("k", long))
		r.post(h.post("k2", "after it"))
		r.pass(time.Minute)
		r.wantShown("after it")
		var refused *adaptertest.Error
		if got := h.all[long]; len(got) != 1 || !errors.As(got[0], &refused) {
			r.Errorf("the sender heard %v, want the platform's refusal once", got)
		}
	})
}

func TestPostsFollowAChatThatMigrates(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		r.platforms["a"].AddGroup("-100", true)
		r.platforms["a"].Migrate("-1", "-100")
		r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Out: time.Second} }) // all wait when the first is answered
		for i := range 3 {
			r.post(h.post(fmt.Sprint(i), fmt.Sprint("text ", i)))
		}
		r.pass(5 * time.Minute)
		for i := range 3 {
			h.once(r.T, fmt.Sprint("text ", i), nil)
		}
		if n := len(r.platforms["a"].Seen("-100", "")); n != 3 {
			r.Errorf("%d messages in the new chat, want 3", n)
		}
		if n := len(r.platforms["a"].Refusals(adaptertest.Upgraded)); n != 1 {
			r.Errorf("%d calls went to the old chat, want 1", n)
		}
	})
}

func TestPostsOfAChatThatIsGoneAreTold(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		r.platforms["a"].DeleteChat("-1")
		for i := range 5 {
			r.post(h.post(fmt.Sprint(i), fmt.Sprint(i)))
		}
		r.pass(5 * time.Minute)
		for i := range 5 {
			var refused *adaptertest.Error
			if got := h.all[fmt.Sprint(i)]; len(got) != 1 || !errors.As(got[0], &refused) {
				r.Errorf("post %d: its sender heard %v, want one refusal", i, got)
			}
		}
	})
}

func TestAnOutboxIsBounded(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: adaptertest.Unconnected} })
		refused := 0
		for i := range 5000 {
			p := h.post(fmt.Sprint(i), fmt.Sprint(i))
			p.To.Chat = fmt.Sprint(-1 - i%3)
			if err := r.hub.Post(p); errors.Is(err, adapters.ErrTooMuchWaits) {
				refused++
			} else if err != nil {
				r.Fatal(err)
			}
		}
		if refused != 4700 {
			r.Errorf("%d of 5000 posts to three chats were refused, want all but 100 of each", refused)
		}
		for i := range 100 {
			p := h.post("big "+fmt.Sprint(i), "big")
			p.To.Chat, p.Picture = "-1", make([]byte, 10<<20)
			p.Key = fmt.Sprint(3 * i) // one that waits
			if err := r.hub.Post(p); (err != nil) != (i > 5) || err != nil && !errors.Is(err, adapters.ErrTooMuchWaits) {
				r.Fatalf("picture %d of 10 MB: %v; want room for six", i, err)
			}
		}
	})
}

func TestPostsThatCannotBe(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		for name, change := range map[string]func(p *adapters.Post){
			"no key":                 func(p *adapters.Post) { p.Key = "" },
			"no chat":                func(p *adapters.Post) { p.To.Chat = "" },
			"nothing to say":         func(p *adapters.Post) { p.Text = "" },
			"no such adapter":        func(p *adapters.Post) { p.To.Adapter = "zzz" },
			"a reaction and a text":  func(p *adapters.Post) { p.Reaction, p.ReplyTo = "👍", "1" },
			"a reaction to nothing":  func(p *adapters.Post) { p.Reaction, p.Text = "👍", "" },
			"a picture beside files": func(p *adapters.Post) { p.Picture, p.File = []byte{1}, &adapters.File{} },
		} {
			p := h.post("k", "text")
			change(&p)
			if err := r.hub.Post(p); err == nil {
				r.Errorf("%s: no error", name)
			}
		}
	})
}

func TestACosmeticPostIsMadeAtOnceOrNotAtAll(t *testing.T) {
	outboxTest(t, func(r *rig, h *told) {
		reaction := adapters.Post{To: placeA1, Key: "r", Class: qos.Cosmetic, ReplyTo: "7", Reaction: "👀", Sent: h.sent("👀")}
		r.post(reaction)
		r.pass(time.Second)
		h.once(r.T, "👀", nil)
		r.platforms["a"].SetFault(faults(adaptertest.Fault{Out: 5 * time.Second}))
		r.post(h.post("k", "slow"))
		r.pass(time.Second)
		reaction.Reaction, reaction.Sent = "✍", h.sent("✍")
		r.post(reaction)
		r.pass(time.Hour)
		if got := h.all["✍"]; got != nil {
			r.Errorf("a cosmetic post was made beside a reply: %v", got)
		}
	})
}

// Whatever goes wrong: each sender hears exactly one thing; what's said to be sent is
// in the chat; each key shows what was posted last under it; nothing stands twice
// without a mark.
func TestOutboxHistories(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(2000, 40, 10)) {
		synctest.Test(t, func(t *testing.T) {
			random, wrong := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			r := newRig(t, adaptertest.Options{})
			r.start()
			var mu sync.Mutex
			r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault {
				mu.Lock()
				defer mu.Unlock()
				f := adaptertest.Fault{Out: time.Duration(wrong.IntN(3000)) * time.Millisecond}
				if wrong.IntN(4) == 0 {
					f.Kind = adaptertest.FaultKind(wrong.IntN(8))
					f.RetryAfter = time.Duration(wrong.IntN(20)) * time.Second
				}
				return f
			})
			h, last, posted := &told{}, map[string]string{}, 0
			for range 60 {
				key := fmt.Sprint("k", random.IntN(12))
				last[key] = fmt.Sprintf("%s at %d", key, posted)
				posted++
				r.post(h.post(key, last[key]))
				r.pass(time.Duration(random.IntN(4000)) * time.Millisecond)
			}
			r.platforms["a"].SetFault(nil)
			r.pass(3 * time.Hour)
			checkHistory(t, seed, r, h, last, posted)
		})
	}
}

func checkHistory(t *testing.T, seed uint64, r *rig, h *told, last map[string]string, posted int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) != posted {
		t.Errorf("seed %d: %d senders heard something, want %d", seed, len(h.all), posted)
	}
	for name, heard := range h.all {
		if len(heard) != 1 || heard[0] != nil && !errors.Is(heard[0], adapters.ErrReplaced) {
			t.Errorf("seed %d: the sender of %q heard %v", seed, name, heard)
		}
	}
	plain := map[string]int{}
	there := map[string]bool{}
	for _, m := range r.platforms["a"].Seen("-1", "") {
		text, marked := strings.CutPrefix(m.Text, postMark+"\n\n")
		there[text] = true
		if key, _, _ := strings.Cut(text, " "); !marked && m.Edits == 0 {
			plain[key]++
		}
	}
	for key, text := range last {
		if !there[text] {
			t.Errorf("seed %d: %q isn't shown", seed, text)
		}
		if plain[key] > 1 {
			t.Errorf("seed %d: %s stands %d times without a mark", seed, key, plain[key])
		}
	}
}
