package cards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// postMessage has a message say what it's to say.
func (ps *questionCards) postMessage(ctx context.Context, a *question, m *questionMessage) error {
	ps.mu.Lock()
	p, msg, says, silent, unsure := a.Prompt, m.PromptMessage, m.posted, m.silent, m.unsure
	asked := ""
	if over := a.messages[spot{m.Place, PromptAsked}]; over != nil {
		asked = over.Message
	}
	ps.mu.Unlock()
	name := ps.nameOf(p.Session)
	post := adapters.Post{
		To: msg.Place, Key: fmt.Sprintf("prompt %s %s", p.ID, msg.Kind), Class: qos.Final, Session: p.Session, Again: unsure,
	}
	at := spot{msg.Place, msg.Kind}
	post.SentTo = func(to adapters.Target, message string, err error) {
		ps.leaveWord(func() { ps.sent = append(ps.sent, sentPrompt{p.ID, at, to.Chat, says, message, err}) })
	}
	if msg.Kind == PromptReminded {
		post.ReplyTo = asked
		return ps.postReminder(post, name, p, msg)
	}
	if p.Dialog.Kind == sessions.PromptUnread {
		if err := ps.drawScreen(ctx, &post, p); err != nil {
			ps.clerk.Log.Warn("a screen couldn't be drawn", "session", p.Session, "err", err)
		}
	}
	return ps.postQuestion(ctx, post, name, p, msg, silent)
}

// promptFiles want a file beside each message that shows an open question and can't show all that it's
// about.
type promptFiles struct{ prompts *questionCards }

// wantedCards implements cardSource.
func (f promptFiles) wantedCards(_ context.Context, _ time.Time) (out []Wanted, next time.Time, err error) {
	ps := f.prompts
	type question struct {
		sessions.Prompt
		at PromptMessage
	}
	var open []question
	ps.mu.Lock()
	for _, a := range ps.asked {
		for at, m := range a.messages {
			if !a.Final() && at.kind != PromptReminded && m.Shows == a.wantedText(m) { // what's beside it comes after it
				open = append(open, question{a.Prompt, m.PromptMessage})
			}
		}
	}
	ps.mu.Unlock()
	for _, q := range open {
		file := ps.wholeFile(ps.nameOf(q.Session), q.Prompt, q.at)
		if file == nil {
			continue
		}
		out = append(out, Wanted{
			Spot: Spot{KindFile, q.ID + " " + q.Dialog.Call, q.at.Place}, Session: q.Session, Class: qos.Final, Shows: DigestOf(string(file.File.Data)),
			Post: func(context.Context) (adapters.Post, error) { return *file, nil },
		})
	}
	return out, time.Time{}, nil
}

// nameOf is what a session is called in its questions.
func (ps *questionCards) nameOf(id sessions.ID) string {
	if s, err := ps.clerk.Sessions.Get(string(id)); err == nil {
		return s.Name
	}
	return "The session"
}

// wholeFile is a post that has, as a file, all that an open question is about, where the
// message can't; nil: it can, or there's no room for files, or it's shown already.
func (ps *questionCards) wholeFile(name string, p sessions.Prompt, m PromptMessage) *adapters.Post {
	shape := ps.clerk.Hub.Shape(m.Place)
	about := wholeQuestion(p.Dialog, shape)
	if p.Final() || about == "" || len(about) > shape.MaxFile || ps.alwaysShowsWhole(name, p, m) {
		return nil
	}
	text, file := "All of what it’s about, as it’s on the screen.", "question.txt"
	switch {
	case isOnNoScreen(p.Kind()):
		text = "All of what it’s about."
	case p.Dialog.IsDiff():
		text, file = "All of what it would change.", "change.diff"
	case p.Dialog.Whole == "" && (p.Dialog.Cut || p.Dialog.Unseen):
		text = "What of it is on the screen."
	case p.Dialog.Disputed:
		text = "What’s on the screen, and the agent’s own record of the call."
	case p.Dialog.Whole != "":
		text = "All of what it’s about, by the agent’s own record of the call."
	}
	return &adapters.Post{Text: text, File: &adapters.File{Name: file, Data: []byte(about + "\n")}}
}

// alwaysShowsWhole reports whether the message shows all that a question is about, also where its
// buttons are refused.
func (ps *questionCards) alwaysShowsWhole(name string, p sessions.Prompt, m PromptMessage) bool {
	if !listsWhole(p.Dialog, ps.clerk.Hub.Shape(m.Place)) {
		return false
	}
	for _, byNumber := range []bool{false, true} {
		if !showsWhole(questionText(name, p, m.Checked, ps.clerk.Hub.Shape(m.Place), leadOf(p, m, time.Now()), byNumber), p) {
			return false
		}
	}
	return true
}

// wholeQuestion is all that a question is about, with the options of which a message shows a part.
func wholeQuestion(d sessions.Dialog, shape adapters.Shape) string {
	about := strings.Trim(d.About(), "\n")
	if listsWhole(d, shape) {
		return about
	}
	rows := []string{about, "", "Options:"}
	for i, o := range d.Options {
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%d. %s\n%s", i+1, o.Label, o.Detail)))
	}
	return strings.Join(rows, "\n")
}

