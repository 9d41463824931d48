package adapters_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// numbered are lines that say which they are.
func numbered(from, to int) (lines []string) {
	for n := from; n <= to; n++ {
		lines = append(lines, fmt.Sprintf("ok  	package/number%d	0.%03ds", n, n))
	}
	return lines
}

// usualRule mirrors all sessions as is usual.
func usualRule(t *testing.T) adapters.MirrorRule {
	t.Helper()
	mirror := rule(t, "*", "a:-1")
	mirror.Work = adapters.WorkShown{}
	return mirror
}

// What a program prints in one go is its head and its tail, in one message, and a button brings all of it: whether it comes at
// once or over a while.
func TestALongOutputIsItsHeadAndTail(t *testing.T) {
	for _, polls := range []int{1, 17} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.form.MaxFile, r.form.MaxCaption = 50<<20, 1024
			r.rules = []adapters.MirrorRule{usualRule(t)}
			r.start()
			r.begin("pb_1", "shell")
			for i := range polls {
				r.print("pb_1", numbered(1+425/polls*i, 425/polls*(i+1))...)
				r.pass(2 * time.Second)
			}
			r.pass(time.Minute)
			r.ends("pb_1")
			r.pass(time.Minute)
			head, tail := strings.Join(numbered(1, 10), "\n"), strings.Join(numbered(406, 425), "\n")
			r.wantTexts("a", "-1", head+"\n… 395 lines …\n"+tail, "done · "+took(time.Minute+2*time.Duration(polls)*time.Second)+" · “ok package/number425 0.425s”")
			arrivals := r.platforms["a"].Arrivals()
			if last := arrivals[len(arrivals)-2].Call; !last.Buttons || last.Data != nil {
				t.Errorf("the message has no button, or a file: %+v", last)
			}
			if n := len(arrivals); n > polls+2 {
				t.Errorf("%d calls to the platform for %d polls", n, polls)
			}
		})
	}
}

// An answer is whole, however long it is, and an agent's pane, of which nobody knows what's an answer, shows more than a shell's.
func TestWhatMayBeAnAnswerIsShown(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{usualRule(t)}
		r.start()
		r.begin("pb_1", "agent-1")
		var answer []string
		for n := range 100 {
			answer = append(answer, fmt.Sprintf("word %d.", n))
		}
		r.answer("pb_1", false, answer...)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", strings.Join(answer, "\n"))
	})
}

// A setting of its own, and all of it.
func TestHowMuchOfAnOutputIsShown(t *testing.T) {
	for output, want := range map[adapters.Length]string{
		adapters.LengthAll: strings.Join(numbered(1, 100), "\n"),
		"100":              strings.Join(numbered(1, 100), "\n"),
		"10":               strings.Join(numbered(1, 3), "\n") + "\n… 90 lines …\n" + strings.Join(numbered(94, 100), "\n"),
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.rules = []adapters.MirrorRule{usualRule(t)}
			r.rules[0].Work.Output = output
			r.start()
			r.begin("pb_1", "shell")
			r.print("pb_1", numbered(1, 100)...)
			r.pass(time.Minute)
			r.wantTexts("a", "-1", want)
		})
	}
	for _, bad := range []string{"9", "501", "030", "-1", "brief", "1e2", " 30"} {
		if l, err := adapters.ParseLength(bad); err == nil {
			t.Errorf("%q is the length %q", bad, l)
		}
	}
}

// A gap is told wherever it is: before a thought, too, of which nothing else is shown, amid what's printed in one go.
func TestAGapBeforeWhatIsHiddenIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{usualRule(t)}
		r.start()
		r.begin("pb_1", "shell")
		r.print("pb_1", numbered(1, 100)...)
		r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"hm"}, Kind: sessions.KindThought, Gap: &sessions.Gap{AtLeast: 7, Reason: "the screen was cleared"}}))
		r.print("pb_1", numbered(101, 200)...)
		r.pass(time.Minute)
		r.wantTexts("a", "-1", strings.Join([]string{
			strings.Join(numbered(1, 10), "\n"), "… 70 lines …", strings.Join(numbered(81, 100), "\n"),
			"[at least 7 lines are missing: the screen was cleared]",
			strings.Join(numbered(101, 110), "\n"), "… 70 lines …", strings.Join(numbered(181, 200), "\n"),
		}, "\n"))
	})
}

// More than a message may stand for is a file at once, beside which its head and its tail stand.
func TestAHugeOutputIsAFileWithItsEndsBeside(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.form.MaxFile, r.form.MaxCaption = 4<<20, 1024
		r.rules = []adapters.MirrorRule{usualRule(t)}
		r.start()
		r.begin("pb_1", "shell")
		r.print("pb_1", numbered(1, 20_000)...)
		r.pass(time.Minute)
		seen := r.platforms["a"].Seen("-1", "")
		if len(seen) != 1 || string(seen[0].Data) != strings.Join(numbered(1, 20_000), "\n")+"\n" {
			t.Fatalf("there are %d messages; the first has %d bytes", len(seen), len(seen[0].Data))
		}
		if want := strings.Join(numbered(1, 5), "\n") + "\n… 19985 lines …\n" + strings.Join(numbered(19_991, 20_000), "\n") + "\n[20000 lines are in the attached file]"; seen[0].Text != want {
			t.Errorf("beside it stands %q, want %q", seen[0].Text, want)
		}
	})
}

