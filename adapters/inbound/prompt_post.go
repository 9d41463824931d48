package inbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// post has a message say what it's to say.
func (ps *prompts) post(ctx context.Context, a *asked, m *shown) error {
	ps.mu.Lock()
	p, msg, says, silent, unsure := a.Prompt, m.PromptMessage, m.posted, m.silent, m.unsure
	asked := ""
	if over := a.messages[spot{m.Place, PromptAsked}]; over != nil {
		asked = over.Message
	}
	ps.mu.Unlock()
	name := "The session"
	if s, err := ps.in.opt.Sessions.Get(string(p.Session)); err == nil {
		name = s.Name
	}
	post := adapters.Post{
		To: msg.Place, Key: fmt.Sprintf("prompt %s %s", p.ID, msg.Kind), Class: qos.Final, Session: p.Session, Again: unsure,
	}
	at := spot{msg.Place, msg.Kind}
	post.SentTo = func(to adapters.Target, message string, err error) {
		ps.leave(func(ps *prompts) { ps.sent = append(ps.sent, sentPrompt{p.ID, at, to.Chat, says, message, err}) })
	}
	if msg.Kind == PromptReminded {
		post.ReplyTo = asked
		return ps.postReminder(post, name, p, msg)
	}
	if p.Dialog.Kind == sessions.PromptUnread {
		if err := ps.picture(ctx, &post, p); err != nil {
			ps.in.log.Warn("a screen couldn't be drawn", "session", p.Session, "err", err)
		}
	}
	if err := ps.postQuestion(ctx, post, name, p, msg, silent); err != nil {
		return err
	}
	whole := ps.wholeFile(name, p, msg)
	if whole == nil {
		return nil
	}
	ps.mu.Lock()
	had := m.whole
	m.whole = string(whole.File.Data)
	ps.mu.Unlock()
	if had == m.whole {
		return nil
	}
	return ps.in.opt.Hub.Post(*whole)
}

// wholeFile is a post that has, as a file, all that an open question is about, where the
// message can't; nil: it can, or there's no room for files, or it's shown already.
func (ps *prompts) wholeFile(name string, p sessions.Prompt, m PromptMessage) *adapters.Post {
	shape := ps.in.opt.Hub.Shape(m.Place)
	about := wholeText(p.Dialog)
	if p.Final() || about == "" || len(about) > shape.MaxFile || ps.alwaysShowsWhole(name, p, m) {
		return nil
	}
	text := "All of what it’s about, as it’s on the screen."
	switch {
	case p.Dialog.Whole == "" && (p.Dialog.Cut || p.Dialog.Unseen):
		text = "What of it is on the screen."
	case p.Dialog.Disputed:
		text = "What’s on the screen, and the agent’s own record of the call."
	case p.Dialog.Whole != "":
		text = "All of what it’s about, by the agent’s own record of the call."
	}
	return &adapters.Post{
		To: m.Place, Key: fmt.Sprintf("prompt %s whole %s", p.ID, p.Dialog.Call), Class: qos.Final, Session: p.Session, Text: text,
		File: &adapters.File{Name: "question.txt", Data: []byte(about + "\n")},
	}
}

// alwaysShowsWhole reports whether the message shows all that a question is about, also where its
// buttons are refused.
func (ps *prompts) alwaysShowsWhole(name string, p sessions.Prompt, m PromptMessage) bool {
	for _, byNumber := range []bool{false, true} {
		if !showsWhole(promptText(name, p, m.Checked, ps.in.opt.Hub.Shape(m.Place), leadOf(p, m, time.Now()), byNumber), p) {
			return false
		}
	}
	return true
}

// wholeText is all that a question is about, with the options of which a message shows a part.
func wholeText(d sessions.Dialog) string {
	about := strings.Trim(d.About(), "\n")
	if !slices.ContainsFunc(d.Options, isLong) {
		return about
	}
	rows := []string{about, "", "Options:"}
	for i, o := range d.Options {
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%d. %s\n%s", i+1, o.Label, o.Detail)))
	}
	return strings.Join(rows, "\n")
}

// isLong reports whether a message shows a part of an option.
func isLong(o sessions.DialogOption) bool {
	return utf8.RuneCountInString(wording.OneLine(o.Label)) > maxOption || utf8.RuneCountInString(wording.OneLine(o.Detail)) > maxDetail
}

// leadOf is the sentence at the top of a message; "": there's none.
func leadOf(p sessions.Prompt, m PromptMessage, now time.Time) string {
	if m.Kind != PromptEscalated || p.Final() {
		return ""
	}
	return "Nobody has answered this for " + wording.Age(now.Sub(p.OpenedAt)) + "."
}

