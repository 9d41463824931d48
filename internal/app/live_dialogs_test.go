package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// liveDialogTimes is how often each agent asks several questions in one call.
func liveDialogTimes() int {
	if drawtest.Stressed() {
		return 20
	}
	return 4
}

// Real agents ask several questions in one call, of some of which any number of options may
// be chosen: each is found within a tick of being drawn, offers what's drawn, is answered
// from here and from Telegram, and closed everywhere; the agent is told just that.
func TestLiveSeveralQuestions(t *testing.T) { eachLiveAgent(t, liveSeveral) }

func liveSeveral(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	var k *promptRig
	if name == "gemini" { // which shows a part of a list; its hooks tell the rest
		k = promptRigOf(t, liveMode{agent: name, width: 100, height: 40, hooks: true, orders: true}, random)
	} else {
		k = beginPromptRig(t, name, random)
	}
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !k.asks() {
		t.Skip("it asks nothing")
	}
	for range liveDialogTimes() {
		if !t.Failed() {
			k.askSeveral()
		}
	}
}

// askSeveral has the agent ask, and answers until it has been told.
func (k *promptRig) askSeveral() {
	k.Helper()
	o := k.word("several")
	k.plain(momentIdle, o)
	choices := agentlab.OrderChoices(o.tag)
	asked := map[string]bool{} // prompts that were answered
	want := map[int][]string{} // what was chosen, by question
	for end := time.Now().Add(2 * patience); len(k.run.Model.Results(o.tag)) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			k.Errorf("%s isn't answered; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
			return
		}
		i := slices.IndexFunc(k.seen.open(), func(p api.Prompt) bool { return p.State == sessions.PromptOpen && !asked[p.ID] })
		if i < 0 {
			continue
		}
		p := k.seen.open()[i]
		if !k.stays(p, false) {
			continue
		}
		asked[p.ID] = true
		q := &question{kind: "several", tag: p.Title, prompt: p, how: []string{"api", "telegram"}[k.random.IntN(2)]}
		nth := -1
		switch {
		case strings.HasPrefix(p.Title, "Which way should"):
			nth = 0
		case strings.HasPrefix(p.Title, "And which should"):
			nth = 1
		case p.Kind == sessions.PromptUnread:
			k.Errorf("%s isn't recognised; screen:\n%s", o, p.Body)
			return
		}
		offered := labels(p)
		switch {
		case nth < 0: // whether all is right
			q.kind, q.how, q.options = "review", "api", []int{0}
		case !slices.Equal(offered[:min(3, len(offered))], choices):
			k.Errorf("%s: the options are %q", o, offered)
			return
		case p.Multi:
			for n := range 3 {
				if k.random.IntN(2) == 0 || n == 2 && len(q.options) == 0 {
					q.options = append(q.options, n)
				}
			}
		default:
			q.options = []int{k.random.IntN(3)}
		}
		for _, n := range q.options {
			want[nth] = append(want[nth], choices[n])
		}
		if q.how == "telegram" {
			k.answerTelegram(q)
		} else {
			k.answerHere(q)
		}
		if q.err != nil {
			k.Errorf("%s: %v; screen:\n%s", q, q.err, k.screen(k.Context()))
			return
		}
		if nth >= 0 {
			k.foundInTime(q)
		}
	}
	k.calm()
	results := strings.Join(k.run.Model.Results(o.tag), "\n")
	for _, c := range choices {
		n := 0
		for nth := range 2 {
			if slices.Contains(want[nth], c) {
				n++
			}
		}
		if (n > 0) != strings.Contains(results, c) {
			k.Errorf("%s: chosen %v, but it was told %q", o, want, results)
		}
	}
	if open := k.seen.open(); len(open) > 0 || len(want) < 2 {
		k.Errorf("%s: chosen %v, still open %+v", o, want, open)
	}
}

// foundInTime wants a question to have been found within a tick of its words' being drawn.
func (k *promptRig) foundInTime(q *question) {
	k.Helper()
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	var came, drawn time.Time
	for _, p := range k.seen.prompts {
		if p.ID == q.prompt.ID {
			came = p.came
		}
	}
	title := strings.Join(strings.Fields(q.prompt.Title), " ")
	for _, s := range k.seen.screens {
		switch {
		case !s.at.Before(came):
		case !strings.Contains(s.text, title):
			drawn = time.Time{} // one with the same title was there before
		case drawn.IsZero():
			drawn = s.at
		}
	}
	if drawn.IsZero() { // it was found before it was seen here
		drawn = came
	}
	took := came.Sub(drawn)
	k.Logf("%s: found %s after it was drawn", q, took.Round(time.Millisecond))
	if load := machineLoad(); took > promptTick+500*time.Millisecond && (stateScore{load: load}).counts() {
		k.Errorf("%s: found %s after it was drawn", q, took)
	}
}