// One line of 60,000 characters is its ends, and so is one among others.
func TestAGiantLineIsItsEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{usualRule(t)}
		r.start()
		r.begin("pb_1", "shell")
		r.print("pb_1", strings.Repeat("x", 60_000)+strings.Repeat("y", 60_000))
		r.pass(time.Minute)
		r.wantTexts("a", "-1", strings.Repeat("x", 399)+"…\n… 118802 characters …\n…"+strings.Repeat("y", 799))
	})
}

// A secret that begins in the head and ends in what's left out isn't there, and neither is one that ends in the tail.
func TestNoSecretIsInTheEndsOfAnOutput(t *testing.T) {
	key := []string{"-----BEGIN RSA PRIVATE KEY-----"}
	for n := range 40 {
		key = append(key, fmt.Sprintf("MIIEpAIBAAKCAQEA7bq8vG2n5mKdkeptsecret%02d", n))
	}
	key = append(key, "-----END RSA PRIVATE KEY-----")
	for _, before := range []int{5, 20, 100} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			m, err := redact.New(redact.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.masker = m
			r.rules = []adapters.MirrorRule{usualRule(t)}
			r.start()
			r.begin("pb_1", "shell")
			r.print("pb_1", slices.Concat(numbered(1, before), key, numbered(before+1, 110))...)
			r.pass(time.Minute)
			shown := strings.Join(r.texts("a", "-1"), "\n")
			if strings.Contains(shown, "keptsecret") {
				t.Errorf("behind %d lines the chat shows %q", before, shown)
			}
			if !strings.Contains(shown, " lines …") {
				t.Errorf("nothing was left out: %q", shown)
			}
		})
	}
}

// foldStep is a step of a history of outputs.
type foldStep struct {
	what string
	seed uint64
}

// Whatever is printed in whatever pieces, of whatever length, over restarts, kills and outages: each line is shown once, in its
// order, or is one of those that the chat says it leaves out there.
func TestEveryLineIsShownOrCounted(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) foldStep {
			return foldStep{rapid.SampledFrom([]string{"print", "print", "print", "burst", "wide", "answer", "ends", "gap", "pass", "kill", "stop", "outage", "show"}).Draw(rt, "what"), rapid.Uint64().Draw(rt, "seed")}
		}), 3, 40).Draw(rt, "steps")
		seed := rapid.Uint64().Draw(rt, "seed")
		var wrong string
		synctest.Test(t, func(t *testing.T) {
			wrong = liveFolding(newRig(t, adaptertest.Options{NonceFor: 10 * time.Minute}), seed, steps)
		})
		if wrong != "" {
			rt.Fatalf("%s\n%v", wrong, steps)
		}
	})
}

