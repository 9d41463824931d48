package app_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
)

// On both platforms a search in a session's place finds that session's lines, and by a button those of all. Somebody without a
// role gets neither.
func TestASearchInChats(t *testing.T) {
	slow(t)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Operators = b.people()
	d.start()
	const secret = "ghp_x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"
	for _, name := range []string{"one", "two"} {
		script := "echo 'a needle of " + name + " with " + secret + "'; exec cat"
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", script}, Cwd: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		d.await("the line", d.has(s.ID, "a needle of "+name+" with "+secret))
	}
	topic, thread := b.awaitPlaces(d, "one")
	d.await("both can be found", func() bool {
		found, err := d.api.Search(d.ctx(), "needle", "", 0, 0)
		return err == nil && len(found.Hits) == 2
	})
	all, err := d.api.Search(d.ctx(), "needle", "", 0, 0)
	older, errOlder := d.api.Search(d.ctx(), "needle", "", 1, 1)
	if err != nil || errOlder != nil || len(older.Hits) != 1 || older.Hits[0].Line != all.Hits[1].Line {
		t.Errorf("%v %v: behind the newest of %v is %v", err, errOlder, all.Hits, older.Hits)
	}
	if _, err := d.api.Search(d.ctx(), "needle", "", 1, -1); err == nil {
		t.Error("a search leaves out -1 lines")
	}

	// The newest message with a text in it.
	telegram := func(with string) (id int, text string) {
		for _, m := range b.telegram.See(topic) {
			if strings.Contains(m.Text, with) {
				id, text = m.ID, m.Text
			}
		}
		return id, text
	}
	discord := func(with string) (id, text string) {
		for _, m := range b.discord.Messages(thread) {
			if strings.Contains(m.Content, with) {
				id, text = m.ID, m.Content
			}
		}
		return id, text
	}
	if _, err := b.ann.Say(topic, "/search needle"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.bob.Say(thread, "/search needle"); err != nil {
		t.Fatal(err)
	}
	d.await("lines of one", func() bool {
		_, tg := telegram("1 line of one")
		_, dc := discord("1 line of **one**")
		return strings.Contains(tg, "a needle of one") && strings.Contains(dc, "a needle of one")
	})
	for _, text := range []string{second(telegram("1 line of one")), second(discord("1 line of **one**"))} {
		if strings.Contains(text, "two") || strings.Contains(text, secret[4:10]) || !strings.Contains(text, "[masked: ") {
			t.Errorf("said %q", text)
		}
	}
	id, _ := telegram("1 line of one")
	if _, err := b.ann.Press(topic.Chat, id, "In all sessions"); err != nil {
		t.Fatal(err)
	}
	message, _ := discord("1 line of **one**")
	if _, err := b.bob.Press(message, "In all sessions"); err != nil {
		t.Fatal(err)
	}
	d.await("lines of both", func() bool {
		_, tg := telegram("2 lines of all sessions")
		_, dc := discord("2 lines of all sessions")
		return strings.Contains(tg, "two  a needle of two") && strings.Contains(dc, "two  a needle of two") && !strings.Contains(tg+dc, secret[4:10])
	})

	// Somebody in the same places who has no role.
	eve, mallory := b.telegram.AddUser(telegramtest.User{FirstName: "Eve"}), b.discord.Person("Mallory")
	eve.Join(b.group)
	if _, err := eve.Say(topic, "/search needle"); err != nil {
		t.Fatal(err)
	}
	if _, err := eve.Press(topic.Chat, id, "In all sessions"); err != nil {
		t.Fatal(err)
	}
	if _, err := mallory.Say(thread, "/search needle"); err != nil {
		t.Fatal(err)
	}
	if _, err := mallory.Press(message, "In all sessions"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ann.Say(topic, "/search nothingofthat"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.bob.Say(thread, "/search nothingofthat"); err != nil {
		t.Fatal(err)
	}
	d.await("what's asked for behind it", func() bool {
		_, tg := telegram("No line of one has that")
		_, dc := discord("No line of **one** has that")
		return tg != "" && dc != ""
	})
	count := map[string]int{}
	for _, m := range b.telegram.See(topic) {
		count["telegram"] += strings.Count(m.Text, "a needle of two")
	}
	for _, m := range b.discord.Messages(thread) {
		count["discord"] += strings.Count(m.Content, "a needle of two")
	}
	if count["telegram"] != 1 || count["discord"] != 1 {
		t.Errorf("the other session's line was said %v times", count)
	}
}

func second[A, B any](_ A, b B) B { return b }
