package adapters_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// What rings of drawn conversations: texts from two places and from the terminal, turns of all
// lengths, some of which fail, some of commands, and restarts. Ada alone uses chat -1, she and
// Bob use -2. A turn that fails, and one that takes ring_after or longer, rings once everywhere; a
// shorter one in -2, and never in -1 if Ada or the keyboard asked for it.
func TestWhatRingsOfDrawnConversations(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(1000, 60, 10)) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			random := rand.New(rand.NewPCG(seed, 7))
			r.ringAfter = 30 * time.Second
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "a:-2")}
			r.users = func(at adapters.Target, _ time.Time) []string {
				if at.Chat == "-1" {
					return []string{"Ada"}
				}
				return []string{"Bob", "Ada"}
			}
			r.start()
			r.begin("pb_1", "agent-1")
			type turn struct {
				word   string
				loud   bool // it rings in -1, too
				failed bool // its program has said so
			}
			var turns []turn
			for n := range 25 {
				word := fmt.Sprintf("word%d", n)
				author := []struct{ name, origin string }{{"Ada", "a:-1"}, {"Ada", "a:-2"}, {"Bob", "a:-2"}, {}, {"cli", ""}, {"agent-2", ""}}[random.IntN(6)]
				took := []time.Duration{0, 3 * time.Second, 12 * time.Second, 29 * time.Second, 30 * time.Second, 2 * time.Minute}[random.IntN(6)]
				o := adaptertest.Output{Ends: true, Kind: sessions.KindAnswer, Begins: true}
				status := []int{0, 0, 1}[random.IntN(3)]
				command := random.IntN(3) == 0
				if command {
					o.Kind, o.Status = sessions.KindPane, &status
				}
				if !command && random.IntN(4) == 0 {
					o.Failed = word + " said no\nand more"
				}
				asked := !command || random.IntN(2) == 0
				if asked {
					r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"do it"}, Kind: sessions.KindUser, Author: author.name, Origin: author.origin, Begins: true}))
				} else {
					r.print("pb_1", "$ it")
				}
				r.pass(took)
				if o.Lines = []string{"This is " + word + " of the answer."}; random.IntN(2) == 0 {
					r.must(r.house.Print("pb_1", adaptertest.Output{Lines: o.Lines, Kind: o.Kind, Begins: true}))
					r.pass(time.Duration(random.IntN(2)) * time.Second / 2)
					o.Lines = nil
				}
				began := time.Now()
				r.must(r.house.Print("pb_1", o))
				s, err := r.house.Get("pb_1")
				r.must(err)
				spent := began.Sub(s.Turn.StartedAt)
				foreign := asked && (author.name == "Bob" || author.name == "agent-2")
				turns = append(turns, turn{word: word, loud: spent >= r.ringAfter || foreign || command && status != 0 || o.Failed != "", failed: o.Failed != ""})
				for chat, all := range map[string]bool{"-1": false, "-2": true} {
					rings, err := r.hub.RingsAt(t.Context(), "pb_1", adapters.Target{Adapter: "a", Chat: chat}, s.Turn)
					if want := all || turns[len(turns)-1].loud; err != nil || rings != want {
						t.Errorf("seed %d: it's said that %s rings in %s: %v, %v", seed, word, chat, rings, err)
					}
				}
				r.pass(time.Minute)
				if random.IntN(8) == 0 {
					r.stop()
					r.start()
				}
			}
			for chat, all := range map[string]bool{"-1": false, "-2": true} {
				seen := r.platforms["a"].Seen(chat, "")
				for _, turn := range turns {
					rang := 0
					for _, m := range seen {
						if m.Rang && strings.Contains(m.Text, turn.word+" ") {
							rang++
							if says := strings.Contains(m.Text, "failed: "+turn.word+" said no"); says != turn.failed {
								t.Errorf("seed %d: %s has failed: %v, and it rang with %q", seed, turn.word, turn.failed, m.Text)
							}
						}
					}
					if want := all || turn.loud; rang > 1 || want != (rang == 1) {
						t.Errorf("seed %d: %s rang %d times in %s, want %v", seed, turn.word, rang, chat, want)
					}
				}
				if chat == "-1" && !slices.ContainsFunc(seen, func(m adaptertest.Message) bool { return !m.Rang && strings.Contains(m.Text, "done · ") }) {
					t.Errorf("seed %d: no end is said that doesn't ring", seed)
				}
			}
		})
	}
}

