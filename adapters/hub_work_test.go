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
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// call has a session call a tool, and the tool return.
func (r *rig) call(id sessions.ID, name string, n int, failed bool) {
	r.Helper()
	call := sessions.ToolPart{Part: sessions.ToolCall, Call: fmt.Sprint(n), Name: name}
	r.must(r.house.Print(id, adaptertest.Output{Lines: []string{fmt.Sprintf("⚙ %s: c%d", name, n)}, Kind: sessions.KindTool, Begins: true, Tool: &call}))
	mark := "  "
	if failed {
		mark = "✗ "
	}
	result := sessions.ToolPart{Part: sessions.ToolReturned, Call: fmt.Sprint(n), Name: name, Failed: failed}
	r.must(r.house.Print(id, adaptertest.Output{Lines: []string{mark + fmt.Sprintf("r%d", n), "  more of it"}, Kind: sessions.KindTool, Begins: true, Tool: &result}))
}

// answer has a session's agent say something.
func (r *rig) answer(id sessions.ID, ends bool, lines ...string) {
	r.Helper()
	r.must(r.house.Print(id, adaptertest.Output{Lines: lines, Kind: sessions.KindAnswer, Begins: true, Ends: ends}))
}

func workRule(t *testing.T, tools adapters.Extent) adapters.MirrorRule {
	t.Helper()
	mirror := rule(t, "*", "a:-1")
	mirror.Work.Tools = tools
	return mirror
}

// The calls of a turn are one line that grows, however many they are, and few calls to the platform.
func TestAHundredCallsOfToolsAreOneLine(t *testing.T) {
	for _, every := range []time.Duration{200 * time.Millisecond, time.Second, 7 * time.Second} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			r.rules = []adapters.MirrorRule{workRule(t, adapters.ExtentBrief)}
			r.form.LiveRows = 3
			r.start()
			r.begin("pb_1", "agent-1")
			for n := range 100 {
				r.must(r.house.Print("pb_1", adaptertest.Output{Known: &sessions.Live{Known: true, Status: fmt.Sprint("working ", n)}}))
				r.call("pb_1", []string{"Read", "Bash", "Edit", "Read"}[n%4], n, n == 40)
				r.pass(every)
			}
			r.must(r.house.Print("pb_1", adaptertest.Output{Known: &sessions.Live{Known: true}}))
			r.answer("pb_1", true, "All of it is done now.")
			r.pass(time.Minute)
			r.wantTexts("a", "-1", "⚙ read 50 files, ran 25 commands, edited 25 files · 1 failed", "All of it is done now.\ndone · "+took(100*every))
			arrivals := r.platforms["a"].Arrivals()
			if worst := adaptertest.Worst(arrivals, time.Minute, func(adaptertest.Call) bool { return true }); worst > 6 {
				t.Errorf("with a call of a tool each %v there were up to %d calls to the platform a minute", every, worst)
			}
			sent := 0
			for _, a := range arrivals {
				if a.Call.Method == adaptertest.Send {
					sent++
				}
			}
			if sent != 2 {
				t.Errorf("%d messages were sent, want one for the work and one that rings", sent)
			}
			t.Logf("a call of a tool each %v: %d calls to the platform in all, at most %d a minute", every, len(arrivals), adaptertest.Worst(arrivals, time.Minute, func(adaptertest.Call) bool { return true }))
		})
	}
}

// took is how long a turn took, as its end says.
func took(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	if s := d % time.Minute / time.Second; s > 0 {
		return fmt.Sprintf("%d min %d s", d/time.Minute, s)
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}

// Where no work is shown, answers alone are.
func TestWithoutWorkAnswersAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{workRule(t, adapters.ExtentNone)}
		r.rules[0].Work.Prompts = adapters.ExtentNone
		r.start()
		r.begin("pb_1", "agent-1")
		r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"do it"}, Kind: sessions.KindUser, Begins: true, Author: "Ada"}))
		r.answer("pb_1", false, "I look first.")
		for n := range 100 {
			r.call("pb_1", "Bash", n, false)
			r.pass(3 * time.Second)
		}
		r.answer("pb_1", true, "It's done.")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "I look first.", "It's done.\ndone · 5 min")
		if n := len(r.platforms["a"].Arrivals()); n != 2 {
			t.Errorf("there were %d calls to the platform", n)
		}
	})
}

