package telegram_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
)

// coast is an office on which storms are played.
type coast struct{ *office }

func (c coast) Office() *platformtest.Office { return c.office.Office }

func (c coast) SetFates(fate func(platformtest.StormCall) faults.Fate) {
	if fate == nil {
		c.fate.Store(nil)
		return
	}
	c.fate.Store(new(func(method string, body []byte) faults.Fate {
		return fate(platformtest.StormCall{
			Reads: strings.HasPrefix(method, "get"), Makes: found(toName, body, method == "createForumTopic"),
			Place: found(toTopic, body, true), Buttons: bytes.Contains(body, []byte("inline_keyboard")),
			Chat: number(c.forum), Kind: kindOf(method, body),
		})
	}))
}

// toTopic finds the topic that a message is for, and toName the name of one that's made.
var (
	toTopic = regexp.MustCompile(`"message_thread_id"\s+(\d+)`)
	toName  = regexp.MustCompile(`"name"\s+(\S+)`)
)

// found is what an expression finds in the body of a call that may have it.
func found(what *regexp.Regexp, body []byte, has bool) string {
	if m := what.FindSubmatch(body); has && m != nil {
		return string(m[1])
	}
	return ""
}

// kindOf is what a call does with messages.
func kindOf(method string, body []byte) string {
	switch {
	case strings.HasPrefix(method, "editMessage"):
		return "edit"
	case !strings.HasPrefix(method, "send") || method == "sendChatAction":
		return ""
	case bytes.Contains(body, []byte("reply_parameters")):
		return "reply"
	}
	return "post"
}

func (c coast) Seen() []platformtest.StormMessage {
	var out []platformtest.StormMessage
	for _, m := range c.Messages(c.forum) {
		if m.Service != "" || m.From.ID != c.Bot().ID {
			continue
		}
		x := platformtest.StormMessage{ID: strconv.Itoa(m.ID), Place: strconv.Itoa(m.Thread), At: m.At, Text: m.Text, ReplyTo: strconv.Itoa(m.ReplyTo), Gone: !m.There()}
		if m.File != nil {
			x.Text += string(m.File.Content)
		}
		for _, row := range m.Buttons {
			for _, b := range row {
				x.Buttons = append(x.Buttons, b.Text)
			}
		}
		out = append(out, x)
	}
	return out
}

func (c coast) Places(name string) []platformtest.StormPlace {
	var out []platformtest.StormPlace
	for _, t := range c.AllTopics(c.forum) {
		if t.Name == name {
			out = append(out, platformtest.StormPlace{ID: strconv.Itoa(t.Thread), Deleted: t.Deleted})
		}
	}
	return out
}

func (c coast) Command() (string, error) {
	id, err := c.ada.Say(telegramtest.Place{Chat: c.forum}, "/sessions")
	return strconv.Itoa(id), err
}

func (c coast) person(approver bool) *telegramtest.Person {
	if approver {
		return c.ada
	}
	return c.bob
}

func (c coast) Write(name string, approver bool, text string) (string, error) {
	t, ok := c.topic(name)
	if !ok || t.Closed {
		return "", nil
	}
	id, err := c.person(approver).Say(t.Place, text)
	return strconv.Itoa(id), err
}

func (c coast) Edit(approver bool, message, text string) error {
	return c.person(approver).Edit(c.forum, c.number(message), text)
}

// Jolt has Telegram bring updates again that were acknowledged.
func (c coast) Jolt(r *rand.Rand) platformtest.Jolt {
	c.Repeat(1 + r.IntN(5))
	return platformtest.Jolt{Name: "updates come again"}
}

// Deafs are none: whatever happens to calls happens to those that read updates, too.
func (c coast) Deafs() []platformtest.StormState { return nil }

// Slash can't be done: commands are texts.
func (c coast) Slash(string) (id, reply string, err error) { return "", "", nil }

func (c coast) Push(m platformtest.StormMessage, label string) (string, error) {
	return c.ada.Press(c.forum, c.number(m.ID), label)
}

// Unheard is never so: updates are kept until they're read.
func (c coast) Unheard(string) bool { return false }

// Misjudged is nothing.
func (c coast) Misjudged() string { return "" }

func (c coast) PressButton(m platformtest.StormMessage, label string) error {
	_, err := c.Press(true, m.ID, label)
	return err
}

func (c coast) Reply(m platformtest.StormMessage, text string) error {
	at := telegramtest.Place{Chat: c.forum}
	at.Thread, _ = strconv.Atoi(m.Place)
	_, err := c.ada.Reply(at, c.number(m.ID), text)
	return err
}

// refused is an answer of Telegram's that says no.
func refused(code int, description string) *faults.Answer {
	return &faults.Answer{Status: code, Header: map[string]string{"Content-Type": "application/json"}, Body: fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, code, description)}
}

// silences are the forms in which silence is ordered for so many seconds.
func silences(n int) []*faults.Answer {
	header := map[string]string{"Content-Type": "application/json", "Retry-After": strconv.Itoa(n)}
	form := `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d"%s}`
	return []*faults.Answer{
		{Status: 429, Header: header, Body: fmt.Sprintf(form, n, fmt.Sprintf(`,"parameters":{"retry_after":%d}`, n))},
		{Status: 429, Header: header, Body: fmt.Sprintf(form, n, fmt.Sprintf(`,"parameters":{"retry_after":%d.25}`, n))},
		{Status: 429, Header: header, Body: fmt.Sprintf(form, n, fmt.Sprintf(`,"parameters":{"retry_after":"%d"}`, n))},
		{Status: 429, Body: fmt.Sprintf(form, n, "")},
		{Status: 429, Header: map[string]string{"Content-Type": "text/html", "Retry-After": strconv.Itoa(n)}, Body: "<html>slow down</html>"},
	}
}

