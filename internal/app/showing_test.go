package app_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// showingDesk is a daemon whose sessions are mirrored to a forum, with a person who may answer.
type showingDesk struct {
	*daemon
	telegram *telegramtest.Server
	group    int64
	approver *telegramtest.Person
}

func newShowingDesk(t *testing.T) *showingDesk {
	t.Helper()
	slow(t)
	knowsPeers(t)
	telegram := telegramtest.New(telegramtest.Options{})
	s := &showingDesk{daemon: newDaemon(t), telegram: telegram, approver: telegram.AddUser(telegramtest.User{FirstName: "Ann"})}
	s.group = telegram.AddForum("Agents", s.approver)
	s.stop()
	s.useForum(telegram, s.group)
	s.cfg.Access.Approvers = []string{"telegram:" + strconv.FormatInt(s.approver.ID, 10)}
	s.cfg.Mirrors = []config.Mirror{{Session: "*", To: "telegram:" + strconv.FormatInt(s.group, 10), View: "stream", Input: true}}
	s.start()
	return s
}

// messages are the bot's in a session's topic.
func (s *showingDesk) messages(name string) []telegramtest.Message {
	var out []telegramtest.Message
	for _, topic := range s.telegram.Topics(s.group) {
		if topic.Name != name {
			continue
		}
		for _, m := range s.telegram.See(topic.Place) {
			if m.From.IsBot {
				out = append(out, m)
			}
		}
	}
	return out
}

