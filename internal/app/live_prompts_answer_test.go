package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// question is one that the agent asked.
type question struct {
	kind, tag string    // of the order; "review": whether all that was chosen is right
	other     *question // that was asked for at the same time
	pair      bool      // of two that were asked for at the same time
	prompt    api.Prompt
	how       string // it's answered: "api", "telegram", "discord", "keyboard", "nobody" or "race"
	options   []int
	text      string
	keys      []string // of the keyboard
	said      string   // to who answered
	err       error
	found     time.Duration // after it was drawn
	closed    time.Duration // it was told, after it had gone
	telegram  time.Duration // its message there was closed, after that was told
	discord   time.Duration
	budget    bool // Telegram's limit had no room for that
}

func (q *question) String() string {
	return fmt.Sprintf("%s %s (%s), answered by %s: options %v, text %q, keys %v; told %q, %v; it's %s %q",
		q.kind, q.tag, q.prompt.ID, q.how, q.options, q.text, q.keys, q.said, q.err, q.prompt.State, q.prompt.Reason)
}

var refuses = regexp.MustCompile(`(?i)^(?:no|reject)\b`)

// denied says that it was answered with a refusal, or may have been.
func (q *question) denied() bool {
	return q.how == "nobody" || q.how == "race" || len(q.keys) > 0 && q.keys[0] == "Escape" ||
		len(q.options) == 1 && q.options[0] < len(q.prompt.Options) && refuses.MatchString(q.prompt.Options[q.options[0]].Label)
}

// answer answers at random.
func (k *promptRig) answer(q *question) {
	k.Helper()
	time.Sleep(time.Duration(k.random.Int64N(int64(3 * time.Second)))) // people think
	ways := []string{"api", "telegram", "telegram", "discord", "discord", "keyboard", "nobody"}
	if q.prompt.Kind == sessions.PromptPermission && !q.pair { // the slower hand's key would be for the other
		ways = append(ways, "race")
	}
	if len(q.prompt.Options) == 0 { // not all of them are on the screen
		ways = []string{"keyboard", "nobody"}
	}
	q.how = ways[k.random.IntN(len(ways))]
	k.choosePrompt(q)
	switch q.how {
	case "telegram":
		k.answerTelegram(q)
	case "discord":
		k.answerDiscord(q)
	case "keyboard":
		q.err = k.run.Keys(k.Context(), q.keys...)
	case "nobody":
		time.Sleep(4 * time.Second) // long enough for somebody to answer it who shouldn't
		if w := k.seen.get(q.prompt.ID); !w.went.IsZero() {
			k.Errorf("nobody has answered %s, and it's %s %q", q, w.State, w.Reason)
		}
		q.err = k.run.Keys(k.Context(), q.keys...)
	case "race":
		k.race(q)
	default:
		k.answerHere(q)
	}
	k.settles(q)
}

// choosePrompt chooses what's answered, never anything lasting.
func (k *promptRig) choosePrompt(q *question) {
	keyboard := q.how == "keyboard" || q.how == "nobody"
	switch {
	case q.how == "nobody", keyboard && (q.prompt.Multi || len(q.prompt.Options) == 0):
		q.keys = k.run.Agent.Deny
	case keyboard && q.prompt.Kind != sessions.PromptPermission:
		q.keys = []string{"Down", "Enter"}
	case keyboard:
		q.keys = k.run.Agent.Approve
		if k.random.IntN(2) == 0 {
			q.keys = k.run.Agent.Deny
		}
	case q.prompt.Kind == sessions.PromptPermission:
		q.options = []int{0}
		no := slices.IndexFunc(q.prompt.Options, func(o api.PromptOption) bool { return refuses.MatchString(o.Label) })
		if q.how == "race" || no >= 0 && k.random.IntN(5) < 2 {
			q.options = []int{no}
		}
	case q.prompt.Multi:
		q.options = []int{}
		for i := range 3 {
			if k.random.IntN(2) == 0 || i == 2 && len(q.options) == 0 {
				q.options = append(q.options, i)
			}
		}
	case q.prompt.Text != "" && q.how == "api" && k.random.IntN(2) == 0:
		q.text = "free-" + q.tag
	default:
		q.options = []int{k.random.IntN(3)}
	}
}

