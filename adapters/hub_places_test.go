package adapters_test

import (
	"context"
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
)

// at returns the sessions of the bindings at a place, with what keeps each from
// working.
func (r *rig) at(place string) string {
	r.Helper()
	t, err := adapters.ParseTarget(place)
	if err != nil {
		r.Fatal(err)
	}
	var out []string
	for _, b := range r.hub.BindingsAt(t) {
		s := string(b.Session)
		if b.Resting {
			s += " rests"
		}
		if b.Disabled != "" {
			s += " " + b.Disabled
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func (r *rig) wantAt(place, want string) {
	r.Helper()
	if got := r.at(place); got != want {
		r.Errorf("at %s: %q, want %q", place, got, want)
	}
}

// A binding is found where its target is: in the thread that was made for it, in the
// chat that it moved to; over restarts, and when it doesn't work.
func TestBindingsAreFoundWhereTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, adaptertest.Options{})
		r.form.OwnThread = true
		r.start()
		r.begin("pb_1", "one")
		b := r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.wantAt("a:-1", "") // its thread isn't made yet, and the chat itself isn't its place
		r.print("pb_1", "hello")
		r.pass(time.Minute)
		thread := "a:-1/" + r.platforms["a"].Threads("-1", "one")[0]
		r.wantAt(thread, "pb_1")
		r.wantAt("a:-1", "")
		r.stop()
		r.start()
		r.wantAt(thread, "pb_1")

		r.must(r.hub.SetResting(context.Background(), b.ID, true))
		r.wantAt(thread, "pb_1 rests")
		r.stop()
		r.start()
		r.wantAt(thread, "pb_1 rests")

		r.platforms["a"].AddGroup("-100", true)
		r.must(r.hub.MoveChat(context.Background(), "a", "-1", "-100"))
		moved := strings.Replace(thread, "-1", "-100", 1)
		r.wantAt(moved, "pb_1 rests")
		r.stop()
		r.start()
		r.wantAt(moved, "pb_1 rests")
		if !r.hub.UsesChat("a", "-100") || r.hub.UsesChat("a", "-1") {
			t.Error("the old chat is used, or the new one isn't")
		}
	})
}

// A binding that rests shows nothing; then it goes on where it was. A restart or a
// rule doesn't wake it.
func TestARestingBindingGoesOnWhereItWas(t *testing.T) {
	for _, byRule := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, adaptertest.Options{})
			to := adapters.Target{Adapter: "a", Chat: "-1"}
			if byRule {
				r.rules = []adapters.MirrorRule{{Session: "*", To: to}}
			}
			r.start()
			r.begin("pb_1", "one")
			if !byRule {
				r.bind("pb_1", "a:-1", adapters.ViewStream)
			}
			r.print("pb_1", "before")
			r.pass(time.Minute)
			b := r.hub.BindingsAt(to)[0]
			r.must(r.hub.SetResting(context.Background(), b.ID, true))
			r.must(r.hub.SetResting(context.Background(), b.ID, true))
			r.print("pb_1", "meanwhile")
			r.pass(time.Minute)
			r.wantShown("before")
			r.stop()
			r.start()
			if byRule {
				r.must(r.reload([]adapters.MirrorRule{{Session: "*", To: to, Input: true}}))
			}
			r.print("pb_1", "still")
			r.pass(time.Minute)
			r.wantShown("before")
			r.must(r.hub.SetResting(context.Background(), b.ID, false))
			r.print("pb_1", "after")
			r.pass(time.Minute)
			if got := r.shown(); strings.Join(strings.FieldsFunc(got, func(c rune) bool { return strings.ContainsRune(" |\n", c) }), " ") != "before meanwhile still after" {
				t.Errorf("the chat shows %q", got)
			}
		})
	}
}

