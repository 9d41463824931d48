package app_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// liveMoments is at how many moments each agent gets mail.
func liveMoments() int {
	if drawtest.Stressed() {
		return 40
	}
	return 6
}

// Real agent programs get mail while they start, are idle or at work or ask for something,
// and while a person's text stands half-typed in their input boxes. Each mail is announced
// by one preview, which the model gets as it was typed: none answers a question, and none
// is submitted together with what somebody else has written.
func TestLivePreviews(t *testing.T) { eachLiveAgent(t, livePreviews) }

func livePreviews(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	k := newMailRig(t, name, random)
	for n := 0; n < liveMoments() && !t.Failed(); n++ {
		k.moment()
	}
	k.checkMails()
	k.check()
	if t.Failed() {
		k.Logf("screen:\n%s", k.screen(k.Context()))
	}
}

// mailRig is an agent that asks, is written to by a person at its keyboard, and gets
// mail.
type mailRig struct {
	*promptRig
	db     *store.Inbox
	box    inbox.PostOffice
	all    inbox.Parties
	from   sessions.ID
	mails  map[string]string // tags by the ids of mails
	halves map[string]bool   // what a person typed, and whether it was submitted
}

func newMailRig(t *testing.T, name string, random *rand.Rand) *mailRig {
	t.Helper()
	k := &mailRig{promptRig: beginPromptRig(t, name, random), mails: map[string]string{}, halves: map[string]bool{}}
	out, err := k.api.Adopt(k.ctx(), api.Create{Tmux: "keep"})
	k.must(err)
	k.from = out[0].ID
	k.db, k.box = mailOf(k.daemon)
	k.all, err = k.db.Parties(k.ctx())
	k.must(err)
	k.mail()
	k.must(k.run.Ready(t.Context()))
	k.rest()
	return k
}

// mail sends the agent one, whose text is an order to the model.
func (k *mailRig) mail() {
	k.Helper()
	o := k.word("say")
	sent, err := k.box.Send(k.ctx(), k.all, inbox.Address(k.from), inbox.Address(k.id), "Please "+o.String()+" for me")
	k.must(err)
	k.mails[sent.Mail.ID] = o.tag
	k.Logf("%s mail %s %s: %t %s", time.Now().Format(clock), sent.Mail.ID, o.tag, sent.NotificationSent, sent.Reason)
}

// pause is for as long as it takes something to go wrong.
func (k *mailRig) pause(most time.Duration) {
	time.Sleep(time.Duration(k.random.Int64N(int64(most))))
}

// moment has the agent do something, and sends mail meanwhile.
func (k *mailRig) moment() {
	k.Helper()
	kinds := []string{"idle", "busy", "half", "half", "dialog", "dialog"}
	if !k.asks() {
		kinds = kinds[:4]
	}
	switch kinds[k.random.IntN(len(kinds))] {
	case "idle":
		k.mail()
	case "busy":
		k.busy()
		for range 1 + k.random.IntN(3) {
			k.mail()
			k.pause(time.Second)
		}
	case "half":
		k.half()
	case "dialog":
		o := k.word([]string{"run", "write", "ask"}[k.random.IntN(3)])
		k.plain(momentIdle, o)
		if k.random.IntN(2) == 0 {
			k.mail() // before it asks
		}
		q := &question{kind: o.kind, tag: o.tag}
		if !k.comes(q) {
			k.Errorf("no question of %s; screen:\n%s", o, k.screen(k.Context()))
			return
		}
		k.questions = append(k.questions, q)
		k.mail()
		k.pause(3 * time.Second)
		k.answer(q)
		k.finish([]*question{q})
	}
	k.rest()
}

// half has a person type a text while mail comes, think about it, and submit it or take it
// back.
func (k *mailRig) half() {
	k.Helper()
	text := "half" + k.word("").tag
	submits := k.random.IntN(2) == 0
	k.halves[text] = submits
	early := k.random.IntN(len(text))
	for i, letter := range text {
		if i == early {
			k.mail()
		}
		k.tmux("send-keys", "-t", k.run.Pane, "-l", string(letter))
		k.pause(150 * time.Millisecond)
	}
	k.mail()
	k.pause(5 * time.Second)
	if submits {
		k.must(k.run.Keys(k.Context(), "Enter"))
		k.await(text+" at the model", func() bool { return k.run.Model.Asked(text) || strings.Contains(k.said(), text) })
		return
	}
	for range text {
		k.tmux("send-keys", "-t", k.run.Pane, "BSpace")
		time.Sleep(20 * time.Millisecond)
	}
}

// said is all that people have said in the longest of the conversations, a text a
// paragraph.
func (k *mailRig) said() string {
	most := ""
	for _, r := range k.run.Model.Requests() {
		if all := strings.Join(r.Said, "\n\n"); len(all) > len(most) {
			most = all
		}
	}
	return most
}

// rest waits until the agent rests and all mails are announced.
func (k *mailRig) rest() {
	k.Helper()
	k.calm()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var open []inbox.Mail
		for _, m := range k.inbox() {
			if m.Preview == inbox.PreviewWaiting || m.Preview == inbox.PreviewTyping {
				open = append(open, m)
			}
		}
		if len(open) == 0 {
			break
		}
		if time.Now().After(end) {
			k.Errorf("mails aren't announced: %+v; screen:\n%s", open, k.screen(k.Context()))
			return
		}
	}
	k.calm()
}

func (k *mailRig) inbox() []inbox.Mail {
	k.Helper()
	all, err := k.db.Mail(k.ctx(), inbox.Query{To: inbox.Address(k.id), Kind: inbox.KindMail})
	k.must(err)
	return all
}

// checkMails compares what the model was told with the mails.
func (k *mailRig) checkMails() {
	k.Helper()
	said := k.said()
	announced, previews := map[string]int{}, 0
	for _, found := range previewHead.FindAllStringSubmatch(said, -1) {
		previews++
		announced[found[2]]++
	}
	for id, n := range announced {
		if tag := k.mails[id]; n != 1 || tag == "" || strings.Count(said, " "+tag+")") != 1 {
			k.Errorf("the preview of %s (%s) came %d times: %q", id, tag, n, said)
		}
	}
	typed := 0
	for _, m := range k.inbox() {
		if m.Preview != inbox.PreviewTyped {
			k.Errorf("the preview of %s is %s: %s", m.ID, m.Preview, m.Why)
			continue
		}
		typed++
	}
	if typed != len(k.mails) {
		k.Errorf("%d of %d mails are said to be announced", typed, len(k.mails))
	}
	for text, submitted := range k.halves {
		if got := strings.Count(said, text); got != map[bool]int{true: 1}[submitted] {
			k.Errorf("the model got %q %d times, which was submitted: %t", text, got, submitted)
		}
		for line := range strings.Lines(said) {
			if strings.Contains(line, text) && strings.TrimSpace(line) != text {
				k.Errorf("with what a person typed something else was submitted: %q", line)
			}
		}
	}
	k.Logf("%d mails, announced by %d previews; %d texts of a person's, %d questions", len(k.mails), previews, len(k.halves), len(k.questions))
}
