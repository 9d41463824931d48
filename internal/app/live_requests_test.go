package app_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// What opencode asks is answered by its own request: permissions, changes of files, questions,
// what a sub-agent asks and two at once, from here and from chats; the dialog stands and takes
// keys meanwhile, and where those came first that's said.
func TestLiveRequests(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "opencode" {
			t.Skip("it takes no answers by requests")
		}
		k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
		if err := k.run.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name string
			play func(t *testing.T)
		}{
			{"permissions", k.requestPermissions},
			{"questions", k.requestQuestions},
			{"several questions", k.requestSeveral},
			{"two at once", k.requestTwo},
			{"a sub-agent", k.requestSub},
			{"keys first", k.requestLate},
		} {
			if !t.Run(step.name, step.play) {
				break
			}
		}
	})
}

// What's allowed for good goes by the request, too, after sub-agents that asked for the same
// as well.
func TestLiveRequestForGood(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if name != "opencode" {
			t.Skip("it takes no answers by requests")
		}
		k := promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
		if err := k.run.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		k.requestSub(t)
		k.requestAlways(t)
	})
}

// request has the agent ask, and waits until what's asked can be answered by its request.
func (k *promptRig) request(t *testing.T, kind string) *question {
	t.Helper()
	o := k.word(kind)
	k.plain(momentIdle, o)
	q := &question{kind: kind, tag: o.tag, how: "api"}
	if kind == "sub" {
		q.tag = agentlab.OrderSub(o.tag)
	}
	k.awaitRequest(t, q)
	return q
}

func (k *promptRig) awaitRequest(t *testing.T, q *question) {
	t.Helper()
	if !k.comes(q) {
		t.Fatalf("no question; screen:\n%s", k.screen(k.Context()))
	}
	k.questions = append(k.questions, q)
	k.until("hook that waits", q, func() bool { return k.waitingRequests() > 0 })
	k.until("record", q, func() bool {
		all, err := k.api.Prompts(k.Context())
		k.must(err)
		i := slices.IndexFunc(all, func(p api.Prompt) bool {
			return p.ID == q.prompt.ID && (p.Kind != sessions.PromptPermission || p.Text != "")
		})
		if i >= 0 {
			q.prompt = all[i]
		}
		return i >= 0
	})
}

// byRequest answers, and wants that to have been done without keys.
func (k *promptRig) byRequest(t *testing.T, q *question) {
	t.Helper()
	before := k.byHook()
	switch q.how {
	case "telegram":
		k.answerTelegram(q)
	case "discord":
		k.answerDiscord(q)
	default:
		k.answerHere(q)
	}
	if q.err != nil {
		t.Errorf("%s: %v", q, q.err)
	}
	k.settles(q)
	if n := k.byHook() - before; n != 1 || q.prompt.State != sessions.PromptAnswered {
		t.Errorf("%s: answered by %d requests", q, n)
	}
}

func (k *promptRig) requestPermissions(t *testing.T) {
	t.Helper()
	for _, how := range []string{"api", "telegram", "discord"} {
		for _, kind := range []string{"run", "write"} {
			q := k.request(t, kind)
			q.how, q.options = how, []int{k.random.IntN(2) * 2} // once, or reject
			k.byRequest(t, q)
			k.calm()
			if got, want := k.ran(q), q.options[0] == 0; got != want {
				t.Errorf("%s: done %t, want %t", q, got, want)
			}
		}
	}
	q := k.request(t, "run")
	q.text = "write it down instead, " + q.tag
	k.byRequest(t, q)
	k.calm()
	if results := strings.Join(k.run.Model.Results(q.tag), "\n"); !strings.Contains(results, q.text) || k.ran(q) {
		t.Errorf("%s: the model was told %q", q, results)
	}
}

func (k *promptRig) requestQuestions(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"ask", "multi", "text"} {
		q := k.request(t, strings.Replace(kind, "text", "ask", 1))
		choices := agentlab.OrderChoices(q.tag)
		var want []string
		switch kind {
		case "ask":
			q.options, want = []int{1}, choices[1:2]
		case "multi":
			q.how, q.options, want = "telegram", []int{0, 2}, []string{choices[0], choices[2]}
		default:
			q.text = "free-" + q.tag
			want = []string{q.text}
		}
		k.byRequest(t, q)
		k.calm()
		k.wantTold(t, q, want)
	}
}

// wantTold wants the model to have been told these choices and no others.
func (k *promptRig) wantTold(t *testing.T, q *question, want []string) {
	t.Helper()
	results := strings.Join(k.run.Model.Results(q.tag), "\n")
	for _, c := range append(agentlab.OrderChoices(q.tag), want...) {
		if strings.Contains(results, c) != slices.Contains(want, c) {
			t.Errorf("%s: the model was told %q, want %q", q, results, want)
		}
	}
}