// What a chat shows goes on in the one it moved to, without a call to the old one.
func TestAMirrorFollowsItsChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, adaptertest.Options{})
		r.start()
		r.begin("pb_1", "one")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.print("pb_1", "before")
		r.pass(time.Minute)
		r.platforms["a"].AddGroup("-100", true)
		r.platforms["a"].Migrate("-1", "-100")
		r.must(r.hub.MoveChat(context.Background(), "a", "-1", "-100"))
		r.print("pb_1", "after")
		r.pass(time.Minute)
		if n := len(r.platforms["a"].Refusals(adaptertest.Upgraded)); n != 0 {
			t.Errorf("%d calls went to the old chat", n)
		}
		var seen []string
		for _, m := range r.platforms["a"].Seen("-100", "") {
			seen = append(seen, m.Text)
		}
		if got := strings.Join(seen, "\n"); got != "before\nafter" {
			t.Errorf("the new chat shows %q", got)
		}
	})
}

// Where a chat has moved to is kept, whoever said it, the platform's answer to a call or an update,
// and whatever is under way: after a kill all its sessions are at the new place, before any of them
// says a word; and so are those that begin later.
func TestWhereAChatHasMovedOutlivesAKill(t *testing.T) {
	for _, by := range []string{"a call", "an update", "an update during a call"} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.start()
			r.begin("pb_1", "one")
			r.begin("pb_2", "two")
			r.print("pb_1", "one")
			r.print("pb_2", "two")
			r.pass(time.Minute)
			p := r.platforms["a"]
			p.Migrate("-1", "-1001")
			if by != "an update" {
				p.SetFault(func(adaptertest.Call) adaptertest.Fault {
					if by == "a call" {
						return adaptertest.Fault{}
					}
					return adaptertest.Fault{Back: 10 * time.Second}
				})
				r.print("pb_1", "begins")
				r.pass(3 * time.Second)
			}
			if by != "a call" {
				r.must(r.hub.MoveChat(context.Background(), "a", "-1", "-1001"))
			}
			r.process.Kill()
			r.stop()
			p.SetFault(nil)
			r.start()
			r.begin("pb_3", "three")
			r.pass(time.Second)
			var at []string
			for _, b := range r.hub.BindingsAt(adapters.Target{Adapter: "a", Chat: "-1001"}) {
				at = append(at, string(b.Session))
			}
			slices.Sort(at) // two are of the same moment
			if got := strings.Join(at, " "); got != "pb_1 pb_2 pb_3" {
				t.Errorf("by %s: after the kill the sessions %s are at the new place", by, got)
			}
		})
	}
}

// A kill between the document that a call moved and the move itself, which others are to hear of.
func TestAMoveThatOnlyADocumentKnowsIsKept(t *testing.T) {
	for writes := range int64(4) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.start()
			r.begin("pb_1", "one")
			r.print("pb_1", "before")
			r.pass(time.Minute)
			r.platforms["a"].Migrate("-1", "-1001")
			r.dies.Store(writes)
			r.print("pb_1", "after")
			r.pass(5 * time.Second)
			r.process.Kill()
			r.stop()
			r.dies.Store(0)
			r.start()
			r.pass(time.Minute)
			moves, err := r.hub.ChatMoves(context.Background())
			if err != nil || len(moves) != 1 || moves[0] != (adapters.Move{Adapter: "a", From: "-1", To: "-1001"}) {
				t.Errorf("killed at write %d: %v, %v", writes, moves, err)
			}
		})
	}
}

