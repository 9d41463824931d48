package app_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// The program is killed again and again while sessions print turns into many chats,
// within Telegram's own limits: at the end each chat shows each line once and in order.
// Of what a kill has interrupted at most one message stands twice in a chat, and is
// marked. Nothing rings twice but that, and Telegram never had to refuse a call.
func TestKilledWhileItMirrorsToTelegram(t *testing.T) {
	slow(t)
	k := newKillRig(t)
	s := telegramStage{telegramtest.New(telegramtest.Options{
		Latency: func(method string, _ int64) (time.Duration, time.Duration) { return k.trap.latency(method) },
	})}
	var speakers []speaker
	for _, name := range []string{"one", "two", "three", "four"} {
		speakers = append(speakers, speaker{name: name, lines: 1, rest: 100 * time.Millisecond})
	}
	k.begin(s, speakers, s.mirrors(t, speakers))
	for i := range kills() {
		if i > 0 {
			k.run()
		}
		k.killAnywhere("sendMessage", "sendMessage", "sendDocument", "editMessageText")
	}
	k.finish()
	all := k.readAll()
	t.Logf("%d kills (%v): %v; %d edits were made twice", len(k.killed), k.how, all, s.refusals(t, len(k.killed)))
}

// telegramStage is Telegram.
type telegramStage struct{ *telegramtest.Server }

// groups is in how many each session is shown. A chat gets a call every three seconds,
// and none for 25 s after a kill that a call of it may have survived; with these, one is
// under way at most instants.
const groups = 5

// mirrors makes the chats that sessions are shown in, and a person in them.
func (s telegramStage) mirrors(t *testing.T, speakers []speaker) []mirror {
	t.Helper()
	person := s.AddUser(telegramtest.User{FirstName: "P"})
	if _, err := person.Say(person.Private(), "/start"); err != nil {
		t.Fatal(err)
	}
	var all []mirror
	add := func(session, view string, chat int64, topics bool) {
		all = append(all, mirror{session: session, view: view, chat: strconv.FormatInt(chat, 10), threads: topics})
	}
	forum := s.AddForum("Agents", person)
	for i, one := range speakers {
		for range groups {
			add(one.name, "stream", s.AddChat(telegramtest.ChatSpec{Title: one.name}, person), false)
		}
		if i < 2 {
			add(one.name, "stream", forum, true)
		} else {
			add(one.name, "final", s.AddChat(telegramtest.ChatSpec{Title: one.name + ", turns alone"}, person), false)
		}
	}
	add("one", "stream", person.ID, false)
	return all
}

func (s telegramStage) settings(url string, mirrors []mirror) string {
	var chats strings.Builder
	for i, m := range mirrors {
		if !slices.ContainsFunc(mirrors[:i], func(x mirror) bool { return x.chat == m.chat }) {
			fmt.Fprintf(&chats, "      - {id: %s, topics: %t}\n", m.chat, m.threads)
		}
	}
	return fmt.Sprintf("  telegram:\n    enabled: true\n    token: %q\n    api_url: %s\n    chats:\n%s%s",
		s.Token(), url, chats.String(), rules("telegram", mirrors))
}

func (s telegramStage) decided(method string) (n int) {
	for _, c := range s.Calls() {
		if c.Method == method && c.Code != 0 {
			n++
		}
	}
	return n
}

func (telegramStage) once() bool { return false }

// shown looks into the one topic that has messages, where topics are made: one whose
// making was interrupted is made once more, since Telegram tells of none.
func (s telegramStage) shown(t *testing.T, m mirror) []message {
	t.Helper()
	chat, err := strconv.ParseInt(m.chat, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if !m.threads {
		return s.messages(telegramtest.Place{Chat: chat})
	}
	var used [][]message
	for _, topic := range s.Topics(chat) {
		if there := s.messages(topic.Place); topic.Name == m.session && len(there) > 0 {
			used = append(used, there)
		}
	}
	if len(used) != 1 {
		t.Fatalf("session %s has %d topics with messages", m.session, len(used))
	}
	return used[0]
}

func (s telegramStage) messages(at telegramtest.Place) []message {
	var out []message
	for _, m := range s.See(at) {
		if !m.From.IsBot || m.Service != "" || isCard(m.Text) {
			continue
		}
		x := message{id: strconv.Itoa(m.ID), at: m.At, edits: len(m.History), rang: m.Rang, text: m.Text}
		if m.File != nil {
			x.file = m.File.Content
		}
		out = append(out, x)
	}
	return out
}

// refusals counts the edits that changed nothing, which is what an edit does that was
// made before a kill and again after it. There may be no other refusal.
func (s telegramStage) refusals(t *testing.T, kills int) int {
	t.Helper()
	edits := map[int64]int{}
	total := 0
	for _, c := range s.Refusals() {
		if c.Method == "editMessageText" && strings.Contains(c.Description, "message is not modified") {
			edits[c.Chat]++
			total++
			continue
		}
		t.Errorf("Telegram refused %s to chat %d: %s", c.Method, c.Chat, c.Description)
	}
	for chat, n := range edits {
		if n > kills {
			t.Errorf("%d edits in chat %d changed nothing, after %d kills", n, chat, kills)
		}
	}
	return total
}