func (k *promptRig) requestSeveral(t *testing.T) {
	t.Helper()
	for _, how := range []string{"api", "telegram", "text"} {
		first := k.request(t, "several")
		second := &question{kind: "several", tag: first.tag, how: how}
		choices := agentlab.OrderChoices(first.tag)
		k.until("the second question beside it", first, func() bool {
			all, err := k.api.Prompts(k.Context())
			k.must(err)
			return slices.ContainsFunc(all, func(p api.Prompt) bool {
				return p.ID == first.prompt.ID && strings.Contains(p.Body, "And which should "+first.tag)
			})
		})
		first.options = []int{1}
		k.answerHere(first)
		k.settles(first)
		k.until("second question", second, func() bool {
			open := k.seen.open()
			if len(open) == 1 {
				second.prompt = open[0]
			}
			return len(open) == 1 && open[0].ID != first.prompt.ID
		})
		if shown := k.screen(k.Context()); !strings.Contains(shown, "Which way should "+first.tag) {
			t.Errorf("keys were pressed; screen:\n%s", shown)
		}
		want := []string{choices[1], choices[0], choices[2]}
		if how == "text" {
			second.text = "as you like it, " + first.tag
			want = []string{choices[1], second.text}
		} else {
			second.options = []int{0, 2}
		}
		k.byRequest(t, second)
		k.calm()
		k.wantTold(t, second, want)
	}
}

// Of two calls that are asked about at once each answer goes to its own.
func (k *promptRig) requestTwo(t *testing.T) {
	t.Helper()
	for range 3 {
		o := k.word("two")
		k.plain(momentIdle, o)
		second := &question{kind: "run", tag: o.tag + "2", pair: true, how: "api"}
		first := &question{kind: "run", tag: o.tag + "1", pair: true, how: "api", other: second}
		for _, q := range []*question{first, second} {
			k.awaitRequest(t, q)
			q.options = []int{0}
			if q == second && k.random.IntN(2) == 0 {
				q.options[0] = 2
			}
			k.byRequest(t, q)
		}
		k.calm()
		for _, q := range []*question{first, second} {
			if got, want := k.ran(q), q.options[0] == 0; got != want {
				t.Errorf("%s: done %t, want %t", q, got, want)
			}
		}
	}
}

func (k *promptRig) requestSub(t *testing.T) {
	t.Helper()
	for _, option := range []int{0, 2} {
		q := k.request(t, "sub")
		q.options = []int{option}
		k.byRequest(t, q)
		k.calm()
		if got := k.ran(q); got != (option == 0) {
			t.Errorf("%s: done %t", q, got)
		}
	}
	q := k.request(t, "sub")
	q.text = "leave it, " + q.tag
	k.byRequest(t, q)
	k.calm()
	if k.ran(q) {
		t.Errorf("%s: it was done", q)
	}
}

// A person's key comes before an answer that's on its way: what the key says counts, and who
// answered is told so.
func (k *promptRig) requestLate(t *testing.T) {
	t.Helper()
	q := k.request(t, "run")
	waits := k.requestProcesses()
	for _, pid := range waits {
		k.must(syscall.Kill(pid, syscall.SIGSTOP))
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	}
	before := k.byHook()
	q.options = []int{2}
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.answerHere(q)
	}()
	k.until("answer on its way", q, func() bool { return k.byHook() > before })
	k.must(k.run.Keys(k.Context(), k.run.Agent.Approve...))
	<-done
	if q.err == nil || !strings.Contains(q.err.Error(), "nothing was answered") {
		t.Errorf("%s: who answered is told %v", q, q.err)
	}
	k.settles(q)
	if q.prompt.State != sessions.PromptClosed {
		t.Errorf("%s isn't closed", q)
	}
	k.calm()
	if !k.ran(q) {
		t.Errorf("%s: it wasn't done", q)
	}
}

// What's allowed for good is what the dialog names, and goes by the request that names the same.
func (k *promptRig) requestAlways(t *testing.T) {
	t.Helper()
	q := k.request(t, "run")
	q.options = []int{1}
	before := k.byHook()
	k.answerHere(q)
	k.settles(q)
	if k.byHook() != before {
		t.Errorf("%s: it was allowed without its patterns' being shown", q)
	}
	sure := &question{kind: "always", tag: "*", how: "api"}
	k.until("dialog with the patterns", sure, func() bool {
		open := k.seen.open()
		if len(open) == 1 {
			sure.prompt = open[0]
		}
		return len(open) == 1 && strings.Contains(open[0].Body, "echo *")
	})
	time.Sleep(time.Second)
	sure.options = []int{0}
	k.answerHere(sure)
	if sure.err != nil || k.byHook() != before+1 {
		t.Errorf("%s: answered by %d requests", sure, k.byHook()-before)
	}
	k.calm()
	o := k.word("run")
	k.plain(momentIdle, o)
	k.until("that it's done without a question", sure, func() bool { return k.ran(&question{tag: o.tag}) })
	if !k.ran(q) || len(k.seen.open()) > 0 {
		t.Errorf("%s: done %t, open %v", q, k.ran(q), k.seen.open())
	}
}

// waitingRequests are the hooks that wait for an answer to a request.
func (k *promptRig) waitingRequests() int { return len(k.requestProcesses()) }

func (k *promptRig) requestProcesses() (pids []int) {
	k.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	k.must(err)
	for _, path := range all {
		line, _ := os.ReadFile(path) // it may have ended
		if strings.Contains(string(line), "--wait") && strings.Contains(string(line), ".asked") && strings.Contains(string(line), k.dir) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			k.must(err)
			pids = append(pids, pid)
		}
	}
	return pids
}