// A group and the one that it became are one place: whoever binds a session to either, by hand or by a
// rule, before the move or after it, over restarts and kills, it's shown there once.
func TestASessionHasOneBindingInAChatThatMoved(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(2000, 100, 20)) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			random := rand.New(rand.NewPCG(seed, 9))
			r.chats = []string{"-1", "-1001"}
			rules := [][]adapters.MirrorRule{{rule(t, "*", "a:-1")}, {rule(t, "*", "a:-1001")}, {rule(t, "*", "a:-1"), rule(t, "*", "a:-1001")}}
			byHand := random.IntN(2) == 0
			if !byHand || random.IntN(2) == 0 {
				r.rules = rules[0]
			}
			r.start()
			r.begin("pb_1", "one")
			if byHand {
				r.bind("pb_1", "a:-1", adapters.ViewStream)
			}
			moves, lines := random.IntN(3), 0
			for n := range 6 {
				if n == moves {
					r.platforms["a"].Migrate("-1", "-1001")
					if random.IntN(2) == 0 {
						r.must(r.hub.MoveChat(context.Background(), "a", "-1", "-1001"))
					}
					lines++
					r.print("pb_1", fmt.Sprintf("line %d.", lines))
					r.pass(time.Minute)
				}
				switch random.IntN(4) {
				case 0:
					to := "a:-1"
					if n >= moves && random.IntN(2) == 0 || len(r.chats) == 1 {
						to = "a:-1001"
					}
					r.bind("pb_1", to, adapters.ViewStream)
				case 1:
					r.rules = rules[0]
					if n >= moves {
						r.rules = rules[random.IntN(3)]
					}
					if len(r.chats) == 1 {
						r.rules = rules[1]
					}
					r.must(r.reload(r.rules))
				case 2:
					if random.IntN(2) == 0 {
						r.process.Kill()
					}
					r.stop()
					if n >= moves && random.IntN(2) == 0 { // the configuration has the new id
						r.chats, r.rules = []string{"-1001"}, rules[1]
					}
					r.start()
				}
				lines++
				r.print("pb_1", fmt.Sprintf("line %d.", lines))
				r.pass(time.Minute)
			}
			if all := r.hub.Status("pb_1"); len(all) != 1 {
				t.Errorf("there are %d bindings: %+v", len(all), all)
			}
			var seen strings.Builder
			for _, m := range r.platforms["a"].Seen("-1001", "") {
				seen.WriteString(m.Text + "\n")
			}
			for n := 1; n <= lines; n++ {
				if got := strings.Count(seen.String(), fmt.Sprintf("line %d.", n)); got != 1 {
					t.Errorf("line %d stands there %d times:\n%s", n, got, seen.String())
				}
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestALostChatDisablesItsBindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, adaptertest.Options{})
		r.start()
		r.begin("pb_1", "one")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		r.bind("pb_1", "a:-2", adapters.ViewStream)
		for range 2 {
			r.must(r.hub.DisableChat(context.Background(), "a", "-1", "the bot was removed"))
		}
		r.wantAt("a:-1", "pb_1 the bot was removed")
		r.wantAt("a:-2", "pb_1")
		if len(r.disabled) != 1 {
			t.Errorf("%d were told as disabled, want 1", len(r.disabled))
		}
		r.print("pb_1", "lines")
		r.pass(time.Minute)
		r.wantShown("")
		r.bind("pb_1", "a:-1", adapters.ViewStream) // the bot is back
		r.pass(time.Minute)
		r.wantShown("lines")
	})
}

// What a lost chat took part in goes on when the bot is let in again, and nothing that
// a person took back.
func TestAChatThatIsBackGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, adaptertest.Options{})
		r.start()
		r.begin("pb_1", "one")
		r.begin("pb_2", "two")
		r.bind("pb_1", "a:-1", adapters.ViewStream)
		gone := r.bind("pb_2", "a:-1", adapters.ViewStream)
		r.must(r.hub.Unbind(context.Background(), gone.ID))
		r.must(r.hub.DisableChat(context.Background(), "a", "-1", "the bot was removed"))
		r.print("pb_1", "lines")
		r.print("pb_2", "more lines")
		r.pass(time.Minute)
		r.wantShown("")
		for range 2 {
			r.must(r.hub.ReviveChat(context.Background(), "a", "-1"))
		}
		r.pass(time.Minute)
		r.wantShown("lines")
	})
}
