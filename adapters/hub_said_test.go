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
	"github.com/panebridge/panebridge/sessions"
)

// What somebody wrote is shown with their name where they didn't write it, and takes no
// call where they did.
func TestWhatWasWrittenElsewhereIsShownWithItsAuthor(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "a:-2"), rule(t, "*", "b:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		said := func(author, origin, text string) {
			t.Helper()
			r.must(r.house.Print("pb_1", adaptertest.Output{
				Lines: strings.Split(text, "\n"), Kind: sessions.KindUser, Author: author, Origin: origin, Begins: true,
			}))
			r.pass(time.Minute)
		}
		said("Ada", "a:-1", "fix it")
		r.wantTexts("a", "-1")
		r.wantTexts("a", "-2", "Ada: fix it")
		if n := len(r.platforms["a"].Arrivals()); n != 1 {
			t.Errorf("%d calls, want one", n)
		}
		r.print("pb_1", "fixing", "still")
		r.pass(time.Minute)
		said("Bob", "b:-1", "and test it\n\n  all of it")
		said("cli", "", "now")
		r.ends("pb_1", "fixed")
		r.pass(time.Minute)
		const ending = "fixed\ndone · 4 min"
		r.wantTexts("a", "-1", "fixing\nstill\nBob: and test it\n\n  all of it\ncli: now", ending)
		r.wantTexts("a", "-2", "Ada: fix it\nfixing\nstill\nBob: and test it\n\n  all of it\ncli: now", ending)
		r.wantTexts("b", "-1", "Ada: fix it\nfixing\nstill", "cli: now", ending) // Bob wrote in between
		for _, st := range r.hub.Status("pb_1") {
			if st.Delivered != 8 || st.Pressure.Behind > 0 {
				t.Errorf("in %s, line %d is said to be the last that's there", st.Target, st.Delivered)
			}
		}
	})
}

// The topic made for a session is a place where people write, too.
func TestWhatWasWrittenInASessionsOwnThreadIsHiddenThere(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.form.OwnThread = true
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "ready")
		r.pass(time.Minute)
		thread := r.platforms["a"].Threads("-1", "agent-1")[0]
		for _, origin := range []string{"a:-1/" + thread, "a:-1"} {
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{origin}, Kind: sessions.KindUser, Author: "Ada", Origin: origin, Begins: true}))
		}
		r.print("pb_1", "working")
		r.pass(time.Minute)
		if all := r.platforms["a"].Seen("-1", thread); len(all) != 2 || all[0].Text != "ready" || all[1].Text != "Ada: a:-1\nworking" {
			t.Errorf("the thread shows %+v", all)
		}
	})
}

// What comes after somebody has written in a place stands below that, however little it is;
// what had begun before stays where it began. Drawn: texts here and elsewhere, answers in
// parts, ends of turns, restarts.
func TestWhatComesLaterStandsBelow(t *testing.T) {
	for seed := range drawtest.Seeds(t, 40) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			random := rand.New(rand.NewPCG(seed, 0))
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.start()
			r.begin("pb_1", "agent-1")
			wrote := map[string]int{} // how many messages there were when a line was printed behind a text
			asked, n := -1, 0
			for range 60 {
				switch random.IntN(6) {
				case 0:
					r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"asked"}, Kind: sessions.KindUser, Author: "Ada", Origin: "a:-1", Begins: true}))
					asked = len(r.texts("a", "-1"))
				case 1:
					r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"elsewhere"}, Kind: sessions.KindUser, Author: "Bob", Origin: "b:-1", Begins: true}))
				case 2:
					if random.IntN(4) == 0 {
						r.stop()
						r.start()
					}
				default:
					n++
					line := fmt.Sprintf("line %d.", n)
					if asked >= 0 {
						wrote[line] = asked
					}
					if random.IntN(3) == 0 {
						r.ends("pb_1", line)
					} else {
						r.print("pb_1", line)
					}
				}
				r.pass(time.Duration(random.IntN(20)) * time.Second)
			}
			r.pass(2 * time.Minute)
			all := r.texts("a", "-1")
			for i := 1; i <= n; i++ {
				line := fmt.Sprintf("line %d.", i)
				at := slices.IndexFunc(all, func(m string) bool { return strings.Contains(m, line) })
				if at < wrote[line] || strings.Count(strings.Join(all, "\n"), line) != 1 {
					t.Errorf("seed %d: %q stands in message %d, and somebody had written below %d of %q", seed, line, at, wrote[line], all)
				}
			}
		})
	}
}
