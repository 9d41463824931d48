package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// A program that asks for a line rings within 3 s in both chats, with its row as the program
// printed it and nothing that was typed; what somebody who may type writes there, or who
// answers the message, is its answer, and the message is closed everywhere. What a password's
// prompt hides stands nowhere.
func checkAskedLinesRing(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/wchan"); err != nil {
		t.Skip("this system doesn't tell what processes wait for")
	}
	r := newStandinRig(t)
	r.stop()
	r.cfg.Polling.OutputCadence = 1 // as it comes
	r.cfg.Access.Approvers = nil    // it's no dialog
	r.start()
	r.await("the gateway", func() bool { return r.discord.Gateways() == 1 })
	const script = `echo begun; while [ ! -e go ]; do sleep 0.05; done; n=0
ask() { n=$((n+1)); date +%s.%N >drawn-$n; printf '%s' "$1"; IFS= read -r line; printf '%s\n' "$line" >read-$n; sleep 1; }
ask 'Name: '; ask 'What is it for? '; ask "Press Enter to continue"; stty -echo; ask '[sudo] password for ada: '; stty echo; echo; echo all is done; sleep 1000`
	rows := []string{"Name:", "What is it for?", "Press Enter to continue", "[sudo] password for ada:"}
	for _, by := range []string{"telegram", "discord reply", "pane"} {
		dir := filepath.Join(r.dir, "asks "+by)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := r.api.NewSession(r.ctx(), api.Create{Name: "asks-" + strings.Fields(by)[0], Cwd: dir, Command: []string{"sh", "-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		r.await("the chats", func() bool {
			s, err := r.api.Session(r.ctx(), string(s.ID))
			return err == nil && len(s.Bindings) == 2 && r.has(s.ID, "begun")()
		})
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var typed []string
		for i, row := range rows {
			text := fmt.Sprintf("hunter%d-%s", i, strings.Fields(by)[0])
			typed = append(typed, text)
			var tele telegramtest.Message
			var disc discordtest.Message
			r.await("the messages of "+row, func() bool {
				var a, b bool
				tele, a = r.teleAsked(s.Name, row)
				disc, b = r.discAsked(s.Name, row)
				return a && b
			})
			drawn := timeIn(t, filepath.Join(dir, fmt.Sprint("drawn-", i+1)))
			for _, took := range []time.Duration{tele.At.Sub(drawn), disc.At.Sub(drawn)} {
				if took > 3*time.Second {
					t.Errorf("%s rang %s after it was asked", row, took)
				}
			}
			if !tele.Rang || !disc.Rang {
				t.Errorf("%s doesn't ring: %t, %t", row, tele.Rang, disc.Rang)
			}
			var p api.Prompt
			if all, err := r.api.Prompts(r.ctx()); err == nil {
				p = all[slices.IndexFunc(all, func(p api.Prompt) bool { return p.Session == s.ID })]
			}
			if p.Kind != sessions.PromptLine || p.Title != row || p.Hidden != (i == 3) {
				t.Errorf("%+v", p)
			}
			switch by {
			case "telegram":
				_, err = r.onTele.Say(telegramtest.Place{Chat: tele.Chat, Thread: tele.Thread}, text)
			case "pane":
				r.tmux("send-keys", "-t", s.Tmux.Pane, "-l", text)
				time.Sleep(300 * time.Millisecond)
				r.tmux("send-keys", "-t", s.Tmux.Pane, "Enter")
			default:
				_, err = r.onDisc.Reply(disc.Channel, disc.ID, text)
			}
			if err != nil {
				t.Error(err)
			}
			r.await("the line", func() bool {
				got, _ := os.ReadFile(filepath.Join(dir, fmt.Sprint("read-", i+1)))
				return strings.TrimSpace(string(got)) == text
			})
			r.await("the end in the chats", func() bool {
				m, _ := r.telegram.Message(tele.Chat, tele.ID)
				d, _ := r.discord.Message(disc.ID)
				return len(m.Buttons) == 0 && len(d.Rows) == 0
			})
			m, _ := r.telegram.Message(tele.Chat, tele.ID)
			d, _ := r.discord.Message(disc.ID)
			for _, text := range typed {
				if strings.Contains(m.Text, text) || strings.Contains(d.Content, text) {
					t.Errorf("what was typed stands in %q, %q", m.Text, d.Content)
				}
			}
		}
		r.await("the end", r.has(s.ID, "all is done"))
		secret := typed[3]
		for _, line := range r.lines(s.ID) {
			if strings.Contains(line, secret) {
				t.Errorf("what wasn't shown is in the log: %q", line)
			}
		}
		r.nowhereByTheBot(secret)
	}
	if open, err := r.api.Prompts(r.ctx()); err != nil || len(open) > 0 {
		t.Errorf("%+v, %v", open, err)
	}
}

// nowhereByTheBot fails if panebridge has written a text into any chat.
func (r *standinRig) nowhereByTheBot(secret string) {
	r.Helper()
	for _, topic := range r.telegram.Topics(r.forum) {
		for _, m := range r.telegram.See(topic.Place) {
			if strings.Contains(m.Text, secret) && m.From.ID != r.onTele.ID {
				r.Errorf("a chat has %q", m.Text)
			}
		}
	}
	for _, thread := range r.discord.Threads(r.channel) {
		for _, m := range r.discord.Messages(thread.ID) {
			if strings.Contains(m.Content, secret) && m.Author.ID != r.onDisc.ID {
				r.Errorf("a chat has %q", m.Content)
			}
		}
	}
}