func (k *promptRig) answerHere(q *question) {
	r := api.AnswerRequest{Text: q.text}
	if q.prompt.Multi && q.text == "" {
		r.Options = []api.PromptChoice{} // that's what none of them is
	}
	for _, i := range q.options {
		r.Options = append(r.Options, api.PromptChoice{N: i + 1})
	}
	if !q.prompt.Multi && len(q.options) == 1 {
		r = api.AnswerRequest{Option: &r.Options[0]}
	}
	p, err := k.api.Answer(k.Context(), q.prompt.ID, r)
	if q.err = err; err == nil {
		q.said = string(p.State)
	}
}

// race has the question answered here and on the keyboard at about the same time.
func (k *promptRig) race(q *question) {
	q.keys = []string{"Enter"} // which takes what's marked: yes
	late := time.Duration(k.random.Int64N(int64(400 * time.Millisecond)))
	first := k.random.IntN(2)
	var both sync.WaitGroup
	both.Go(func() {
		time.Sleep(late * time.Duration(first))
		k.answerHere(q)
	})
	time.Sleep(late * time.Duration(1-first))
	if err := k.run.Keys(k.Context(), q.keys...); err != nil {
		k.Error(err)
	}
	both.Wait()
}

// inTelegram is the newest message with buttons that asks, names a tag and was sent before a
// time; nil: there's none.
func (k *promptRig) inTelegram(tag string, before time.Time) *telegramtest.Message {
	for _, m := range slices.Backward(k.telegramAll()) {
		if len(m.Buttons) > 0 && m.At.Before(before) && messageAsks(m.Text, tag) {
			return &m
		}
	}
	return nil
}

// inDiscord is the same there.
func (k *promptRig) inDiscord(tag string, before time.Time) *discordtest.Message {
	for _, t := range k.discord.Threads(k.channel) {
		for _, m := range slices.Backward(k.discord.Messages(t.ID)) {
			if len(m.Rows) > 0 && m.At.Before(before) && messageAsks(m.Content, tag) {
				return &m
			}
		}
	}
	return nil
}

// messageAsks reports whether a message asks about something. A whole question is looked for in the
// first row that is one: farther down may be another of the same call.
func messageAsks(text, tag string) bool {
	if strings.HasSuffix(tag, "?") {
		head, rest, _ := strings.Cut(text, "\n")
		for row := range strings.Lines(rest) {
			if row = strings.TrimSpace(row); strings.HasSuffix(row, "?") {
				return contains(head, " asks") && contains(row, tag)
			}
		}
	}
	return contains(text, " asks") && contains(text, tag)
}

var escapes = regexp.MustCompile(`\\([^\w\s])`)

func contains(text, tag string) bool {
	return regexp.MustCompile(regexp.QuoteMeta(tag)).MatchString(escapes.ReplaceAllString(text, "$1"))
}

// until waits, at most for as long as a chat's budget may take.
func (k *promptRig) until(what string, q *question, ok func() bool) bool {
	k.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			k.Errorf("%s: no %s within 90 s; screen:\n%s", q, what, k.screen(k.Context()))
			return false
		}
	}
	return true
}

func (k *promptRig) answerTelegram(q *question) {
	k.Helper()
	var m *telegramtest.Message
	if !k.until("message in Telegram", q, func() bool { m = k.inTelegram(q.tag, time.Now()); return m != nil }) {
		return
	}
	press := func(row int) {
		m, _ := k.telegram.Message(m.Chat, m.ID)
		if row >= len(m.Buttons) {
			k.Errorf("%s: its message has only %d rows of buttons", q, len(m.Buttons))
			return
		}
		id, err := k.ann.Press(m.Chat, m.ID, m.Buttons[row][0].Text)
		k.must(err)
		k.until("answer to a press in Telegram", q, func() bool {
			p, _ := k.telegram.Press(id)
			q.said = p.Text
			return !p.Answered.IsZero()
		})
	}
	for _, i := range q.options {
		press(i)
		if q.prompt.Multi {
			k.until("mark of a choice", q, func() bool {
				now, _ := k.telegram.Message(m.Chat, m.ID)
				return len(now.Buttons) > i && regexp.MustCompile("✓").MatchString(now.Buttons[i][0].Text)
			})
		}
	}
	if q.prompt.Multi {
		press(len(q.prompt.Options))
	}
}

