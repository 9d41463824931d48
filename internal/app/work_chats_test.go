package app_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Of a recorded Claude Code, chats show the answers and how much work there was. A button below shows the work, after a restart of
// the daemon, too, and /history has all of it.
func TestWorkIsCountedInChats(t *testing.T) {
	slow(t)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Operators = b.people()
	for i := range d.cfg.Mirrors {
		d.cfg.Mirrors[i].Tools, d.cfg.Mirrors[i].Thinking, d.cfg.Mirrors[i].Prompts = "brief", "brief", "none"
	}
	d.start()
	p := playAgent(d, "claude/tools-inline-100x35", 4, false)
	p.finish()
	topic, thread := b.awaitPlaces(d, "agent")

	lines := p.logged()
	calls, failed, thoughts := 0, 0, 0
	for _, l := range lines {
		switch {
		case !l.Begins:
		case l.Kind == sessions.KindThought:
			thoughts++
		case l.Tool != nil && l.Tool.Part != sessions.ToolReturned:
			calls++
		case l.Tool != nil && l.Tool.Failed:
			failed++
		}
	}
	if calls == 0 || thoughts == 0 {
		t.Fatalf("the log has %d calls and %d thoughts", calls, thoughts)
	}
	telegram := func() (all string) {
		for _, m := range b.telegram.See(topic) {
			all += m.Text + "\n"
		}
		return all
	}
	discord := func() (all string) {
		for _, m := range b.discord.Messages(thread) {
			all += m.Content + "\n"
		}
		return all
	}
	sum := func(words, text string) (n int) {
		text = strings.Join(regexp.MustCompile("(?m)^`?⚙.*$").FindAllString(text, -1), "\n")
		for _, m := range regexp.MustCompile(words).FindAllStringSubmatch(text, -1) {
			k, err := strconv.Atoi(m[1])
			if err != nil {
				k = 1 // once
			}
			n += k
		}
		return n
	}
	last := p.truth()[len(p.truth())-1]
	for name, text := range map[string]func() string{"telegram": telegram, "discord": discord} {
		d.await("the last answer on "+name, func() bool {
			return strings.Contains(text(), strings.Fields(last)[0]) && sum(`thought (once|\d+)`, text()) >= thoughts
		})
		time.Sleep(time.Second) // for what mustn't come
		all := text()
		if n := sum(`(?:read|ran|edited|used|fetched|asked) (\d+) `, all) + sum(`searched (once|\d+)`, all); n != calls {
			t.Errorf("%s counts %d calls, want %d:\n%s", name, n, calls, all)
		}
		if n := sum(`(\d+) failed`, all); n != failed {
			t.Errorf("%s counts %d failures, want %d:\n%s", name, n, failed, all)
		}
		if n := sum(`thought (once|\d+)`, all); n != thoughts {
			t.Errorf("%s counts %d thoughts, want %d:\n%s", name, n, thoughts, all)
		}
		for _, l := range lines {
			if hidden := l.Kind == sessions.KindTool || l.Kind == sessions.KindThought || l.Kind == sessions.KindUser; hidden && len(l.Text) > 20 && strings.Contains(all, l.Text) {
				t.Errorf("%s shows %q", name, l.Text)
			}
		}
	}

	call := ""
	for _, l := range lines {
		if l.Tool != nil && l.Tool.Part == sessions.ToolCall && call == "" {
			call = strings.TrimPrefix(l.Text, "⚙ ")
		}
	}
	pressOnTelegram := func() {
		t.Helper()
		for _, m := range b.telegram.See(topic) {
			if len(m.Buttons) > 0 && m.Buttons[0][0].Text == "Show the work" {
				if _, err := b.ann.Press(topic.Chat, m.ID, "Show the work"); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		t.Error("there's no button on telegram")
	}
	pressOnDiscord := func() {
		t.Helper()
		for _, m := range b.discord.Messages(thread) {
			if len(m.Rows) > 0 && m.Rows[0][0].Label == "Show the work" {
				_, _ = b.bob.Press(m.ID, "Show the work") // it fails while nobody listens, just after a start
				return
			}
		}
		t.Error("there's no button on discord")
	}
	for times := 1; times <= 2; times++ {
		pressOnTelegram()
		d.await("the work on telegram", func() bool { return strings.Count(telegram(), call) == times })
		pressed := time.Time{}
		d.await("the work on discord", func() bool {
			if time.Since(pressed) > 5*time.Second {
				pressed = time.Now()
				pressOnDiscord()
			}
			return strings.Count(discord(), call) >= times
		})
		if times == 1 {
			d.stop()
			d.start()
		}
	}
	if _, err := b.ann.Say(topic, "/history 500"); err != nil {
		t.Fatal(err)
	}
	d.await("all of it by /history", func() bool {
		for _, m := range b.telegram.See(topic) {
			text := m.Text
			if m.File != nil {
				text = string(m.File.Content)
			}
			whole := strings.Contains(text+m.Text, call)
			for _, l := range lines {
				whole = whole && (strings.TrimSpace(l.Text) == "" || strings.Contains(text, l.Text))
			}
			if whole {
				return true
			}
		}
		return false
	})
}