// listsWhole reports whether a message has room for all options, and shows each in full.
func listsWhole(d sessions.Dialog, shape adapters.Shape) bool {
	_, all := optionList(d, nil, shape)
	return all && !slices.ContainsFunc(d.Options, isLong)
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
	return strings.Contains(text, codeOf(p.Dialog)(strings.Trim(p.Dialog.About(), "\n"))) && !slices.ContainsFunc(p.Dialog.Options, isLong)
}

// canShow reports whether a place can show all that's to be allowed, in the text of its message or as
// a file.
func canShow(text string, p sessions.Prompt, shape adapters.Shape) bool {
	return p.Dialog.Kind != sessions.PromptPermission && p.Dialog.Kind != sessions.PromptPlan || strings.TrimSpace(p.Dialog.About()) == "" && listsWhole(p.Dialog, shape) || len(wholeQuestion(p.Dialog, shape)) <= shape.MaxFile || showsWhole(text, p)
}

// drawScreen draws the screen on which a question stands.
func (ps *questionCards) drawScreen(ctx context.Context, post *adapters.Post, p sessions.Prompt) error {
	s := ps.clerk.Sessions.PromptScreen(ctx, p)
	if s.Width < 1 || s.Height < 1 {
		return errors.New("it's empty")
	}
	var err error
	post.Picture, _, err = ps.clerk.Pictures.PNG(s)
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
func (ps *questionCards) postReminder(post adapters.Post, name string, p sessions.Prompt, m PromptMessage) error {
	post.Message = m.Message
	what := ""
	if t := p.Dialog.Title; t != "" {
		what = ": " + wording.Plain(wording.CutEnd(wording.OneLine(t), maxQuestion))
	}
	if p.Final() {
		post.Session = "" // its end must not take this back
		post.Text = fmt.Sprintf("%s waited for an answer%s\n\n%s", wording.Plain(name), what, wording.Plain(OutcomeText(p)))
		return ps.clerk.Hub.Post(post)
	}
	post.Text = fmt.Sprintf("**%s still waits for an answer**%s", wording.Plain(name), what)
	post.Ring = !ps.clerk.IsQuiet(m.Place, p.Session, time.Now())
	return ps.clerk.Hub.Post(post)
}

// postQuestion shows a question, or what became of it. silent: it rings nobody.
func (ps *questionCards) postQuestion(ctx context.Context, post adapters.Post, name string, p sessions.Prompt, m PromptMessage, silent bool) error {
	now := time.Now()
	post.Message = m.Message
	shape, lead := ps.clerk.Hub.Shape(m.Place), leadOf(p, m, now)
	post.Text = questionText(name, p, m.Checked, shape, lead, false)
	if p.Final() {
		post.Session = "" // its end must not take this back
		if m.Message != "" {
			post.Class = qos.Interactive // buttons that do nothing any more shouldn't stand there
		}
		return ps.clerk.Hub.Post(post)
	}
	post.Behind = true
	post.Numbered = questionText(name, p, m.Checked, shape, lead, true)
	var err error
	if post.Menus, post.Buttons, err = ps.waysToAnswer(ctx, p, m, post.Text); err != nil {
		return err
	}
	if m.Message == "" && !silent {
		if post.Ring = !ps.clerk.IsQuiet(m.Place, p.Session, now); !post.Ring {
			ps.clerk.missed.noteQuiet(m.Place, p.Session, MissedQuestion)
		}
	}
	return ps.clerk.Hub.Post(post)
}

// QuestionsHealth says whether each open question can be seen in some chat. A question that no chat has shown
// for ten seconds makes it Down if chats refuse it, and Degraded if it waits for a call.
func (k *Clerk) QuestionsHealth() intake.Health {
	h, now := intake.Health{Condition: intake.Well}, time.Now()
	hidden := 0
	var wait waitingCount
	ps := k.prompts
	ps.leaveWord(func() {
		for _, a := range ps.asked {
			if a.isHidden() {
				if now.Sub(a.refused) >= intake.DownAfter {
					hidden++
					h.Detail = a.why.Error()
				}
				continue
			}
			if place, since := a.waitsSince(); now.Sub(since) >= intake.DownAfter && !since.IsZero() {
				wait.addPlace(place, since)
			}
		}
	})
	if hidden > 0 {
		h.Condition = intake.Down
		h.Detail = fmt.Sprintf("no chat shows %d open question(s), since each refuses them: %s; they're tried again", hidden, h.Detail)
	}
	if wait.n > 0 {
		h = h.Worse(intake.Health{Condition: intake.Degraded, Detail: fmt.Sprintf("no chat shows %d open question(s) yet: %s", wait.n, k.whyWaits(wait, now))})
	}
	return h
}

// waitsSince is where a question that nobody sees is to be shown first, and since when; a zero time:
// it's seen, or no chat is to show it. mu is held.
func (a *question) waitsSince() (place adapters.Target, since time.Time) {
	if a.Final() || a.isShown(adapters.Target{}) {
		return adapters.Target{}, time.Time{}
	}
	for at, m := range a.messages {
		if since.IsZero() || m.since.Before(since) {
			place, since = at.place, m.since
		}
	}
	return place, since
}

// waitingCount counts what waits to be shown.
type waitingCount struct {
	n     int
	place adapters.Target // of what has waited longest
	since time.Time
}

func (w *waitingCount) addPlace(place adapters.Target, since time.Time) {
	if w.n++; w.n == 1 || since.Before(w.since) {
		w.place, w.since = place, since
	}
}

// askLimitsFor bounds the question how the limits stand: health is told without it, too.
const askLimitsFor = 500 * time.Millisecond

// whyWaits is why what's to be shown waits, as far as the limits of its place say.
func (k *Clerk) whyWaits(w waitingCount, now time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), askLimitsFor)
	defer cancel()
	what := fmt.Sprintf("%s has waited for %s", w.place, wording.Age(now.Sub(w.since)))
	l, err := k.Hub.LimitStatus(ctx, w.place)
	if err != nil {
		return what
	}
	silent := l.Bot.PenaltyUntil
	if l.Chat.PenaltyUntil.After(silent) {
		silent = l.Chat.PenaltyUntil
	}
	switch {
	case silent.After(now):
		return fmt.Sprintf("%s, as the platform has ordered silence until %s (%s more)", what, silent.Format("15:04:05"), wording.Age(silent.Sub(now)))
	case l.Bot.BudgetErr != nil:
		return fmt.Sprintf("%s: %s", what, l.Bot.BudgetErr)
	case l.Chat.BackoffUntil.After(now):
		return fmt.Sprintf("%s, as calls failed there; the next is made in %s", what, wording.Age(l.Chat.BackoffUntil.Sub(now)))
	}
	return what + " for a call"
}

