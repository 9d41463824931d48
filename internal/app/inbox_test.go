package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// mailOf opens a daemon's mail as the command line does.
func mailOf(d *daemon) (*store.Inbox, inbox.PostOffice) {
	d.Helper()
	db, err := store.OpenInbox(d.ctx(), filepath.Join(d.dir, "state", "panebridge.db"))
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = db.Close() })
	return db, inbox.PostOffice{Store: db, Announce: d.api}
}

// TestMailToAPerson sends mail from a session to a person on Telegram, who answers it
// there; the answer is mail to the session, and typed into its pane.
func TestMailToAPerson(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	ann := telegram.AddUser(telegramtest.User{FirstName: "Ann"})
	id := "telegram:" + strconv.FormatInt(ann.ID, 10)
	d := newDaemon(t)
	d.stop()
	tg := telegramConfig(d.cfg)
	tg.Enabled, tg.Token, tg.APIURL = true, config.NewSecret(telegramtest.DefaultToken), onAPort(t, telegram)
	d.cfg.Access.Operators = []string{id}
	d.cfg.People = map[string][]string{"ann": {id}}
	d.start()
	if _, err := ann.Say(ann.Private(), "/start"); err != nil { // no bot may write first
		t.Fatal(err)
	}
	d.await("the bot to answer", func() bool { return len(telegram.See(ann.Private())) > 1 })
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "work", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	db, box := mailOf(d)
	all, err := db.Parties(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	sent, err := box.Send(d.ctx(), all, inbox.Address(s.ID), inbox.Person("ann"), "may I go on?")
	if err != nil || !sent.NotificationSent {
		t.Fatalf("%+v, %v", sent, err)
	}
	var letter telegramtest.Message
	for _, m := range telegram.See(ann.Private()) {
		if strings.Contains(m.Text, "may I go on?") {
			letter = m
		}
	}
	if _, err := ann.Reply(ann.Private(), letter.ID, "yes, go on"); err != nil {
		t.Fatal(err)
	}
	d.await("the answer as mail", func() bool {
		mails, err := db.Mail(d.ctx(), inbox.Query{To: inbox.Address(s.ID)})
		return err == nil && len(mails) == 1 && mails[0].From == inbox.Person("ann") && mails[0].Text == "yes, go on"
	})
	d.await("that the pane is told of it", d.has(s.ID, inbox.PollCommand))
	if one, err := db.One(d.ctx(), sent.Mail.ID); err != nil || one.Status != inbox.Completed {
		t.Errorf("the letter: %+v, %v", one, err)
	}
}

// TestMailRunsNothing: who's mailed may be a shell at the other end of something, or an
// interpreter, which runs what's typed. Nobody can tell, so it's typed no word of the mail.
func TestMailRunsNothing(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	db, box := mailOf(d)
	dir := t.TempDir()
	for name, command := range map[string][]string{
		"interpreter": {"sh", "-c", `while read -r line; do eval "$line"; echo "did $line"; done`},
		"terminal":    {"script", "-q", "-c", `PS1='> ' bash --norc`, "/dev/null"},
		"with a sign": {"script", "-q", "-c", `PS1='❯ ' bash --norc`, "/dev/null"},
		"with a box":  {"script", "-q", "-c", `PS1='│ ❯ ' bash --norc`, "/dev/null"},
	} {
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: command, Cwd: dir})
		if err != nil {
			t.Fatal(err)
		}
		all, err := db.Parties(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		text := "x; touch ran-it; $(touch ran-it) `touch ran-it`\ntouch ran-it"
		sent, err := box.Send(d.ctx(), all, inbox.Person("ann"), inbox.Address(s.ID), text)
		if err != nil {
			t.Fatal(err)
		}
		d.await(name+" to be told", func() bool {
			one, err := db.One(d.ctx(), sent.Mail.ID)
			return err == nil && one.Preview == inbox.PreviewTyped
		})
		if _, err := d.api.Input(d.ctx(), string(s.ID), "exit", true); err != nil {
			t.Fatal(err)
		}
		d.await(name+" to end", func() bool { // what was typed before has run by then
			one, err := d.api.Session(d.ctx(), string(s.ID))
			return err == nil && one.State == sessions.StateEnded
		})
		if _, err := os.Stat(filepath.Join(dir, "ran-it")); err == nil {
			t.Fatalf("%s ran the mail", name)
		}
	}
}

