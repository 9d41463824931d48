package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

// promptTick is the cadence at which sessions are looked at.
const promptTick = time.Second

// check holds all that happened against what was answered and given.
func (k *promptRig) check() {
	k.Helper()
	for _, q := range k.questions {
		if q.kind != "review" {
			k.checkDone(q)
			k.checkTimes(q)
		}
	}
	submitted, reported := 0, 0
	for _, in := range k.inputs {
		k.refresh(in)
		k.Log(in)
		switch {
		case in.got > 1:
			k.Errorf("doubled: %s", in)
		case in.got == 1 && in.failed():
			k.Errorf("submitted, and said to have failed: %s", in)
		case in.got == 1:
			submitted++
		case in.failed(), in.special():
			reported++
		default:
			k.Errorf("lost: %s", in)
		}
	}
	k.checkFiles()
	for _, p := range k.seen.all() {
		if !slices.Contains(k.passing, p.ID) && !slices.ContainsFunc(k.questions, func(q *question) bool { return q.prompt.ID == p.ID }) {
			k.Errorf("a question that nobody had asked for: %+v", p)
		}
	}
	k.Logf("%d questions, %d inputs: %d submitted once, %d reported", len(k.questions), len(k.inputs), submitted, reported)
}

// ran says whether what a permission was asked for was done.
func (k *promptRig) ran(q *question) bool {
	_, err := os.Stat(filepath.Join(k.run.Cwd, agentlab.OrderFile(q.tag)))
	return err == nil
}

// checkDone holds what was done against what was answered.
func (k *promptRig) checkDone(q *question) {
	k.Helper()
	// It may have been found out later that the keyboard was first.
	tookBack := strings.Contains(k.seen.get(q.prompt.ID).Reason, "somebody at the pane was first")
	answered := q.prompt.State == sessions.PromptAnswered || tookBack
	byKeys := len(q.keys) > 0
	if want := !byKeys || q.how == "race" && q.err == nil; answered != want {
		k.Errorf("it's said to be answered: %t, want %t: %s", answered, want, q)
	}
	if q.kind == "run" || q.kind == "write" {
		want := !q.denied()
		if q.how == "race" {
			want = !answered || tookBack // the keyboard says yes, the other no
		}
		// Where the mark has to be moved for the one, the other's Enter may have taken what
		// was marked then: the refusal, if anything but a yes.
		between := q.how == "race" && strings.Contains(q.prompt.Reason, "while an answer was being given")
		if got := k.ran(q); got != want && !between {
			k.Errorf("done: %t, want %t: %s; results %q", got, want, q, k.run.Model.Results(q.tag))
		}
		return
	}
	var want []string
	choices := agentlab.OrderChoices(q.tag)
	for _, i := range q.options {
		want = append(want, choices[i])
	}
	switch {
	case q.text != "":
		want = []string{q.text}
	case byKeys && q.keys[0] == "Down":
		want = choices[1:2]
	}
	results := strings.Join(k.run.Model.Results(q.tag), "\n")
	for _, c := range append(choices, "free-"+q.tag) {
		if strings.Contains(results, c) != slices.Contains(want, c) {
			k.Errorf("the agent was told %q, want %q: %s", results, want, q)
			return
		}
	}
}

// checkTimes wants a dialog to be found within a tick of being drawn, or two of ours and
// to be closed within two of going away.
func (k *promptRig) checkTimes(q *question) {
	k.Helper()
	if load := machineLoad(); !(stateScore{load: load}).counts() {
		k.Logf("the machine had a load of %.1f, so these times don't count: %s", load, q.tag)
		return
	}
	const spare = 300 * time.Millisecond // of the test's own looks
	if q.found > 2*promptTick+spare {
		k.Errorf("found %s after it was drawn: %s", q.found, q)
	}
	if q.closed > 2*promptTick+spare {
		k.Errorf("closed %s after it had gone: %s", q.closed, q)
	}
	if q.discord > 2*promptTick+spare {
		k.Errorf("closed in Discord %s after it was told: %s", q.discord, q)
	}
	if q.telegram > 2*promptTick+spare && !q.budget {
		k.Errorf("closed in Telegram %s after it was told: %s", q.telegram, q)
	}
}

// checkFiles wants nothing to have been done that wasn't asked for.
func (k *promptRig) checkFiles() {
	k.Helper()
	files, err := filepath.Glob(filepath.Join(k.run.Cwd, agentlab.OrderFile("*")))
	k.must(err)
	for _, f := range files {
		if !slices.ContainsFunc(k.questions, func(q *question) bool { return filepath.Base(f) == agentlab.OrderFile(q.tag) }) {
			k.Errorf("%s was made, and nobody was asked", f)
		}
	}
}
