package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const (
	promptText = `document.querySelector('#prompt').textContent`
	armed      = `document.querySelector('#prompt:not([hidden]):not([data-moving]) button:enabled')`
)

func permission() sessions.Dialog {
	return sessions.Dialog{
		Kind: sessions.PromptPermission, Title: "Do you want to proceed?", Body: "rm -rf <b>build</b>\nRemove the build folder", Print: "a",
		Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "Yes, and don’t ask again for rm commands in /home/user/project"}, {Label: "No", Detail: "and tell it what to do differently"}},
	}
}

// A question is shown while it's open, answered by a button, and closed when it was
// answered elsewhere.
func TestQuestionIsAnsweredByAButton(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	asked := s.daemon.Ask(id, permission())
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	b.Until("the question takes clicks", armed)
	if text := browsertest.Eval[string](b, promptText); !strings.Contains(text, "Do you want to proceed?") || !strings.Contains(text, "rm -rf <b>build</b>") {
		t.Errorf("the question is %q", text)
	}
	b.Shot("prompt")
	b.Do(browsertest.Scheme("dark"))
	b.Shot("prompt-dark")
	b.Do(chromedp.Click(".prompt-option:nth-child(3)"))
	b.Until("who answered what", `/This page answered: No$/.test(`+promptText+`)`)
	if p, err := s.daemon.Prompt(t.Context(), asked); err != nil || p.State != sessions.PromptAnswered || p.Chosen() != "No" || p.Answer.Author != "web" {
		t.Errorf("the answer is %+v, %v", p, err)
	}

	next := s.daemon.Ask(id, permission())
	b.Until("the next question takes clicks", armed)
	ann := sessions.Answer{Options: []int{0}, Author: "telegram:1", Name: "Ann"}
	s.daemon.SetPrompt(next, sessions.PromptAnswering, "", &ann)
	b.Until("word that somebody answers", `/Ann is answering: Yes/.test(`+promptText+`) && !(`+armed+`)`)
	s.daemon.SetPrompt(next, sessions.PromptAnswered, "", &ann)
	b.Until("who answered what elsewhere", `/Ann answered: Yes$/.test(`+promptText+`) && !document.querySelector('#prompt button')`)

	third := s.daemon.Ask(id, permission())
	b.Until("the third question takes clicks", armed)
	s.daemon.SetPrompt(third, sessions.PromptClosed, "it was answered in the pane", nil)
	b.Until("that it's closed", `/closed: it was answered in the pane$/.test(`+promptText+`)`)
}

// Closed while the page wasn't connected, asked anew while it wasn't.
func TestQuestionsOutliveTheConnection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	first := s.daemon.Ask(id, permission())
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	s.stop()
	b.Until("word of the lost connection", `!document.querySelector('#connection').hidden`)
	s.daemon.SetPrompt(first, sessions.PromptClosed, "it was answered in the pane", nil)
	s.start(t)
	b.Until("that it's closed", `/answered in the pane/.test(`+promptText+`)`)
	s.stop()
	b.Until("word of the lost connection", `!document.querySelector('#connection').hidden`)
	s.daemon.Ask(id, permission())
	s.start(t)
	b.Until("the next question", armed)
}

