package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
)

// A session that's begun from a chat has the agent's flags and size, and goes on as the
// same session, in the same topic, when its program is started anew.
func TestASessionIsBegunAndRestartedFromAChat(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	operator := telegram.AddUser(telegramtest.User{FirstName: "O"})
	group := telegram.AddForum("Agents", operator)
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	d.cfg.Access.Operators = []string{"telegram:" + strconv.FormatInt(operator.ID, 10)}
	d.cfg.Agents = map[string]config.Agent{"echo": {
		Command: []string{"sh", "-c", `echo begun as $$ with "$@" in $PWD at $(stty size); exec cat`, "sh"}, Flags: []string{"a flag"}, Width: 70, Height: 20,
	}}
	d.start()
	folder := filepath.Join(shortTemp(t), "C#Samples#(echo)##") // tmux would start it elsewhere, if it were to read this
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	say := func(at telegramtest.Place, text string) {
		t.Helper()
		if _, err := operator.Say(at, text); err != nil {
			t.Fatal(err)
		}
	}
	say(telegramtest.Place{Chat: group}, "/new echo "+folder)
	var topic telegramtest.Place
	d.await("the session's topic", func() bool {
		for _, one := range telegram.Topics(group) {
			if one.Name == "echo-1" {
				topic = one.Place
			}
		}
		return topic.Thread != 0
	})
	begun := func() (pids []string) {
		for _, m := range telegram.See(topic) {
			for line := range strings.SplitSeq(m.Text, "\n") {
				var pid string
				if n, _ := fmt.Sscanf(line, "begun as %s", &pid); n == 1 && strings.HasSuffix(line, "with a flag in "+folder+" at 20 70") {
					pids = append(pids, pid)
				}
			}
		}
		return pids
	}
	d.await("the program's first words", func() bool { return len(begun()) == 1 })
	all, err := d.api.Sessions(d.ctx())
	if err != nil || len(all) != 1 {
		t.Fatalf("sessions are %+v, %v", all, err)
	}
	was := all[0]
	d.await("a quiet session, about which nobody is asked", func() bool {
		all, err := d.api.Sessions(d.ctx())
		return err == nil && all[0].State == "idle"
	})
	say(topic, "/restart")
	d.await("its first words again", func() bool { return len(begun()) == 2 })
	if pids := begun(); pids[0] == pids[1] {
		t.Errorf("it's process %s as before", pids[0])
	}
	say(topic, "afterwards")
	d.await("what was written then", d.has(was.ID, "afterwards"))
	all, err = d.api.Sessions(d.ctx())
	if err != nil || len(all) != 1 || all[0].ID != was.ID || all[0].Tmux != was.Tmux || all[0].State == "ended" {
		t.Errorf("sessions are %+v, %v; it was %+v", all, err, was)
	}
	if lines := d.lines(was.ID); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "program started anew") }) {
		t.Errorf("nothing says so: %q", lines)
	}
	if refused := telegram.Refusals(); len(refused) != 0 {
		t.Errorf("Telegram refused %+v", refused)
	}
}