// What's between calls of tools, what interrupts them, and a second turn, have lines of their own.
func TestWorkIsCountedWhereItWasDone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{workRule(t, adapters.ExtentBrief)}
		r.start()
		r.begin("pb_1", "agent-1")
		calls := func(from, to int) {
			for n := from; n < to; n++ {
				r.call("pb_1", "Bash", n, false)
				r.pass(time.Second)
			}
		}
		calls(0, 5)
		r.answer("pb_1", false, "Now the next part.")
		r.pass(5 * time.Second)
		calls(5, 7)
		r.must(r.hub.Post(adapters.Post{To: adapters.Target{Adapter: "a", Chat: "-1"}, Key: "q", Class: qos.Interactive, Session: "pb_1", Text: "May I?", Behind: true, Ring: true}))
		r.pass(time.Second)
		calls(7, 9)
		r.answer("pb_1", true, "That's it.")
		r.pass(time.Minute)
		calls(9, 10)
		r.ends("pb_1")
		r.pass(time.Minute)
		r.wantTexts(
			"a", "-1", "⚙ ran 5 commands\nNow the next part.\n⚙ ran 2 commands", "May I?", "⚙ ran 2 commands\nThat's it.\ndone · 15 s",
			"⚙ ran 1 command", "done · 1 s",
		)
	})
}

// What a session's pane prints is of no kind: it's shown whatever is said of work.
func TestWhatAPaneShowsIsNoWork(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{workRule(t, adapters.ExtentNone)}
		r.start()
		r.begin("pb_1", "agent-1")
		r.print("pb_1", "$ make", "cc -o x x.c")
		r.ends("pb_1", "ok")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "$ make\ncc -o x x.c", "ok\ndone · less than 1 s")
	})
}

// workStep is something that happens in a drawn history.
type workStep struct {
	what string
	seed uint64
}

func (s workStep) String() string { return s.what }

var likelyWork = []struct {
	what   string
	weight int
}{
	{"call", 60},
	{"answer", 12},
	{"ends", 6},
	{"pass", 20},
	{"minute", 4},
	{"question", 3},
	{"write", 3},
	{"show", 3},
	{"kill", 4},
	{"stop", 2},
	{"delete", 2},
	{"freeze", 2},
	{"prompt", 3},
	{"outage", 2},
}

func drawWorkStep(seed uint64) workStep {
	rnd := rand.New(rand.NewPCG(seed, 1))
	sum := 0
	for _, l := range likelyWork {
		sum += l.weight
	}
	n := rnd.IntN(sum)
	for _, l := range likelyWork {
		if n -= l.weight; n < 0 {
			return workStep{l.what, rnd.Uint64()}
		}
	}
	panic("weights")
}

// What's shown and what's counted is what was done, and answers are there once, whatever happens meanwhile: people who
// write there, questions, changes of what's shown, kills, messages that are deleted or too old, a platform that's out of reach.
func TestWhatIsShownAndCountedIsWhatWasDone(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(400, 40, 5), func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		var steps []workStep
		for i, leave := range rapid.SliceOfN(rapid.IntRange(0, 9), 20, 150).Draw(rt, "left out") {
			if leave > 0 { // so that shrinking can leave steps out
				steps = append(steps, drawWorkStep(seed+uint64(i)))
			}
		}
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			wrong = liveWork(newRig(t, adaptertest.Options{NonceFor: 10 * time.Minute}), seed, steps)
		})
		for _, w := range wrong {
			rt.Error(w)
		}
		if len(wrong) > 0 {
			rt.Logf("%v", steps)
		}
	})
}

// workLife is a history that's being lived.
type workLife struct {
	*rig
	calls, failed, answers, prompts int
	nothing                         bool     // there was a time when nothing of the work was shown
	gone                            []string // texts of messages that people deleted
	asked                           map[string]int
}

