package web_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/sessions"
)

// What was answered stays in the conversation, where it was answered, also for who opens it later; what
// was closed without an answer doesn't.
func TestAnsweredQuestionsStayInTheConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	answer := func(name string) {
		asked := s.daemon.Ask(id, permission())
		s.daemon.SetPrompt(asked, sessions.PromptAnswered, "", &sessions.Answer{Options: []int{0}, Author: "telegram:1", Name: name})
	}
	b := browse(t, 390, 844)
	pause := func() { b.Do(chromedp.Sleep(3 * time.Millisecond)) } // times in the page are milliseconds
	s.daemon.Block(id, sessions.KindUser, "remove it")
	pause()
	answer("<b>Ann</b>")
	pause()
	s.daemon.Append(id, sessions.KindTool, "removed")
	b.Do(s.open())
	const says = `Do you want to proceed? — `
	seen := `[...document.querySelectorAll('#lines > *')].map((l) => l.lastChild.textContent).join('|')`
	want := "remove it|" + says + "<b>Ann</b> answered: Yes|removed"
	b.Until("what was answered before", seen+` === `+strconv.Quote(want))
	pause()
	answer("Bob")
	want += "|" + says + "Bob answered: Yes"
	b.Until("what's answered now", seen+` === `+strconv.Quote(want))
	b.Shot("answered")
	s.daemon.SetPrompt(s.daemon.Ask(id, permission()), sessions.PromptClosed, "it's gone", nil)
	pause()
	s.daemon.Append(id, sessions.KindTool, "done")
	want += "|done"
	b.Until("what came then", seen+` === `+strconv.Quote(want))
	b.Do(chromedp.Reload())
	b.Until("the same again", seen+` === `+strconv.Quote(want))
}