// awaitMessage waits for a message in a session's topic that holds a text.
func (s *showingDesk) awaitMessage(name, text string) telegramtest.Message {
	s.Helper()
	var found telegramtest.Message
	s.await("a message with “"+text+"”", func() bool {
		for _, m := range s.messages(name) {
			if strings.Contains(m.Text, text) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// A program's question is a card with buttons, whose answer is what the program prints: an option, a text, a word
// that there's none. It waits on over a restart of the daemon.
func TestProgramsAskPeople(t *testing.T) {
	s := newShowingDesk(t)
	id, pane := s.shellSession("worker")
	asks := func(args string) ran { return s.runIn(pane, "%s", panebridge(t, "ask "+args)) }

	first := asks(`"Which <b>colour</b>, @Ann?\nsee https://evil.example" --option red --option 'light  blue'`)
	card := s.awaitMessage("worker", "asks, in its own words")
	if !strings.Contains(card.Text, "not panebridge's") || !strings.Contains(card.Text, "https://evil.example") || len(card.Entities) == 0 {
		t.Errorf("the card says %q, %+v", card.Text, card.Entities)
	}
	for _, e := range card.Entities {
		if e.Type == "mention" || e.Type == "url" || e.Type == "text_link" {
			t.Errorf("the card has a %s", e.Type)
		}
	}
	s.stop()
	s.start()
	if _, err := s.approver.Press(s.group, card.ID, "light blue"); err != nil {
		t.Fatal(err)
	}
	if got := s.said(first); got != "light blue\nexit 0\n" {
		t.Errorf("asked over a restart: %q", got)
	}
	s.awaitMessage("worker", "Answered by Ann: light blue.")

	second := asks(`"What's it called?" --json`)
	card = s.awaitMessage("worker", "What's it called?")
	if _, err := s.approver.Reply(telegramtest.Place{Chat: s.group, Thread: card.Thread}, card.ID, "Anna's *boat*"); err != nil {
		t.Fatal(err)
	}
	if got := s.said(second); !strings.Contains(got, `"answer": "Anna's *boat*"`) || !strings.Contains(got, `"by": "Ann"`) || !strings.HasSuffix(got, "exit 0\n") {
		t.Errorf("a text: %q", got)
	}

	third := asks(`"Shall I?" --option yes`)
	card = s.awaitMessage("worker", "Shall I?")
	if _, err := s.approver.Press(s.group, card.ID, sessions.RefuseInquiry); err != nil {
		t.Fatal(err)
	}
	if got := s.said(third); !strings.Contains(got, "Ann chose to give no answer") || !strings.HasSuffix(got, "exit 5\n") {
		t.Errorf("refused: %q", got)
	}
	if got := s.said(asks(`"Anybody?" --timeout 1s`)); !strings.HasSuffix(got, "exit 4\n") {
		t.Errorf("nobody: %q", got)
	}
	s.awaitMessage("worker", "Nobody answered for 1s.")

	// One that's killed waits no more, and its card says so.
	killed := s.runIn(pane, "%s", panebridge(t, `ask "Is anybody there?" --option yes`)+" & sleep 2; kill -9 $!; wait $!")
	s.awaitMessage("worker", "Is anybody there?")
	s.awaitMessage("worker", "Nobody waits for the answer any more.")
	s.said(killed)

	// Of two answers the first counts, wherever they come from.
	last := asks(`"One?" --option yes`)
	all := func() (out []api.Prompt) {
		got, err := s.api.Prompts(s.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range got {
			if p.Session == id && p.Kind == sessions.PromptInquiry {
				out = append(out, p)
			}
		}
		return out
	}
	s.await("the question", func() bool { return len(all()) == 1 })
	one := all()[0].ID
	if _, err := s.api.Answer(s.ctx(), one, api.AnswerRequest{Option: &api.PromptChoice{Label: "yes"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.api.Answer(s.ctx(), one, api.AnswerRequest{Option: &api.PromptChoice{N: 2}}); err == nil || !strings.Contains(err.Error(), "answered already: yes") {
		t.Errorf("a second answer: %v", err)
	}
	if got := s.said(last); got != "yes\nexit 0\n" {
		t.Errorf("answered by another way: %q", got)
	}
}

// What a session shows is in its topic, a picture as one; what isn't its own takes an approver's word.
func TestProgramsShowPeopleFiles(t *testing.T) {
	s := newShowingDesk(t)
	_, pane := s.shellSession("worker")
	home, err := s.api.Session(s.ctx(), "worker")
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shows := func(args string) ran { return s.runIn(pane, "%s", panebridge(t, "show "+args)) }
	report := write(filepath.Join(home.Cwd, "panebridge-report.txt"), "key AKIA4XQ7ZP2LM5RTW3VB of "+t.Name())
	t.Cleanup(func() { _ = os.Remove(report) })
	if got := s.said(shows(report + " --caption 'the <i>report</i>'")); !strings.Contains(got, "shown in telegram:") || !strings.HasSuffix(got, "exit 0\n") {
		t.Errorf("shown: %q", got)
	}
	m := s.awaitMessage("worker", "the <i>report</i>")
	if m.File == nil || m.File.Name != "panebridge-report.txt" || strings.Contains(string(m.File.Content), "ZP2LM5RTW3VB") {
		t.Errorf("the message is %+v, %+v", m, m.File)
	}

	outside := write(filepath.Join(s.dir, "outside.txt"), "from outside")
	asked := shows(outside)
	p := s.callPrompt(home.ID)
	if !strings.Contains(p.Body, outside) {
		t.Errorf("asked: %+v", p)
	}
	write(outside, "exchanged meanwhile")
	card := s.awaitMessage("worker", "outside its session's folder")
	if _, err := s.approver.Press(s.group, card.ID, "Allow it once"); err != nil {
		t.Fatal(err)
	}
	if got := s.said(asked); !strings.HasSuffix(got, "exit 0\n") {
		t.Errorf("allowed: %q", got)
	}
	if !slices.ContainsFunc(s.messages("worker"), func(m telegramtest.Message) bool {
		return m.File != nil && string(m.File.Content) == "from outside"
	}) {
		t.Error("what was allowed isn't what's shown")
	}
	refused := shows(outside + " --caption no")
	p = s.callPrompt(home.ID)
	if _, err := s.api.Answer(s.ctx(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{Label: "Refuse"}}); err != nil {
		t.Fatal(err)
	}
	if got := s.said(refused); !strings.Contains(got, "refused it.") || !strings.HasSuffix(got, "exit 1\n") {
		t.Errorf("refused: %q", got)
	}
}

// A question stands on both platforms and is closed on both, whoever answers it; a picture is one on both, and what's no
// picture is a file.
func TestBothPlatformsAreAskedAndShown(t *testing.T) {
	slow(t)
	knowsPeers(t)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Approvers = b.people()
	d.start()
	_, pane := d.shellSession("worker")
	topic, thread := b.awaitPlaces(d, "worker")
	asked := d.runIn(pane, "%s", panebridge(t, `ask "Which *one*, @everyone?" --option first --option second`))
	var card discordtest.Message
	find := func(text string) func() bool {
		return func() bool {
			for _, m := range b.discord.Messages(thread) {
				if strings.Contains(m.Content, text) {
					card = m
					return true
				}
			}
			return false
		}
	}
	d.await("the question on Discord", find("asks, in its own words"))
	if !strings.Contains(card.Content, "Which *one*, @everyone?") || slices.Contains(card.Pings, "everyone") {
		t.Errorf("the card is %q, and pings %q", card.Content, card.Pings)
	}
	if _, err := b.bob.Press(card.ID, "second"); err != nil {
		t.Fatal(err)
	}
	if got := d.said(asked); got != "second\nexit 0\n" {
		t.Errorf("asked: %q", got)
	}
	shows := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(b.telegram.See(topic), func(m telegramtest.Message) bool { return strings.Contains(m.Text, text) })
		}
	}
	d.await("the answer on Telegram", shows("Answered by B: second."))

	home, err := d.api.Session(d.ctx(), "worker")
	if err != nil {
		t.Fatal(err)
	}
	var chart bytes.Buffer
	if err := png.Encode(&chart, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home.Cwd, "panebridge-chart.png")
	t.Cleanup(func() { _ = os.Remove(path) })
	if err := os.WriteFile(path, chart.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.said(d.runIn(pane, "%s", panebridge(t, "show "+path+" --caption chart"))); !strings.Contains(got, "shown in telegram:") || !strings.Contains(got, "shown in discord:") {
		t.Errorf("shown: %q", got)
	}
	d.await("the picture on Discord", find("shows panebridge"))
	if len(card.Files) != 1 {
		t.Errorf("Discord has %+v", card)
	}
	if !slices.ContainsFunc(b.telegram.Calls(), func(c telegramtest.Call) bool { return c.Method == "sendPhoto" && c.Code == 200 }) {
		t.Error("Telegram has no picture")
	}
	all, err := d.api.Exhibits(d.ctx(), "worker")
	if err != nil || len(all) != 1 || !all[0].Done || all[0].Caption != "chart" || all[0].Type != "image/png" {
		t.Errorf("the API lists %+v, %v", all, err)
	}
}

// Whoever asks where nobody can answer is told so at once, and whoever waits for an answer when their session ends, then.
func TestWhoAsksIsToldThatNobodyWillAnswer(t *testing.T) {
	s := newShowingDesk(t)
	id, pane := s.shellSession("worker")
	asked := s.runIn(pane, "setsid %s & sleep 1", panebridge(t, `ask "Is it done?" --option yes --json`))
	s.awaitMessage("worker", "Is it done?")
	if err := s.api.CloseSession(s.ctx(), string(id)); err != nil {
		t.Fatal(err)
	}
	if got := s.said(asked); !strings.Contains(got, `"outcome": "ended"`) || !strings.HasSuffix(got, "exit 6\n") {
		t.Errorf("of a session that has ended: %q", got)
	}

	s.stop()
	s.cfg.Mirrors = nil
	s.cfg.Adapters.Web.Enabled = false
	s.start()
	_, pane = s.shellSession("lonely")
	if got := s.said(s.runIn(pane, "%s", panebridge(t, `ask "Is anybody there?" --option yes`))); !strings.Contains(got, "there's nobody to ask") || !strings.HasSuffix(got, "exit 7\n") {
		t.Errorf("where there's nobody: %q", got)
	}
}