// TestMailComesBack: what can't be typed for a session until that ends comes back to who sent it,
// once, and isn't tried again.
func TestMailComesBack(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	db, box := mailOf(d)
	var ids []inbox.Address
	for name, command := range map[string]string{"lead": "exec cat", "work": "while :; do echo busy; sleep 0.2; done"} {
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", command}})
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, inbox.Address(s.ID)); name == "lead" {
			ids[0], ids[len(ids)-1] = ids[len(ids)-1], ids[0]
		}
	}
	lead, work := ids[0], ids[1]
	d.await("the member to be busy", d.has(work.Session(), "busy"))
	all, err := db.Parties(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	sent, err := box.Send(d.ctx(), all, lead, work, "are you there?")
	if err != nil || sent.NotificationSent || sent.Mail.Preview != inbox.PreviewWaiting {
		t.Fatalf("%+v, %v", sent, err)
	}
	if err := d.api.CloseSession(d.ctx(), string(work.Session())); err != nil {
		t.Fatal(err)
	}
	d.await("the mail to come back", func() bool {
		mails, err := db.Mail(d.ctx(), inbox.Query{To: lead, Kind: inbox.KindMail})
		return err == nil && len(mails) == 1 && strings.HasPrefix(mails[0].Text, "Undeliverable: work has ended")
	})
	d.await("that the sender is told of it", d.has(lead.Session(), inbox.PollCommand))
	if one, err := db.One(d.ctx(), sent.Mail.ID); err != nil || one.Status != inbox.Undeliverable || one.Preview != inbox.PreviewNone {
		t.Errorf("%+v, %v", one, err)
	}
}

// TestDirectorIsTold: the end of a member's turn and its exit become notices for the
// director, who listens, and for a session in no fleet that has asked for them; its own
// become notices for the director of the fleet whose member it is.
func TestDirectorIsTold(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	var ids []string
	for _, name := range []string{"lead", "work", "top", "other"} {
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", `while read -r line; do echo "did $line"; echo "[Output Complete]"; done`}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(s.ID))
	}
	db, _ := mailOf(d)
	all, err := db.Parties(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AddFleet(d.ctx(), "web", all[0].ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.AddMember(d.ctx(), "web", all[1].ID, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.AddFleet(d.ctx(), "all", all[2].ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.AddMember(d.ctx(), "all", all[0].ID, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.Subscribe(d.ctx(), all[1].ID, inbox.Address(all[3].ID), false); err != nil {
		t.Fatal(err)
	}
	heardBy := func(id string) (told []inbox.Notice) {
		l := inbox.Listener{Session: inbox.Address(id), Process: inbox.Self(), Bell: "none"}
		told, err := db.TakeNotices(d.ctx(), l, 100)
		if err != nil {
			t.Error(err)
		}
		return told
	}
	var told []inbox.Notice
	hear := func() bool {
		told = append(told, heardBy(ids[0])...)
		return true
	}
	for _, id := range ids[:2] {
		if _, err := d.api.Input(d.ctx(), id, "hello", true); err != nil {
			t.Fatal(err)
		}
	}
	d.await("the end of the turn", func() bool {
		return hear() && len(told) > 0 && told[len(told)-1].Type == inbox.Complete
	})
	if err := d.api.Keys(d.ctx(), ids[1], "C-d"); err != nil {
		t.Fatal(err)
	}
	d.await("the exit", func() bool {
		return hear() && strings.HasPrefix(told[len(told)-1].Msg, "ended: ")
	})
	for _, n := range told {
		if n.From != "work" {
			t.Errorf("told of %+v", n)
		}
	}
	msgs := func(all []inbox.Notice) (out []string) {
		for _, n := range all {
			out = append(out, n.From+": "+n.Msg)
		}
		return out
	}
	if asked, director := msgs(heardBy(ids[3])), slices.Compact(msgs(told)); !slices.Equal(asked, director) {
		t.Errorf("who asked for it was told %q, the director %q", asked, director)
	}
	d.await("what the director's director is told", func() bool {
		return slices.Equal(msgs(heardBy(ids[2])), []string{"lead: its turn 1 has ended"})
	})
}