func liveWork(r *rig, seed uint64, steps []workStep) []string {
	rnd := rand.New(rand.NewPCG(seed, 2))
	l := &workLife{rig: r, asked: map[string]int{}}
	r.form = adapters.Shape{MaxLen: []int{500, 4096}[rnd.IntN(2)], NonceFor: 9 * time.Minute}
	if rnd.IntN(2) == 0 {
		r.form.MaxFile, r.form.MaxCaption = 50<<20, 1024
	}
	r.form.LiveRows = rnd.IntN(2) * 3
	r.rules = []adapters.MirrorRule{workRule(r.T, []adapters.Extent{"", adapters.ExtentAll, adapters.ExtentBrief, adapters.ExtentBrief, adapters.ExtentBrief}[rnd.IntN(5)])}
	r.rules[0].Work.Prompts = []adapters.Extent{"", adapters.ExtentBrief}[rnd.IntN(2)]
	r.start()
	r.begin("pb_1", "agent-1")
	for _, s := range steps {
		l.step(s.what, rand.New(rand.NewPCG(s.seed, 3)))
	}
	r.platforms["a"].SetFault(nil)
	r.dies.Store(0)
	l.answers++
	r.answer("pb_1", true, fmt.Sprintf("answer %d.", l.answers))
	r.pass(20 * time.Minute)
	wrong := l.compare()
	r.stop()
	return wrong
}

func (l *workLife) step(what string, rnd *rand.Rand) {
	p, here := l.platforms["a"], adapters.Target{Adapter: "a", Chat: "-1"}
	switch what {
	case "call":
		failed := rnd.IntN(8) == 0
		if failed {
			l.failed++
		}
		l.call("pb_1", []string{"Read", "Bash", "Edit"}[rnd.IntN(3)], l.calls, failed)
		l.calls++
		l.pass(time.Duration(rnd.IntN(4000)) * time.Millisecond)
	case "answer", "ends":
		l.answers++
		l.answer("pb_1", what == "ends", fmt.Sprintf("answer %d.", l.answers))
	case "prompt":
		l.prompts++
		l.must(l.house.Print("pb_1", adaptertest.Output{Lines: []string{fmt.Sprintf("prompt %d.", l.prompts)}, Kind: sessions.KindUser, Begins: true, Author: "Ada", Origin: "b:-3"}))
	case "write":
		l.must(l.house.Print("pb_1", adaptertest.Output{Lines: []string{"and this"}, Kind: sessions.KindUser, Begins: true, Author: "Bo", Origin: "a:-1"}))
	case "pass":
		l.pass(time.Duration(rnd.IntN(20)) * time.Second)
	case "minute":
		l.pass(time.Minute)
	case "question":
		name := fmt.Sprintf("question %d?", len(l.asked))
		l.asked[name] = l.calls
		l.must(l.hub.Post(adapters.Post{To: here, Key: name, Class: qos.Interactive, Session: "pb_1", Text: name, Behind: true, Ring: true}))
		l.pass(3 * time.Minute) // a post isn't kept over a kill
	case "show":
		work := adapters.WorkShown{Tools: []adapters.Extent{adapters.ExtentAll, adapters.ExtentBrief, adapters.ExtentBrief, adapters.ExtentNone}[rnd.IntN(4)]}
		_, err := l.hub.BindAs(context.Background(), "pb_1", here, adapters.BindingWish{Work: work})
		l.must(err)
		l.nothing = l.nothing || work.Tools == adapters.ExtentNone
	case "kill":
		l.diesBefore = rnd.IntN(2) == 0
		l.dies.Store(int64(1 + rnd.IntN(4)))
		l.pass(time.Duration(rnd.IntN(60)) * time.Second)
		l.dies.Store(0)
		l.process.Kill()
		l.stop()
		l.start()
	case "stop":
		l.stop()
		l.call("pb_1", "Bash", l.calls, false)
		l.calls++
		l.start()
	case "delete", "freeze":
		seen := p.Seen("-1", "")
		if len(seen) == 0 {
			return
		}
		m := seen[len(seen)-1]
		if what == "freeze" {
			p.FreezeMessage("-1", m.ID)
			return
		}
		l.gone = append(l.gone, shownText(m))
		p.DeleteMessage("-1", m.ID)
	case "outage":
		kind := []adaptertest.FaultKind{adaptertest.Unconnected, adaptertest.Unanswered, adaptertest.Lost, adaptertest.ServerError}[rnd.IntN(4)]
		p.SetFault(func(adaptertest.Call) adaptertest.Fault { return adaptertest.Fault{Kind: kind} })
		l.pass(time.Duration(rnd.IntN(90)) * time.Second)
		p.SetFault(nil)
		l.pass(time.Minute)
	}
}

// shownText is what a message shows of the log: of one with a file, what's in that.
func shownText(m adaptertest.Message) string {
	if m.Data != nil {
		return string(m.Data)
	}
	return m.Text
}