// ChangeChosen changes which options are chosen in the message of an open question below which a button was
// pressed, and keeps that. found is false if there's no such message. change is called at most once, and must
// leave its argument as it is.
func (k *Clerk) ChangeChosen(ctx context.Context, prompt string, press intake.Event, change func(chosen []int) []int) (found bool, err error) {
	var kept PromptMessage
	ps := k.prompts
	ps.leaveWord(func() {
		a := ps.asked[prompt]
		if a == nil || a.Final() {
			return
		}
		for at, m := range a.messages {
			if at.kind != PromptReminded && at.place == press.Place {
				m.Checked = slices.Clone(change(m.Checked))
				slices.Sort(m.Checked)
				kept, found = m.PromptMessage, true
				return
			}
		}
	})
	if !found {
		return false, nil
	}
	if err := k.Store.PutPromptMessage(ctx, kept); err != nil {
		return true, fmt.Errorf("keep what's chosen: %w", err)
	}
	return true, nil
}

// pointToQuestion points to the open question of a session in a place, as a sentence in
// Markdown, and has it shown there if it isn't. "": none is open.
func (k *Clerk) pointToQuestion(place adapters.Target, id sessions.ID) string {
	for _, p := range k.Sessions.Prompts() {
		if p.Session != id || isOnNoScreen(p.Kind()) || p.Kind() == sessions.PromptLine {
			continue
		}
		ps, message := k.prompts, ""
		ps.leaveWord(func() {
			a := ps.asked[p.ID]
			if a == nil {
				a = newQuestion(p)
				ps.asked[p.ID] = a
			}
			a.messageAt(place, PromptAsked, time.Now())
			message = a.messages[spot{place, PromptAsked}].Message
		})
		what := "the question"
		if p.Dialog.Title != "" {
			what = "“" + wording.Plain(wording.CutEnd(wording.OneLine(p.Dialog.Title), maxButton)) + "”"
		}
		if pf := k.Platforms[place.Adapter]; pf != nil && message != "" {
			if link := pf.Link(place, message); link != "" {
				what = "[" + what + "](<" + link + ">)"
			}
		}
		return "Answer " + what + " first."
	}
	return ""
}

// AsksForLine reports whether the program of a session asks for a line: any text and key is an answer.
func (k *Clerk) AsksForLine(id sessions.ID) bool {
	return slices.ContainsFunc(k.Sessions.Prompts(), func(p sessions.Prompt) bool {
		return p.Session == id && p.Kind() == sessions.PromptLine
	})
}

// HasQuestion says whether a session has an open question that can be answered.
func (k *Clerk) HasQuestion(id sessions.ID) bool {
	return slices.ContainsFunc(k.Sessions.Prompts(), func(p sessions.Prompt) bool {
		return p.Session == id && p.Kind() != sessions.PromptCall
	})
}

// HasDialog says whether a question is open in a session's pane, where keys may answer it.
func (k *Clerk) HasDialog(id sessions.ID) bool {
	return slices.ContainsFunc(k.Sessions.Prompts(), func(p sessions.Prompt) bool { return p.Session == id && !isOnNoScreen(p.Kind()) })
}