// teleAsked is the open message of a session's question for a line.
func (r *standinRig) teleAsked(name, row string) (telegramtest.Message, bool) {
	for _, topic := range r.telegram.Topics(r.forum) {
		for _, m := range r.telegram.See(topic.Place) {
			if strings.Contains(m.Text, name+" asks for a line") && strings.Contains(m.Text, row) && len(m.Buttons) > 0 {
				return m, true
			}
		}
	}
	return telegramtest.Message{}, false
}

func (r *standinRig) discAsked(name, row string) (discordtest.Message, bool) {
	for _, thread := range r.discord.Threads(r.channel) {
		for _, m := range r.discord.Messages(thread.ID) {
			text := strings.ReplaceAll(m.Content, "\\", "")
			if strings.Contains(text, name+" asks for a line") && strings.Contains(text, row) && len(m.Rows) > 0 {
				return m, true
			}
		}
	}
	return discordtest.Message{}, false
}

// Nothing rings where a shell or an interpreter waits for a command, or a program reads what
// it's given, whatever somebody has typed there; a shell's own read -p does, and so does what
// it runs.
func TestPromptsForCommandsDontRing(t *testing.T) {
	slow(t)
	if _, err := os.Stat("/proc/self/wchan"); err != nil {
		t.Skip("this system doesn't tell what processes wait for")
	}
	d := newDaemon(t)
	programs := map[string][]string{
		"cat": {"sh", "-c", "echo ready; exec cat"}, "sh": {"sh"}, "bash": {"bash", "--norc"}, "dash": {"dash"}, "bash-dumb": {"bash", "--norc", "--noediting"}, "zsh": {"zsh", "-f"}, "fish": {"fish", "--no-config"},
		"python3": {"python3", "-q"}, "python-plain": {"env", "TERM=dumb", "python3", "-q"}, "sqlite3": {"sqlite3"}, "node": {"node"}, "psql": {"psql"}, "gdb": {"gdb", "-q"}, "awk": {"awk", "{ print }"},
	}
	for n, prompt := range []string{"gdb) ", "(gdb) ", "db> ", "In [1]: ", "MariaDB [(none)]> "} {
		programs[fmt.Sprint("loop-", n)] = []string{"sh", "-c", `while printf '%s' "$1" && read -r x; do echo "$x"; done`, "sh", prompt}
	}
	open := map[string]api.Session{}
	for name, command := range programs {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: command})
		if err != nil {
			t.Fatal(err)
		}
		open[name] = s
	}
	for name, s := range open {
		d.await("life in "+name, func() bool {
			one, err := d.api.Session(d.ctx(), string(s.ID))
			return err == nil && (one.State == sessions.StateEnded || one.State == sessions.StateIdle)
		})
	}
	quiet := func(what string) {
		t.Helper()
		for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(100 * time.Millisecond) {
			for name, s := range open {
				if one, err := d.api.Session(d.ctx(), string(s.ID)); err == nil && one.State == sessions.StateWaiting {
					t.Errorf("%s %s: %s", name, what, one.Reason)
					delete(open, name)
				}
			}
			if all, err := d.api.Prompts(d.ctx()); err != nil || len(all) > 0 {
				t.Fatalf("%s: %+v, %v", what, all, err)
			}
		}
	}
	quiet("at its prompt")
	for name, s := range open { // a client without its server ends, say
		one, err := d.api.Session(d.ctx(), string(s.ID))
		if err != nil {
			t.Fatal(err)
		}
		if one.State == sessions.StateEnded {
			t.Logf("%s has ended: %s", name, one.Reason)
			delete(open, name)
		}
	}
	for _, name := range []string{"cat", "sh", "bash", "dash", "python3"} {
		if _, ok := open[name]; !ok {
			t.Fatalf("%s has ended", name)
		}
	}
	for _, typed := range []string{"x = 'what is it?", " - name: ", "[y/N]"} {
		for _, s := range open {
			d.tmux("send-keys", "-t", s.Tmux.Pane, "-l", typed)
		}
		quiet("with " + typed)
	}
	for _, s := range open {
		d.tmux("send-keys", "-t", s.Tmux.Pane, "C-u")
		d.tmux("send-keys", "-t", s.Tmux.Pane, "-l", "1 # a:")
		d.tmux("send-keys", "-t", s.Tmux.Pane, "Enter")
	}
	quiet("behind a line")
	prompts := func() int {
		return strings.Count("\n"+d.tmux("capture-pane", "-p", "-t", open["bash"].Tmux.Pane), "\nbash-")
	}
	had := prompts()
	d.tmux("send-keys", "-t", open["bash"].Tmux.Pane, "C-c")
	d.await("a new prompt", func() bool { return prompts() > had }) // bash drops what comes while it takes the signal
	d.tmux("send-keys", "-t", open["bash"].Tmux.Pane, "-l", "read -p 'Which one? ' x")
	d.tmux("send-keys", "-t", open["bash"].Tmux.Pane, "Enter")
	d.await("bash's own question", func() bool {
		all, err := d.api.Prompts(d.ctx())
		return err == nil && len(all) == 1 && all[0].Title == "Which one?"
	})
	d.tmux("send-keys", "-t", open["bash"].Tmux.Pane, "-l", "that: ")
	d.tmux("send-keys", "-t", open["bash"].Tmux.Pane, "Enter")
	d.await("its end", func() bool {
		all, err := d.api.Prompts(d.ctx())
		return err == nil && len(all) == 0
	})
	quiet("behind its question")
}