var (
	countedCalls = regexp.MustCompile(`(\d+) (?:files?|commands?)\b`)
	countedFails = regexp.MustCompile(`(\d+) failed`)
	askedTimes   = regexp.MustCompile(`was asked (?:(once)|(\d+) times)`)
	shownCall    = regexp.MustCompile(`(?m)^⚙ \w+: c\d+$`)
	shownFail    = regexp.MustCompile(`(?m)^✗ r\d+$`)
	shownPrompt  = regexp.MustCompile(`prompt (\d+)\.`)
	shownAnswer  = regexp.MustCompile(`(?m)^answer (\d+)\.$`)
)

func sumOf(re *regexp.Regexp, text string) (n int) {
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		number := m[len(m)-1]
		if number == "" {
			number = "1" // once
		}
		k, _ := strconv.Atoi(number)
		n += k
	}
	return n
}

// compare says what's wrong with what a person sees.
func (l *workLife) compare() (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	texts := slices.Clone(l.gone)
	calls := 0
	for _, m := range l.platforms["a"].Seen("-1", "") {
		text := shownText(m)
		texts = append(texts, text)
		if want, asked := l.asked[text]; asked && calls < want && !l.nothing && len(l.gone) == 0 {
			fail("above %q there are %d calls, want %d", text, calls, want)
		}
		calls += sumOf(countedCalls, text) + len(shownCall.FindAllString(text, -1))
	}
	all := strings.Join(texts, "\n")
	if n := sumOf(countedCalls, all) + len(shownCall.FindAllString(all, -1)); n > l.calls || n < l.calls && !l.nothing {
		fail("%d calls are shown or counted, want %d", n, l.calls)
	}
	if n := sumOf(countedFails, all) + len(shownFail.FindAllString(all, -1)); n > l.failed || n < l.failed && !l.nothing {
		fail("%d failures are shown or counted, want %d", n, l.failed)
	}
	if n := sumOf(askedTimes, all) + len(shownPrompt.FindAllString(all, -1)); n != l.prompts {
		fail("%d prompts are shown or counted, want %d", n, l.prompts)
	}
	times := map[string]int{}
	for _, m := range shownAnswer.FindAllStringSubmatch(all, -1) {
		times[m[1]]++
	}
	for n := 1; n <= l.answers; n++ {
		if k := times[strconv.Itoa(n)]; k != 1 {
			fail("answer %d is there %d times", n, k)
		}
	}
	if len(wrong) > 0 {
		fail("the chat shows %q, and was deleted %q", texts[len(l.gone):], l.gone)
	}
	return wrong
}

// A change of what's shown is of what comes: what a message shows stays, also if it's made again after a kill, and what wasn't
// to be seen before isn't then.
func TestAChangeOfWhatIsShownIsOfWhatComes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{workRule(t, adapters.ExtentBrief)}
		r.start()
		r.begin("pb_1", "agent-1")
		n := 0
		calls := func(count int) {
			for range count {
				r.call("pb_1", "Bash", n, false)
				n++
				r.pass(time.Second)
			}
			r.pass(20 * time.Second)
		}
		show := func(e adapters.Extent) {
			_, err := r.hub.BindAs(context.Background(), "pb_1", adapters.Target{Adapter: "a", Chat: "-1"}, adapters.BindingWish{Work: adapters.WorkShown{Tools: e}})
			r.must(err)
		}
		calls(3)
		show(adapters.ExtentAll)
		calls(1)
		show(adapters.ExtentNone)
		calls(2)
		show(adapters.ExtentBrief)
		calls(2)
		r.process.Kill()
		r.stop()
		r.start()
		calls(1)
		r.wantTexts("a", "-1", "⚙ ran 3 commands", "⚙ Bash: c3\n  r3\n  more of it", "⚙ ran 2 commands", "⚙ ran 1 command")
	})
}

// However long a turn is, its work is counted: by another message when one is about too many lines to be read for each call.
func TestAnEndlessTurnIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{workRule(t, adapters.ExtentBrief)}
		r.form.MaxFile, r.form.MaxCaption = 50<<20, 1024
		r.start()
		r.begin("pb_1", "agent-1")
		const calls = 2000
		for n := range calls {
			r.call("pb_1", "Bash", n, false)
			r.pass(100 * time.Millisecond)
		}
		r.ends("pb_1")
		r.pass(time.Minute)
		texts := r.texts("a", "-1")
		if n := sumOf(countedCalls, strings.Join(texts, "\n")); n != calls || len(texts) != 3 {
			t.Errorf("%d calls are counted in %q", n, texts)
		}
	})
}