func TestSeveralOptionsAndTextAreSent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	multi := s.daemon.Ask(id, sessions.Dialog{
		Kind: sessions.PromptMulti, Title: "Which of them?", Print: "m",
		Options: []sessions.DialogOption{{Label: "SQLite", Detail: "one file"}, {Label: "Postgres"}, {Label: "Redis"}},
	})
	b := browse(t, 390, 800)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	b.Until("the question takes clicks", armed)
	b.Do(chromedp.Click(".prompt-check:nth-child(1)"), chromedp.Click(".prompt-check:nth-child(3)"))
	b.Shot("prompt-multi-phone")
	b.Do(chromedp.Click("#prompt [type=submit]"))
	b.Until("the answer", `/answered: SQLite, Redis$/.test(`+promptText+`)`)
	if p, err := s.daemon.Prompt(t.Context(), multi); err != nil || len(p.Answer.Options) != 2 || p.Answer.Options[1] != 2 {
		t.Errorf("the answer is %+v, %v", p.Answer, err)
	}
	text := s.daemon.Ask(id, sessions.Dialog{
		Kind: sessions.PromptChoice, Title: "Where to?", Print: "t", Text: "Type something", Options: []sessions.DialogOption{{Label: "Here"}},
	})
	b.Until("the question takes a text", `document.querySelector('.prompt-text input:enabled')`)
	b.Shot("prompt-text-phone")
	if wide := browsertest.Eval[bool](b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`); wide {
		t.Error("the page is wider than the phone")
	}
	b.Do(chromedp.SendKeys(".prompt-text input", "over there"), browsertest.Enter())
	b.Until("the text", `/answered: over there$/.test(`+promptText+`)`)
	if p, err := s.daemon.Prompt(t.Context(), text); err != nil || p.Answer.Text != "over there" {
		t.Errorf("the answer is %+v, %v", p.Answer, err)
	}
}

func TestSessionsThatNeedSomebodyComeFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.daemon.SetState(s.daemon.Add("done", ""), sessions.StateIdle, "")
	s.daemon.SetState(s.daemon.Add("ended", ""), sessions.StateEnded, "")
	s.daemon.SetState(s.daemon.Add("working", ""), sessions.StateWorking, "")
	s.daemon.Ask(s.daemon.Add("asking", ""), permission())
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"))
	b.Until("the order", `Array.from(document.querySelectorAll('.session-name'), (e) => e.textContent).join(' ') === 'asking working done ended'`)
}

// A dialog that isn't recognised is shown as it's on the screen, with its colours, and with
// keys.
func TestADialogThatIsNotRecognisedHasKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	s.daemon.SetScreen(id, sessions.Screen{Width: 20, Height: 2, Rows: []string{"Deploy?", "\x1b[7mnow\x1b[0m  later"}})
	d := sessions.Dialog{Kind: sessions.PromptUnread, Body: "Deploy?\nnow  later", Print: "u", Options: []sessions.DialogOption{{Label: "Esc"}, {Label: "↓"}, {Label: "Enter"}}}
	asked := s.daemon.Ask(id, d)
	b := browse(t, 390, 800)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	b.Until("the question takes clicks", armed)
	b.Until("the screen's colours", `document.querySelector('#prompt .prompt-body .reverse')?.textContent === 'now'`)
	b.Shot("prompt-unread")
	if text := browsertest.Eval[string](b, promptText); !strings.Contains(text, "Its screen looks like a question") || !strings.Contains(text, "doesn’t know this dialog") {
		t.Errorf("the question is %q", text)
	}
	b.Do(chromedp.Click(".prompt-option:nth-child(2)"))
	b.Until("who pressed what", `/This page answered: ↓$/.test(`+promptText+`)`)
	if p, err := s.daemon.Prompt(t.Context(), asked); err != nil || p.Chosen() != "↓" {
		t.Errorf("the answer is %+v, %v", p, err)
	}
}

// A digit chooses the option that has its number, under the conditions under which a click does,
// and is text where text is written.
func TestDigitsChooseOptions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	asked := s.daemon.Ask(id, permission())
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	press := func(key string) { b.Do(chromedp.KeyEvent(key)) }
	open := func(id string) {
		t.Helper()
		if p, err := s.daemon.Prompt(t.Context(), id); err != nil || p.State != sessions.PromptOpen {
			t.Errorf("the question is %+v, %v", p, err)
		}
	}

	// A question that has just come takes no digit: it was meant for what stood there.
	browsertest.Eval[int](b, `(document.querySelectorAll('#prompt button').forEach((button) => { button.disabled = true }), 0)`)
	press("1")
	s.daemon.SetPrompt(asked, sessions.PromptClosed, "it was answered in the pane", nil)
	b.Until("that it's closed", `/answered in the pane$/.test(`+promptText+`)`)
	press("1") // there's nothing to choose
	asked = s.daemon.Ask(id, permission())
	b.Until("the question takes clicks", armed)
	press("4") // there are three
	press("0")
	b.Do(chromedp.KeyEvent("3", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.Do(chromedp.SendKeys("#text", "12"))
	if text := browsertest.Eval[string](b, `document.querySelector('#text').value`); text != "12" {
		t.Errorf("what was written is %q", text)
	}
	b.Do(chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"))
	browsertest.Eval[int](b, `(document.querySelector('#new-create').focus(), 0)`)
	press("2")
	b.Do(chromedp.Click("#new-cancel"))
	open(asked)
	browsertest.Eval[int](b, `(document.activeElement.blur(), 0)`)
	press("3")
	b.Until("who answered what", `/This page answered: No$/.test(`+promptText+`)`)
	if keys := s.daemon.Pressed(); len(keys) > 0 {
		t.Errorf("keys were pressed in the pane: %v", keys)
	}

	// Where several can be chosen a digit checks an option, and takes that back.
	multi := s.daemon.Ask(id, sessions.Dialog{
		Kind: sessions.PromptMulti, Title: "Which of them?", Print: "m",
		Options: []sessions.DialogOption{{Label: "SQLite"}, {Label: "Postgres"}, {Label: "Redis"}},
	})
	b.Until("the question takes clicks", armed)
	for _, key := range []string{"1", "3", "1", "2"} {
		press(key)
	}
	b.Shot("prompt-multi")
	open(multi)
	b.Do(chromedp.Click("#prompt [type=submit]"))
	b.Until("the answer", `/answered: Postgres, Redis$/.test(`+promptText+`)`)
	if at := browsertest.Eval[string](b, `document.activeElement.id`); at != "prompt" { // no field, where digits are text
		t.Errorf("the focus is at %q after a click", at)
	}

	// The buttons of a dialog that isn't recognised have keys, not numbers.
	unread := s.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptUnread, Body: "Deploy?", Print: "u", Options: []sessions.DialogOption{{Label: "Esc"}, {Label: "2"}, {Label: "Enter"}}})
	b.Until("the question takes clicks", armed)
	press("1")
	press("3")
	open(unread)
	press("2")
	b.Until("which key was pressed", `/This page answered: 2$/.test(`+promptText+`)`)
}