// showsWhole reports whether the text of a message shows all that a question is about.
func showsWhole(text string, p sessions.Prompt) bool {
	return strings.Contains(text, wording.Code(strings.Trim(p.Dialog.About(), "\n"))) && !slices.ContainsFunc(p.Dialog.Options, isLong)
}

// canShow reports whether a place can show all that's to be allowed, in the text of its message or as
// a file.
func canShow(text string, p sessions.Prompt, shape adapters.Shape) bool {
	return p.Dialog.Kind != sessions.PromptPermission && p.Dialog.Kind != sessions.PromptPlan || strings.TrimSpace(p.Dialog.About()) == "" && !slices.ContainsFunc(p.Dialog.Options, isLong) || len(wholeText(p.Dialog)) <= shape.MaxFile || showsWhole(text, p)
}

// picture draws the screen on which a question stands.
func (ps *prompts) picture(ctx context.Context, post *adapters.Post, p sessions.Prompt) error {
	s := ps.in.opt.Sessions.PromptScreen(ctx, p)
	if s.Width < 1 || s.Height < 1 {
		return errors.New("it's empty")
	}
	var err error
	post.Picture, _, err = ps.in.pictures.PNG(s)
	return err
}

// followsWithin is how soon a screen that came of a key, or of a small change, follows the
// one before.
const followsWithin = 10 * time.Second

// follows reports whether a dialog that isn't recognised is what became of the one before it
// in its session: somebody pressed a key there, or most of its rows are the same; or whether a
// program asks for a line as it did just before. Whoever looks after that one knows.
func follows(p, before sessions.Prompt) bool {
	if p.Dialog.Kind != before.Dialog.Kind || before.ID == "" || p.OpenedAt.Sub(before.ClosedAt) > followsWithin {
		return false
	}
	if p.Dialog.Kind == sessions.PromptLine {
		return p.Dialog.Title == before.Dialog.Title
	}
	if before.State == sessions.PromptAnswered {
		return true
	}
	was, same, all := map[string]bool{}, 0, 0
	for row := range strings.Lines(before.Dialog.Body) {
		was[strings.TrimSpace(row)] = true
	}
	for row := range strings.Lines(p.Dialog.Body) {
		if row = strings.TrimSpace(row); row != "" {
			if all++; was[row] {
				same++
			}
		}
	}
	return 2*same >= all
}

// postReminder says that nobody has answered a question, or what became of it then.
func (ps *prompts) postReminder(post adapters.Post, name string, p sessions.Prompt, m PromptMessage) error {
	post.Message = m.Message
	what := ""
	if t := p.Dialog.Title; t != "" {
		what = ": " + wording.Plain(wording.CutEnd(wording.OneLine(t), maxQuestion))
	}
	if p.Final() {
		post.Session = "" // its end must not take this back
		post.Text = fmt.Sprintf("%s waited for an answer%s\n\n%s", wording.Plain(name), what, wording.Plain(became(p)))
		return ps.in.opt.Hub.Post(post)
	}
	post.Text = fmt.Sprintf("**%s still waits for an answer**%s", wording.Plain(name), what)
	post.Ring = !ps.in.Quiet(m.Place, p.Session, time.Now())
	return ps.in.opt.Hub.Post(post)
}

// postQuestion shows a question, or what became of it. silent: it rings nobody.
func (ps *prompts) postQuestion(ctx context.Context, post adapters.Post, name string, p sessions.Prompt, m PromptMessage, silent bool) error {
	now := time.Now()
	post.Message = m.Message
	shape, lead := ps.in.opt.Hub.Shape(m.Place), leadOf(p, m, now)
	post.Text = promptText(name, p, m.Checked, shape, lead, false)
	if p.Final() {
		post.Session = "" // its end must not take this back
		if m.Message != "" {
			post.Class = qos.Interactive // buttons that do nothing any more shouldn't stand there
		}
		return ps.in.opt.Hub.Post(post)
	}
	post.Behind = true
	post.Numbered = promptText(name, p, m.Checked, shape, lead, true)
	var err error
	if post.Menus, post.Buttons, err = ps.ways(ctx, p, m, post.Text); err != nil {
		return err
	}
	if m.Message == "" && !silent {
		if post.Ring = !ps.in.Quiet(m.Place, p.Session, now); !post.Ring {
			ps.in.missed.note(m.Place, p.Session, MissedQuestion)
		}
	}
	return ps.in.opt.Hub.Post(post)
}
