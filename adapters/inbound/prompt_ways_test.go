package inbound_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// inWorldWithMenus is inWorld on a platform where so many menus fit below a message.
func inWorldWithMenus(t *testing.T, menus int, test func(w *world)) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.hub.mu.Lock()
		w.hub.menus = menus
		w.hub.mu.Unlock()
		test(w)
	})
}

// choose has somebody choose of a menu.
func (w *world) choose(person, menu string, values ...string) {
	w.Helper()
	w.do(w.event(person, intake.Pressed{Data: menu, Token: "t", Chosen: values}))
}

// several is a question with so many options, of which any number may be chosen if multi.
func several(n int, multi bool) sessions.Dialog {
	d := sessions.Dialog{Kind: sessions.PromptChoice, Title: "Which?"}
	if multi {
		d.Kind = sessions.PromptMulti
	}
	for i := range n {
		d.Options = append(d.Options, sessions.DialogOption{Label: fmt.Sprint("thing ", i)})
	}
	return d
}

// chosenIn are the values that a menu shows as chosen.
func chosenIn(m adapters.Menu) (out []string) {
	for _, o := range m.Options {
		if o.Chosen {
			out = append(out, o.Value)
		}
	}
	return out
}

func TestSeveralOptionsAreChosenOfAMenu(t *testing.T) {
	inWorldWithMenus(t, 4, func(w *world) {
		d := several(3, true)
		d.Options[1].Detail = "it's slow, " + strings.Repeat("very ", 40)
		d.Options[2].Label = strings.Repeat("very ", 30) + "long"
		d.Text = "Other"
		d.Options = append(d.Options, sessions.DialogOption{Label: "Other"})
		w.question("pr_1", d)
		posts := w.wantPosts("asks you to choose any number")
		if !slices.Equal(labels(posts), []string{"Send", "Write an answer…", "Screen", "Keys"}) || len(posts[0].Menus) != 1 {
			t.Fatalf("got %+v", posts[0])
		}
		m := posts[0].Menus[0]
		if len(m.Options) != 3 || m.Least != 0 || m.Most != 3 || m.Options[0].Label != "1. thing 0" || chosenIn(m) != nil {
			t.Errorf("the menu is %+v", m)
		}
		for _, o := range m.Options {
			if len([]rune(o.Label)) > 100 || len([]rune(o.Detail)) > 100 || o.Label == "" {
				t.Errorf("%+v is longer than what's shown", o)
			}
		}
		w.choose(ann, m.Data, "1")
		w.wantAnswer("takes the role approver")
		for _, wrong := range [][]string{{"3"}, {"4"}, {"-1"}, {"x"}, {"1", "1"}, {"0", "99"}} {
			w.choose(dora, m.Data, wrong...)
			w.wantAnswer("that isn't an option of this menu")
		}
		w.wantPosts()
		w.choose(dora, m.Data, "2", "0")
		posts = w.wantPosts("asks you")
		m = posts[0].Menus[0]
		if posts[0].Message != "p1" || posts[0].Ring || !slices.Equal(chosenIn(m), []string{"0", "2"}) {
			t.Errorf("got %+v", posts[0])
		}
		w.choose(cleo, m.Data, "1") // what was chosen before isn't any more
		w.restart()
		posts = w.hub.take() // the one that was stopped may have shown the choice already
		if last := posts[len(posts)-1]; len(posts) > 2 || last.Message != "p1" || !slices.Equal(chosenIn(last.Menus[0]), []string{"1"}) {
			t.Fatalf("after a restart it shows %+v", posts)
		}
		w.chat.take()
		w.press(dora, w.button(posts, "Send"))
		w.wantAnswer("Answered: thing 1.")
		if got := w.asks.Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{1}) {
			t.Errorf("answers %+v", got)
		}
		if posts = w.wantPosts("Answered by Somebody: thing 1."); posts[0].Menus != nil || posts[0].Buttons != nil {
			t.Errorf("got %+v", posts[0])
		}
		w.choose(dora, m.Data, "0")
		w.wantAnswer("This question is closed. Answered by Somebody: thing 1.")
		w.wantPosts()
	})
}

// More options than a menu holds stand in several, each of which changes its own alone.
func TestOptionsInSeveralMenus(t *testing.T) {
	inWorldWithMenus(t, 4, func(w *world) {
		w.question("pr_1", several(130, true))
		posts := w.wantPosts("asks you")
		menus := posts[0].Menus
		if len(menus) != 4 || len(menus[3].Options) != 25 || menus[1].Hint != "Choose any number, then press Send (26 to 50 of 130)" {
			t.Fatalf("the menus are %+v", menus)
		}
		w.choose(dora, menus[1].Data, "30", "26")
		w.choose(dora, menus[0].Data, "24")
		w.choose(dora, menus[1].Data, "49")
		posts = w.wantPosts("asks you", "asks you", "asks you")
		w.choose(dora, menus[1].Data, "24") // it's another menu's
		w.wantPosts()
		w.chat.take()
		w.press(dora, w.button(posts, "Send"))
		w.wantAnswer("Answered: thing 24, thing 49.")
	})
}

// Of many options of which one is chosen, choosing it answers, once.
func TestOneOptionIsChosenOfAMenu(t *testing.T) {
	inWorldWithMenus(t, 4, func(w *world) {
		w.question("pr_0", several(4, false))
		if posts := w.wantPosts("asks you"); posts[0].Menus != nil || !slices.Contains(labels(posts), "thing 3") {
			t.Errorf("of few options, got %+v", posts[0])
		}
		w.question("pr_1", several(5, false))
		posts := w.wantPosts("asks you")
		if len(posts[0].Menus) != 1 || !slices.Equal(labels(posts), []string{"Screen", "Keys"}) {
			t.Fatalf("got %+v", posts[0])
		}
		m := posts[0].Menus[0]
		if m.Least != 1 || m.Most != 1 || m.Options[4].Label != "thing 4" {
			t.Errorf("the menu is %+v", m)
		}
		w.choose(ann, m.Data, "1")
		w.wantAnswer("takes the role approver")
		w.choose(dora, m.Data)
		w.wantAnswer("one option is to be chosen, not 0")
		w.choose(dora, m.Data, "1", "2")
		w.wantAnswer("one option is to be chosen, not 2")
		w.choose(dora, m.Data, "5")
		w.wantAnswer("that isn't an option of this menu")
		w.wantPosts()
		w.restart()
		w.choose(dora, m.Data, "4")
		w.wantAnswer("Answered: thing 4.")
		w.wantPosts("Answered by Somebody: thing 4.")
		w.choose(cleo, m.Data, "3")
		w.wantAnswer("This question is closed. Answered by Somebody: thing 4.")
		if got := w.asks.Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{4}) {
			t.Errorf("answers %+v", got)
		}
	})
}