func (k *promptRig) answerDiscord(q *question) {
	k.Helper()
	var m *discordtest.Message
	if !k.until("message in Discord", q, func() bool { m = k.inDiscord(q.tag, time.Now()); return m != nil }) {
		return
	}
	components := func() []discordtest.Component {
		now, _ := k.discord.Message(m.ID)
		return slices.Concat(now.Rows...)
	}
	answered := func(id string, err error) {
		k.must(err)
		k.until("answer to a press in Discord", q, func() bool {
			i, _ := k.discord.Interaction(id)
			for _, f := range append(i.Followups, i.Original) {
				if f, ok := k.discord.Message(f); ok && f.ID != m.ID {
					q.said = f.Content
				}
			}
			return !i.Answered.IsZero()
		})
	}
	all := components()
	if !all[0].Select {
		answered(k.bob.Press(m.ID, all[q.options[0]].CustomID))
		return
	}
	var values []string
	for _, i := range q.options {
		values = append(values, all[0].Options[i].Value)
	}
	answered(k.bob.Select(m.ID, all[0].CustomID, values...))
	if q.prompt.Multi && k.until("choice in Discord's menu", q, func() bool { return chosen(components()[0]) == len(values) }) {
		answered(k.bob.Press(m.ID, "Send"))
	}
}

// settles waits until a question is closed everywhere.
func (k *promptRig) settles(q *question) {
	k.Helper()
	if !k.until("end of the question", q, func() bool { return !k.seen.get(q.prompt.ID).went.IsZero() }) {
		return
	}
	w := k.seen.get(q.prompt.ID)
	q.prompt = w.Prompt
	drawn, gone := k.seen.stood(q.tag)
	if q.pair && drawn.Before(k.wentBefore(q)) {
		drawn = k.wentBefore(q) // it's named below the first of two
	}
	k.until("closed messages", q, func() bool {
		telegram, discord := k.inTelegram(q.tag, w.went), k.inDiscord(q.tag, w.went)
		if telegram == nil && q.telegram == 0 {
			q.telegram = time.Since(w.went)
		}
		if discord == nil && q.discord == 0 {
			q.discord = time.Since(w.went)
		}
		return telegram == nil && discord == nil
	})
	if !drawn.IsZero() {
		q.found = w.came.Sub(drawn)
	}
	if !gone.IsZero() {
		q.closed = w.went.Sub(gone)
	}
	ms, calls := time.Millisecond, k.callsBefore(w.went)
	q.budget = calls >= telegramGroupMPM
	k.Logf("%s; found %s after it was drawn, told closed %s after it had gone, in Telegram %s after that (%d calls in a minute), in Discord %s",
		q, q.found.Round(ms), q.closed.Round(ms), q.telegram.Round(ms), calls, q.discord.Round(ms))
}

// wentBefore is when the question before one had gone.
func (k *promptRig) wentBefore(q *question) time.Time {
	i := slices.Index(k.questions, q)
	if i < 1 {
		return time.Time{}
	}
	return k.seen.get(k.questions[i-1].prompt.ID).went
}

// telegramGroupMPM is how many calls a group takes in a minute.
const telegramGroupMPM = 20

// callsBefore are those to Telegram's group in the minute before a time.
func (k *promptRig) callsBefore(at time.Time) int {
	n := 0
	for _, c := range k.telegram.CallsTo(k.forum) {
		if c.At.Before(at) && c.At.After(at.Add(-time.Minute)) {
			n++
		}
	}
	return n
}