// The end of a turn that rings nobody stands below what was answered, in the same message, and
// nothing is added to that; what somebody wrote meanwhile stands between.
func TestWhatRingsNobodyStandsInTheSameMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.ringAfter = 30 * time.Second
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.users = func(adapters.Target, time.Time) []string { return []string{"Ada"} }
		r.start()
		r.begin("pb_1", "agent-1")
		says := func(kind sessions.LineKind, text string, ends bool) {
			o := adaptertest.Output{Lines: []string{text}, Kind: kind, Begins: true, Ends: ends}
			if kind == sessions.KindUser {
				o.Author, o.Origin = "Ada", "a:-1"
			}
			r.must(r.house.Print("pb_1", o))
			r.pass(4 * time.Second)
		}
		says(sessions.KindUser, "do it", false)
		says(sessions.KindAnswer, "I look.", false)
		says(sessions.KindAnswer, "It's done.", false)
		r.ends("pb_1")
		r.pass(time.Minute)
		says(sessions.KindUser, "again", false)
		says(sessions.KindAnswer, "It's done again.", true)
		says(sessions.KindUser, "and again", false)
		says(sessions.KindAnswer, "It goes on.", false)
		r.must(r.hub.Post(adapters.Post{To: adapters.Target{Adapter: "a", Chat: "-1"}, Key: "1", Class: qos.Interactive, Text: "all is well"}))
		r.pass(4 * time.Second)
		r.ends("pb_1")
		r.pass(time.Minute)
		r.wantTexts(
			"a", "-1", "I look.\nIt's done.\ndone · 12 s", "It's done again.\ndone · 4 s", "It goes on.", "all is well", "done · 12 s · “It goes on.”",
		)
		for _, m := range r.platforms["a"].Seen("-1", "") {
			if m.Rang {
				t.Errorf("it rang: %q", m.Text)
			}
		}
	})
}

// Turns that share a message ring if one of them does.
func TestTurnsThatShareAMessageRingIfOneOfThemDoes(t *testing.T) {
	for _, long := range []bool{false, true} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.ringAfter = 30 * time.Second
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.users = func(adapters.Target, time.Time) []string { return []string{"Ada"} }
			r.start()
			r.begin("pb_1", "agent-1")
			r.print("pb_1", "ready")
			r.pass(time.Minute)
			r.ends("pb_1")
			r.pass(time.Minute)
			r.stop()
			asks := func(took time.Duration) {
				r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"do it"}, Kind: sessions.KindUser, Author: "Ada", Origin: "a:-1", Begins: true}))
				r.pass(took)
				r.ends("pb_1", "It's done.")
			}
			asks(time.Second)
			if long {
				asks(time.Minute)
			}
			asks(2 * time.Second)
			r.start()
			r.pass(time.Minute)
			all := r.platforms["a"].Seen("-1", "")
			if last := all[len(all)-1]; !strings.Contains(last.Text, "turns done · the last took 2 s") || last.Rang != long {
				t.Errorf("long %v: the last message rang %v: %q", long, last.Rang, last.Text)
			}
		})
	}
}

// The end of a session rings, however short its last turn was; ring_after follows a reload.
func TestTheEndOfASessionRingsAfterABriefTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.ringAfter = 30 * time.Second
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.users = func(adapters.Target, time.Time) []string { return []string{"Ada"} }
		r.start()
		r.begin("pb_1", "agent-1")
		asks := func() {
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"do it"}, Kind: sessions.KindUser, Author: "Ada", Origin: "a:-1", Begins: true}))
			r.ends("pb_1", "It's done.")
			r.pass(time.Minute)
		}
		rang := func() bool { all := r.platforms["a"].Seen("-1", ""); return all[len(all)-1].Rang }
		if asks(); rang() {
			t.Error("a brief turn rang")
		}
		r.must(r.hub.Reload(t.Context(), adapters.Settings{Rules: r.rules}))
		if asks(); !rang() {
			t.Error("with ring_after 0 a brief turn didn't ring")
		}
		r.must(r.hub.Reload(t.Context(), adapters.Settings{Rules: r.rules, RingAfter: r.ringAfter}))
		asks()
		r.must(r.house.End("pb_1", "session ended"))
		r.pass(time.Minute)
		if !rang() {
			t.Error("the end of the session didn't ring")
		}
	})
}