func (c coast) Wrongs() []platformtest.Wrong {
	odd := slices.Collect(func(yield func(faults.Answer) bool) {
		for _, name := range []string{"a login page", "null", "an empty object"} {
			if a, ok := oddAnswers[name]; ok && !yield(a) {
				return
			}
		}
	})
	common := append(platformtest.CommonWrongs(odd), platformtest.Changed("result", "message_thread_id", "is_topic_message")...)
	return append(common,
		platformtest.Silence(silences,
			&faults.Answer{Status: 429, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"ok":false,"error_code":429,"description":"Too Many Requests"}`},
			&faults.Answer{Status: 429, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>slow down</html>"},
		),
		platformtest.Wrong{Name: "the token", Lasts: true, Draw: platformtest.AnsweredFate(refused(http.StatusUnauthorized, "Unauthorized"))},
		platformtest.Wrong{Name: "kicked", Hides: true, Draw: platformtest.AnsweredFate(refused(http.StatusForbidden, "Forbidden: bot was kicked from the supergroup chat")), Fits: writes},
		platformtest.Wrong{Name: "no topic", Loses: true, Draw: platformtest.AnsweredFate(refused(http.StatusBadRequest, "Bad Request: message thread not found")), Fits: func(c platformtest.StormCall) bool { return c.Place != "" }},
		platformtest.Wrong{Name: "no buttons", Draw: platformtest.AnsweredFate(refused(http.StatusBadRequest, "Bad Request: BUTTON_TYPE_INVALID")), Fits: func(c platformtest.StormCall) bool { return c.Buttons }},
	)
}

// topic is the newest of a session's name; false: there's none.
func (c coast) topic(name string) (telegramtest.Topic, bool) {
	for _, t := range slices.Backward(c.Topics(c.forum)) {
		if t.Name == name {
			return t, true
		}
	}
	return telegramtest.Topic{}, false
}

// inTopic does something with the first session's topic, if it has one.
func (c coast) inTopic(do func(at telegramtest.Place) error) func() error {
	return func() error {
		t, ok := c.topic("agent")
		if !ok {
			return nil
		}
		return do(t.Place)
	}
}

func (c coast) States() []platformtest.StormState {
	set := func(do func(group int64, on bool), on bool) func() error {
		return func() error { do(c.forum, on); return nil }
	}
	reactions := func(allowed []string) func() error {
		return func() error { c.SetReactions(c.forum, allowed); return nil }
	}
	rights := telegramtest.AllRights()
	few := rights
	few.ManageTopics = false
	without := func(general func(group int64) error) func() error {
		return func() error { return errors.Join(c.ada.SetBotRights(c.forum, &few), general(c.forum)) }
	}
	again := func() error {
		return errors.Join(c.ada.ReopenGeneral(c.forum), c.ada.SetBotRights(c.forum, &rights))
	}
	return []platformtest.StormState{
		{Name: "some reactions", Enter: reactions([]string{"❤"})},
		{Name: "no reactions", Enter: reactions([]string{})},
		{Name: "answers don't name the topic", Deaf: true, Enter: set(c.SetHidesTopics, true), Leave: set(c.SetHidesTopics, false)},
		{Name: "topics can't be written to", Deaf: true, Enter: set(c.SetDeafTopics, true), Leave: set(c.SetDeafTopics, false)},
		{Name: "General is closed", Hides: true, Enter: without(c.ada.CloseGeneral), Leave: again},
		{Name: "General is hidden", Hides: true, Enter: without(c.ada.HideGeneral), Leave: again},
		{Name: "the topic is closed", Enter: c.inTopic(c.ada.CloseTopic), Leave: c.inTopic(c.ada.ReopenTopic)},
		{Name: "the topic is deleted", Loses: true, Enter: c.inTopic(c.ada.DeleteTopic)},
	}
}

func writes(c platformtest.StormCall) bool { return !c.Reads }

// Whatever goes wrong with calls, nothing is lost, doubled without a mark, or hidden.
func TestStorms(t *testing.T) {
	platformtest.Storms(t, func(t *testing.T, dir string, play func(testing.TB, platformtest.Coast)) {
		t.Helper()
		inBubble(t, telegramtest.Options{}, func(w *world) { play(w, coast{w.office(dir, w.forum)}) })
	}, 227390743962195689, 302672, 500075, 1001189, 1001218, 1008620, 1013625, 1015741, 3006501, 3011902)
}

// After a failure that was answered the chat goes on, whatever call it hit.
func TestSilenceAfterAnsweredFailures(t *testing.T) {
	answered := []string{"internal error", "bad gateway", "a proxy's no", "reset", "half an answer", "an odd answer", "the token", "no buttons"}
	platformtest.Silences(t, qos.Window{Calls: 20, Per: time.Minute}, answered, func(t *testing.T, dir string, play func(testing.TB, platformtest.Coast)) {
		t.Helper()
		inBubble(t, telegramtest.Options{}, func(w *world) { play(w, coast{w.office(dir, w.forum)}) })
	})
}

func TestWhatAnAgentAnswersIsThereOnce(t *testing.T) {
	platformtest.Answers(t, func(t *testing.T, test func(c platformtest.AnswersChat)) {
		t.Helper()
		inBubble(t, telegramtest.Options{}, func(w *world) {
			test(platformtest.AnswersChat{
				Bridge: w.bridge(adapters.MirrorRule{Session: "*", To: target(w.group, 0)}).Bridge,
				Seen:   func() []adaptertest.Message { return w.seen(telegramtest.Place{Chat: w.group}) },
			})
			w.noRefusals()
		})
	})
}