func liveFolding(r *rig, seed uint64, steps []foldStep) string {
	rnd := rand.New(rand.NewPCG(seed, 5))
	r.form = adapters.Shape{MaxLen: []int{500, 2000, 4096}[rnd.IntN(3)], NonceFor: 9 * time.Minute, LiveRows: rnd.IntN(2) * 3}
	if rnd.IntN(2) == 0 {
		r.form.MaxFile, r.form.MaxCaption = 50<<20, rnd.IntN(2)*1024
	}
	r.rules = []adapters.MirrorRule{usualRule(r.T)}
	r.rules[0].Work.Output = []adapters.Length{"", "10", "60", adapters.LengthAll}[rnd.IntN(4)]
	r.start()
	r.begin("pb_1", []string{"agent-1", "shell"}[rnd.IntN(2)])
	var log []string
	prints := func(o adaptertest.Output, texts ...string) {
		for i := range texts {
			texts[i] = fmt.Sprintf("%d:%s", len(log)+1, texts[i])
			log = append(log, texts[i])
		}
		o.Lines = texts
		r.must(r.house.Print("pb_1", o))
	}
	for _, s := range steps {
		rnd := rand.New(rand.NewPCG(s.seed, 6))
		switch s.what {
		case "print":
			prints(adaptertest.Output{}, slices.Repeat([]string{strings.Repeat("ab ", rnd.IntN(20))}, rnd.IntN(12))...)
			r.pass(time.Duration(rnd.IntN(3000)) * time.Millisecond)
		case "burst":
			prints(adaptertest.Output{}, slices.Repeat([]string{"row"}, rnd.IntN(900))...)
		case "wide":
			prints(adaptertest.Output{}, strings.Repeat([]string{"x", "é", "👩‍👩‍👧‍👦", "\u0301"}[rnd.IntN(4)], rnd.IntN(9000)), "next")
		case "answer", "ends":
			o := adaptertest.Output{Ends: s.what == "ends"}
			if rnd.IntN(2) == 0 {
				o.Kind, o.Begins = sessions.KindAnswer, true
			}
			prints(o, slices.Repeat([]string{"said"}, 1+rnd.IntN(60))...)
		case "gap":
			prints(adaptertest.Output{Gap: &sessions.Gap{AtLeast: 2, Reason: "the screen was cleared"}}, "behind")
		case "pass":
			r.pass(time.Duration(rnd.IntN(60)) * time.Second)
		case "kill":
			r.diesBefore = rnd.IntN(2) == 0
			r.dies.Store(int64(1 + rnd.IntN(4)))
			r.pass(time.Duration(rnd.IntN(20)) * time.Second)
			r.dies.Store(0)
			r.process.Kill()
			r.stop()
			r.start()
		case "stop":
			r.stop()
			prints(adaptertest.Output{}, "while it was away")
			r.start()
		case "outage":
			kind := []adaptertest.FaultKind{adaptertest.Unconnected, adaptertest.Unanswered, adaptertest.Lost, adaptertest.ServerError}[rnd.IntN(4)]
			r.platforms["a"].SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: kind} })
			r.pass(time.Duration(rnd.IntN(90)) * time.Second)
			r.platforms["a"].SetFault(nil)
			r.pass(time.Minute)
		case "show":
			_, err := r.hub.BindAs(context.Background(), "pb_1", adapters.Target{Adapter: "a", Chat: "-1"}, adapters.BindingWish{
				Work: adapters.WorkShown{Output: []adapters.Length{"10", "30", adapters.LengthAll}[rnd.IntN(3)]},
			})
			r.must(err)
		}
	}
	r.platforms["a"].SetFault(nil)
	r.dies.Store(0)
	prints(adaptertest.Output{Ends: true}, "the end")
	r.pass(20 * time.Minute)
	wrong := readFolded(r.platforms["a"].Seen("-1", ""), log)
	r.stop()
	return wrong
}

var (
	leftLines = regexp.MustCompile(`^… (\d+) lines? …$`)
	leftChars = regexp.MustCompile(`^… (\d+) characters …$`)
	ownLine   = regexp.MustCompile(`^(?:done|\d+ turns done)(?: · .*)?$|^\[.*\]$`)
)

// readFolded goes through a chat, and says what's wrong with it as a view of a log's lines.
func readFolded(seen []adaptertest.Message, log []string) string {
	at, within := 0, 0 // the next line, and how many of its bytes were shown
	for _, m := range seen {
		text := m.Text
		if m.Data != nil {
			text = strings.TrimSuffix(string(m.Data), "\n")
		}
		rows := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return ownLine.MatchString(l) || l == "" })
		for i, row := range rows {
			next := func() string {
				if at >= len(log) {
					return ""
				}
				return log[at][within:]
			}
			if n := leftLines.FindStringSubmatch(row); n != nil {
				k, _ := strconv.Atoi(n[1])
				at, within = at+k, 0
				continue
			}
			if n := leftChars.FindStringSubmatch(row); n != nil {
				k, _ := strconv.Atoi(n[1])
				head, tail := strings.TrimSuffix(rows[i-1], "…"), strings.TrimPrefix(rows[i+1], "…")
				if len([]rune(next())) < k || !strings.HasPrefix(next(), head) {
					return fmt.Sprintf("message %s leaves out %d characters of %.60q", m.ID, k, next())
				}
				rest := string([]rune(strings.TrimPrefix(next(), head))[k:])
				if !strings.HasPrefix(rest, tail) {
					return fmt.Sprintf("message %s goes on with %.60q, want %.60q", m.ID, tail, rest)
				}
				if rest == tail {
					at, within = at+1, 0
				} else {
					within += len(next()) - len(rest) + len(tail)
				}
				continue
			}
			switch before := i > 0 && (leftLines.MatchString(rows[i-1]) || leftChars.MatchString(rows[i-1])); {
			case strings.TrimRight(next(), " ") == strings.TrimRight(row, " "):
				at, within = at+1, 0
			case before && strings.HasPrefix(row, "…") && (leftChars.MatchString(rows[i-1]) || at > 0 && strings.HasSuffix(log[at-1], strings.TrimPrefix(row, "…"))):
			case i+1 < len(rows) && strings.HasSuffix(row, "…") && strings.HasPrefix(next(), strings.TrimSuffix(row, "…")) && (leftLines.MatchString(rows[i+1]) || leftChars.MatchString(rows[i+1])):
			case i == len(rows)-1 && row != "" && strings.HasPrefix(next(), row):
				within += len(row)
			default:
				return fmt.Sprintf("message %s shows %.80q where line %d should be, %.80q", m.ID, row, at+1, next())
			}
		}
	}
	if at != len(log) {
		return fmt.Sprintf("line %d of %d is nowhere: %.80q", at+1, len(log), log[at])
	}
	return ""
}
