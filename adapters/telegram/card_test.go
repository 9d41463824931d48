package telegram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// A session that somebody has begun has its topic within three seconds, and a card in it that
// says what it is and what can be done, though its program says nothing until it's asked. What
// it says then stands below. One that was adopted has neither until it says something.
func TestACardStandsInTheTopicOfANewSession(t *testing.T) {
	inOffice(t, false, func(o *office) {
		if err := o.House.BeginOwned("pb_000000000009", "fresh"); err != nil {
			t.Fatal(err)
		}
		if err := o.House.Begin("pb_000000000010", "adopted"); err != nil {
			t.Fatal(err)
		}
		o.Pass(3 * time.Second)
		at := o.topic(o.forum, "fresh").Place
		cards := func(at telegramtest.Place) (all []telegramtest.Message) {
			for _, m := range o.See(at) {
				if len(m.Buttons) > 0 && m.Service == "" {
					all = append(all, m)
				}
			}
			return all
		}
		got := cards(at)
		if len(got) != 1 || !strings.HasPrefix(got[0].Text, "fresh · a shell in") || len(got[0].Buttons[0]) != 4 || got[0].Buttons[0][0].Text != "Screen" || got[0].Rang {
			t.Fatalf("after three seconds there is %+v", got)
		}
		o.Print("pb_000000000009", adaptertest.Output{Lines: lines(1, 2), Ends: true})
		o.Print("pb_000000000010", adaptertest.Output{Lines: lines(1, 2), Ends: true})
		o.Pass(20 * time.Second)
		if m := o.See(at); m[len(m)-1].ID <= got[0].ID || len(cards(at)) != 1 {
			t.Errorf("then there is %+v", m)
		}
		if n := len(cards(o.topic(o.forum, "adopted").Place)); n != 0 {
			t.Errorf("an adopted session has %d cards", n)
		}
		o.Close()
		o.Pass(time.Hour)
		o.Open()
		o.Pass(time.Minute)
		if n := len(cards(at)); n != 1 {
			t.Errorf("after a restart there are %d cards", n)
		}
	})
}

// Where topics can be made and not written to, the card stands where the session is shown.
func TestACardStandsInTheChatItselfWhereTopicsTakeNothing(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.SetDeafTopics(w.forum, true)
		o := w.office(dir, w.forum)
		o.Open()
		defer o.Close()
		if err := o.House.BeginOwned("pb_000000000009", "fresh"); err != nil {
			t.Fatal(err)
		}
		o.Pass(time.Second)
		o.Print("pb_000000000009", adaptertest.Output{Lines: lines(1, 2), Ends: true})
		o.Pass(time.Minute)
		n := 0
		for _, m := range o.See(telegramtest.Place{Chat: w.forum}) {
			if strings.HasPrefix(m.Text, "fresh · a shell in") && len(m.Buttons) == 1 {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the chat has %d cards: %+v", n, o.See(telegramtest.Place{Chat: w.forum}))
		}
	})
}

// A card comes however late its topic does, also after a restart between the two, and is tried
// again by itself where it was refused; each stands once.
func TestACardComesWhateverHappens(t *testing.T) {
	for name, trouble := range map[string]func(o *office){
		"the topic waits for ten minutes": func(o *office) {
			o.Inject(telegramtest.Fault{Method: "createForumTopic", Times: 1, RetryAfter: 10 * time.Minute})
		},
		"a restart before the card": func(o *office) {
			o.Inject(telegramtest.Fault{Method: "sendMessage", Times: 1, RetryAfter: time.Minute})
			o.Pass(20 * time.Second)
			o.Close()
			o.Pass(time.Hour)
			o.Open()
		},
		"it's refused for a while in every form": func(o *office) {
			for _, method := range []string{"sendMessage", "sendDocument"} {
				remove := o.Inject(telegramtest.Fault{Method: method, Code: 400, Description: "Bad Request: have no rights to send a message"})
				time.AfterFunc(5*time.Minute, remove)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, false, func(o *office) {
				if err := o.House.BeginOwned("pb_000000000009", "fresh"); err != nil {
					t.Fatal(err)
				}
				trouble(o)
				o.Pass(30 * time.Minute)
				o.Close()
				o.Pass(time.Hour)
				o.Open()
				o.Pass(time.Minute)
				n := 0
				for _, m := range o.See(o.topic(o.forum, "fresh").Place) {
					if strings.Contains(m.Text, "fresh · a shell in") { // after a restart it says that it may be there already
						n++
					}
				}
				if n != 1 {
					t.Errorf("there are %d cards", n)
				}
			})
		})
	}
}

func TestTheListIsPinned(t *testing.T) {
	inOffice(t, true, func(o *office) {
		platformtest.PinnedList(t, o.Office, func() (out []platformtest.ListedMessage) {
			for _, m := range o.See(telegramtest.Place{Chat: o.forum}) {
				if m.Service != "" {
					continue
				}
				l := platformtest.ListedMessage{Pinned: m.Pinned, Rang: m.Rang, Text: m.Text}
				for _, v := range m.History {
					l.Edits = append(l.Edits, v.At)
				}
				out = append(out, l)
			}
			return out
		}, func(text string) bool { return text == "Working: 1\n\n• ◐ agent" })
	})
}

// Telegram's own line that the list was pinned is deleted.
func TestThatTheListIsPinnedIsntSaid(t *testing.T) {
	inOffice(t, true, func(o *office) {
		o.Print(asking, adaptertest.Output{Lines: lines(1, 2)})
		o.Pass(10 * time.Minute)
		pinned, said := false, 0
		for _, m := range o.Messages(o.forum) {
			pinned = pinned || m.Pinned
			if m.Service == "pinned_message" {
				if said++; m.There() {
					t.Errorf("people see %q", m.Service)
				}
			}
		}
		if !pinned || said != 1 {
			t.Errorf("pinned: %v, which was said %d times", pinned, said)
		}
	})
}

// Without the right to pin, the list is there all the same, and Telegram is asked once.
func TestTheListWithoutTheRightToPin(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, telegramtest.Options{}, func(w *world) {
		rights := telegramtest.AllRights()
		rights.PinMessages = false
		if err := w.ada.SetBotRights(w.forum, &rights); err != nil {
			t.Fatal(err)
		}
		o := w.office(dir, w.forum)
		o.Pinned = true
		o.Open()
		o.Begin(asking, "agent")
		o.Pass(time.Hour)
		o.Close()
		refused := 0
		for _, c := range w.Refusals() {
			if c.Method == "pinChatMessage" {
				refused++
			}
		}
		seen := w.See(telegramtest.Place{Chat: w.forum})
		if refused != 1 || len(seen) == 0 || seen[len(seen)-1].Pinned {
			t.Errorf("%d calls to pin were refused; people see %+v", refused, seen)
		}
	})
}
