package cards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// PromptMessageKind is why a message about a question is in a chat.
type PromptMessageKind string

// The kinds of messages about questions.
const (
	PromptAsked     PromptMessageKind = "asked"     // it shows the question, where the session is mirrored
	PromptReminded  PromptMessageKind = "reminded"  // it says that nobody has answered
	PromptEscalated PromptMessageKind = "escalated" // it shows the question elsewhere, because nobody has answered
)

// PromptMessage is a message in a chat about a question that an agent asks.
type PromptMessage struct {
	Prompt  string // sessions.Prompt.ID
	Session sessions.ID
	Place   adapters.Target
	Kind    PromptMessageKind
	Message string // the platform's id; "": it's being posted
	Checked []int  // the options that are chosen here, of a sessions.PromptMulti; kept before they're shown
	Shows   string // what it says, as the maker of these messages calls it; "": it isn't known
	Closed  bool   // it says what came of the question
	At      time.Time
}

// AnswerWriter is a person whose next message in a place is the answer to a question.
type AnswerWriter struct {
	Place   adapters.Target
	Person  string // Person.ID
	Prompt  string
	Expires time.Time
}

// PromptStore keeps where questions are shown.
type PromptStore interface {
	// PromptMessages returns those that aren't closed, the oldest first.
	PromptMessages(ctx context.Context) ([]PromptMessage, error)
	// PutPromptMessage inserts one, or replaces the one of the same prompt, place and kind.
	PutPromptMessage(ctx context.Context, m PromptMessage) error
	// PromptMessage returns the one of that id in a chat; sessions.ErrUnknown if it's none.
	PromptMessage(ctx context.Context, adapter, chat, message string) (PromptMessage, error)
	// AnswerWriter returns that of a place and person; sessions.ErrUnknown if there's none.
	AnswerWriter(ctx context.Context, place adapters.Target, person string) (AnswerWriter, error)
	PutAnswerWriter(ctx context.Context, w AnswerWriter) error
	DropAnswerWriter(ctx context.Context, place adapters.Target, person string) error
}

// questionCards show the questions that agents ask, wherever their sessions are mirrored,
// and what became of them. One goroutine does: run. Others only leave word.
//
// Which message shows a question is in the store as soon as it's known, so that a
// question that was open when the daemon stopped isn't shown again, and is closed where
// it stands. Who may answer, and whose answer counts, isn't decided here.
type questionCards struct {
	rounds

	clerk *Clerk

	// Guarded by mu.
	changed []sessions.Prompt
	sent    []sentPrompt
	asked   map[string]*question            // by Prompt.ID; all that isn't closed everywhere
	moves   map[adapters.Target]string      // chats that have another id
	unread  map[sessions.ID]sessions.Prompt // the last sessions.PromptUnread or PromptLine of each session that's closed
	remind  time.Duration                   // 0: nobody is reminded
	to      adapters.Target                 // zero: nowhere
}

// question is a question and the messages about it.
type question struct {
	sessions.Prompt
	messages map[spot]*questionMessage
	bound    map[adapters.BindingID]adapters.Target // where it's shown for each
	follows  bool                                   // it's what came of a key, and rings nobody
	refused  time.Time                              // since when places refuse it; zero: none does
	why      error                                  // the last of them did
}

// isShown says that people see the question in a chat; "": anywhere. mu is held.
func (a *question) isShown(chat adapters.Target) bool {
	for at, m := range a.messages {
		if m.Message != "" && (chat == (adapters.Target{}) || at.isIn(chat)) {
			return true
		}
	}
	return false
}

// isTried says that a message is under way to a chat, where it isn't shown yet. mu is held.
func (a *question) isTried(chat adapters.Target) bool {
	for at, m := range a.messages {
		if m.Message == "" && m.posted != "" && at.isIn(chat) {
			return true
		}
	}
	return false
}

// isHidden says that nobody can see the question, because each place that it's for refuses it.
// mu is held.
func (a *question) isHidden() bool {
	return !a.Final() && !a.refused.IsZero() && !a.isShown(adapters.Target{})
}

// threadWithin is how long a question waits for the thread that's made for its session,
// until it's shown beside it.
const threadWithin = 5 * time.Second

// spot is what there's one message for.
type spot struct {
	place adapters.Target
	kind  PromptMessageKind
}

// isIn says that it's in a chat, whatever thread.
func (s spot) isIn(chat adapters.Target) bool {
	return s.place.Adapter == chat.Adapter && s.place.Chat == chat.Chat
}

// questionMessage is a message about a question.
type questionMessage struct {
	PromptMessage
	retries

	posted string    // what it says, or is about to: see asked.wants; "": nothing
	before string    // what it said before that
	since  time.Time // since when this run is to show it
	unsure bool      // one of them may be there all the same
	begun  bool      // it's kept that it's posted
	silent bool      // it stands beside the session's thread already, or in the group that this one was, and has rung there
	gone   bool      // it was in that group
}

// isRefused says that the place has refused the message in every form, and that it's nowhere.
func (m *questionMessage) isRefused() bool { return m.tries > 0 && m.Message == "" }

// sentPrompt is what came of a post.
type sentPrompt struct {
	prompt  string
	at      spot   // as it was when it was posted
	chat    string // that it went to: another if at's has another id now
	says    string
	message string
	err     error
}

func newQuestionCards(k *Clerk) *questionCards {
	return &questionCards{
		clerk: k, rounds: newRounds(), asked: map[string]*question{}, moves: map[adapters.Target]string{}, unread: map[sessions.ID]sessions.Prompt{}, remind: k.RemindAfter, to: k.EscalateTo,
	}
}

// HandlePrompt takes in how a question stands: each change, in order. It returns at once.
func (k *Clerk) HandlePrompt(p sessions.Prompt) {
	ps := k.prompts
	ps.leaveWord(func() { ps.changed = append(ps.changed, p) })
	k.boards.noteChange()
}

// HandlePlaced takes in that a place shows a session from now on: what the session asks is shown there, too.
// It returns at once.
func (k *Clerk) HandlePlaced(id sessions.ID) {
	k.prompts.leaveWord(func() {
		for _, a := range k.prompts.asked {
			for _, m := range a.messages {
				if a.Session == id && m.isRefused() {
					m.retry = time.Time{}
				}
			}
		}
	})
	k.boards.noteChange()
	k.reconciler.lookSoon()
}

// SetPrompts replaces Options.RemindAfter and Options.EscalateTo. It returns at once.
func (k *Clerk) SetPrompts(remindAfter time.Duration, escalateTo adapters.Target) {
	ps := k.prompts
	ps.leaveWord(func() { ps.remind, ps.to = remindAfter, escalateTo })
}

// run shows questions until ctx ends.
func (ps *questionCards) run(ctx context.Context) {
	ps.rounds.run(ctx, ps.clerk, "load where questions are shown", ps.loadMessages, ps.runRound)
}

// loadMessages takes up what the last run left.
func (ps *questionCards) loadMessages(ctx context.Context) error {
	kept, err := ps.clerk.Store.PromptMessages(ctx)
	if err != nil {
		return err
	}
	all := map[string]*question{}
	for _, p := range ps.clerk.Sessions.Prompts() {
		all[p.ID] = newQuestion(p)
	}
	for _, m := range kept {
		a := all[m.Prompt]
		if a == nil {
			p, err := ps.clerk.Sessions.Prompt(ctx, m.Prompt)
			if errors.Is(err, sessions.ErrUnknown) {
				p, err = sessions.Prompt{ID: m.Prompt, Session: m.Session, State: sessions.PromptClosed}, nil
			}
			if err != nil {
				return err
			}
			a = newQuestion(p)
			all[m.Prompt] = a
		}
		s := &questionMessage{PromptMessage: m, begun: true, since: time.Now()}
		switch {
		case m.Message != "":
			s.posted = cmp.Or(m.Shows, openAs(m.Checked)+a.extent()) // it isn't known of what's older than that
		case a.Final():
			continue
		default: // the daemon ended while it was posted, or it's in a group that has another id now
			s.unsure = true
		}
		a.messages[spot{m.Place, m.Kind}] = s
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.asked = all
	ps.clerk.reconciler.lookSoon()
	return nil
}

func newQuestion(p sessions.Prompt) *question {
	return &question{Prompt: p, messages: map[spot]*questionMessage{}, bound: map[adapters.BindingID]adapters.Target{}}
}

// runRound takes in what was left, shows what's to be shown, and returns when it's needed
// again.
func (ps *questionCards) runRound(ctx context.Context, now time.Time) time.Time {
	ps.mu.Lock()
	sent := ps.sent
	ps.sent = nil
	for _, p := range ps.changed {
		if a := ps.asked[p.ID]; a != nil {
			a.Prompt = p
		} else {
			ps.asked[p.ID] = newQuestion(p)
			ps.asked[p.ID].follows = follows(p, ps.unread[p.Session])
		}
		if p.Final() && (p.Dialog.Kind == sessions.PromptUnread || p.Dialog.Kind == sessions.PromptLine) {
			ps.unread[p.Session] = p
		}
	}
	ps.changed = nil
	var keep []PromptMessage
	for _, s := range sent {
		keep = append(keep, ps.confirmSent(s)...)
	}
	ids := make([]string, 0, len(ps.asked))
	for id := range ps.asked {
		ids = append(ids, id)
	}
	ps.mu.Unlock()
	for _, m := range keep {
		if err := ps.clerk.Store.PutPromptMessage(ctx, m); err != nil {
			ps.clerk.Log.Error("keep where a question is shown", "session", m.Session, "target", m.Place.String(), "err", err)
		}
	}
	slices.Sort(ids)
	next := now.Add(time.Hour)
	for _, id := range ids {
		if due := ps.advanceQuestion(ctx, id, now); !due.IsZero() && due.Before(next) {
			next = due
		}
	}
	return next
}

// confirmSent takes in what came of a post, and returns what's to be kept. mu is held.
func (ps *questionCards) confirmSent(s sentPrompt) []PromptMessage {
	a := ps.asked[s.prompt]
	if a == nil || errors.Is(s.err, adapters.ErrReplaced) {
		return nil
	}
	m := ps.messageSent(a, s)
	if m == nil {
		return nil
	}
	if s.err != nil {
		ps.clerk.Log.Warn("a question couldn't be shown", "session", m.Session, "target", m.Place.String(), "err", s.err)
	} else if m.Shows = s.says; s.message != "" {
		m.Message = s.message
	}
	if s.says == closedAs {
		m.Closed = true
	}
	if m.Message == "" {
		m.unsure = m.unsure || errors.Is(s.err, adapters.ErrMaybeSent)
		ps.showElsewhere(a, m, s.err)
		return nil
	}
	if s.err == nil {
		for other := range ps.refusedIn(m.Place) { // the chat takes something
			other.retry = time.Time{}
		}
		ps.clerk.reconciler.lookSoon() // it may need a file beside it
	}
	m.tries, a.refused, a.why = 0, time.Time{}, nil
	return []PromptMessage{m.PromptMessage}
}

// messageSent is the message that a post was for; nil: none any more. The chat may have got another id
// while it was under way. mu is held.
func (ps *questionCards) messageSent(a *question, s sentPrompt) *questionMessage {
	m := a.messages[s.at]
	if m == nil { // moveChat has heard of that
		now := s.at
		now.place.Chat = ps.moves[s.at.place.WholeChat()]
		if m = a.messages[now]; m != nil && m.Place.Chat != s.chat && m.Message == "" {
			m.postAnew() // it's in the group that's gone
			return nil
		}
		return m
	}
	if m.Place.Chat != s.chat { // the platform has said so, and moveChat will hear of it
		a.moveMessage(s.at, s.chat)
	}
	return m
}

// moveMessage has a message be about a chat's new id. mu is held.
func (a *question) moveMessage(at spot, to string) {
	m := a.messages[at]
	delete(a.messages, at)
	m.Place.Chat = to
	a.messages[spot{m.Place, m.Kind}] = m
}

// postAnew has a message that's in a group that's gone be posted anew; a reminder isn't.
func (m *questionMessage) postAnew() {
	m.Message, m.Shows, m.silent, m.gone, m.since = "", "", true, true, time.Now()
	if m.Kind != PromptReminded {
		m.posted = ""
	}
}

// showElsewhere has a question that a place has refused be shown in the chat itself, where the
// place is a thread, and tries it again. mu is held.
func (ps *questionCards) showElsewhere(a *question, m *questionMessage, why error) {
	now := time.Now()
	m.posted = ""
	m.noteRefusal(why, now, ps.refusedIn(m.Place))
	if a.why = why; a.refused.IsZero() {
		a.refused = now
	}
	if m.Kind == PromptReminded {
		return
	}
	clear(a.bound) // the session may get a thread yet
	if chat := ps.clerk.ChatBeside(m.Place); chat != (adapters.Target{}) {
		a.messageAt(chat, PromptAsked, now)
	}
}

// refusedIn yields how often messages were tried that the chat of a place refuses. mu is held.
func (ps *questionCards) refusedIn(place adapters.Target) iter.Seq[*retries] {
	return func(yield func(*retries) bool) {
		for _, a := range ps.asked {
			for at, m := range a.messages {
				if m.isRefused() && !a.Final() && at.isIn(place) && !yield(&m.retries) {
					return
				}
			}
		}
	}
}

// closedAs is what a message says that tells what became of the question.
const closedAs = "closed"

// openAs is what one says that shows an open question.
func openAs(checked []int) string {
	return fmt.Sprint("open ", checked)
}

// wantedText is what a message about the question is to say.
func (a *question) wantedText(m *questionMessage) string {
	switch {
	case a.Final():
		return closedAs
	case m.Kind == PromptReminded:
		return openAs(nil)
	default:
		return openAs(m.Checked) + a.extent()
	}
}

// extent is how much of the question a message can show.
func (a *question) extent() string {
	out := a.Dialog.Call
	if a.Dialog.Disputed {
		out += " disputed"
	}
	if a.Dialog.Unseen {
		out += " unseen"
	}
	return strings.TrimRight(" "+out, " ")
}

// isDone says that no message is left to be changed.
func (a *question) isDone() bool {
	if !a.Final() {
		return false
	}
	for _, m := range a.messages {
		if !m.Closed && !m.isRefused() {
			return false
		}
	}
	return true
}

// keepBegun keeps that a message is about to be posted, so that after a crash the next says that
// it may be there already.
func (ps *questionCards) keepBegun(ctx context.Context, m *questionMessage) {
	ps.mu.Lock()
	msg, begun := m.PromptMessage, m.begun
	m.begun = true
	ps.mu.Unlock()
	if begun || msg.Message != "" || msg.Closed {
		return
	}
	if err := ps.clerk.Store.PutPromptMessage(ctx, msg); err != nil {
		ps.clerk.Log.Error("keep that a question is about to be shown", "session", msg.Session, "target", msg.Place.String(), "err", err)
	}
}

// advanceQuestion shows what's to be shown of a question now. It returns when to look again;
// zero: when something changes.
func (ps *questionCards) advanceQuestion(ctx context.Context, id string, now time.Time) time.Time {
	ps.mu.Lock()
	a := ps.asked[id]
	ps.mu.Unlock()
	if a == nil {
		return time.Time{}
	}
	var next time.Time
	if !a.Final() {
		next = ps.findPlaces(a, now)
	}
	for _, m := range ps.toPost(a, now) {
		ps.keepBegun(ctx, m)
		if err := ps.postMessage(ctx, a, m); err != nil && ctx.Err() == nil {
			ps.clerk.Log.Warn("a question couldn't be shown; it's tried again", "session", a.Session, "target", m.Place.String(), "err", err)
			ps.mu.Lock()
			m.posted, m.retry = m.before, now.Add(tellAgain)
			ps.mu.Unlock()
		}
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, m := range a.messages {
		if m.retry.After(now) && (next.IsZero() || m.retry.Before(next)) {
			next = m.retry
		}
	}
	if a.isDone() {
		delete(ps.asked, id)
	}
	return next
}

// findPlaces finds where an open question is to be shown, and when it's due elsewhere.
func (ps *questionCards) findPlaces(a *question, now time.Time) time.Time {
	bindings := ps.clerk.Hub.Status(a.Session)
	nowhere := make([]bool, len(bindings)) // they get a thread of their own, and have none yet
	for i, b := range bindings {
		nowhere[i] = b.Target.Thread == "" && ps.clerk.Hub.Shape(b.Target).OwnThread
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var next time.Time
	for i, b := range bindings {
		was, shown := a.bound[b.Binding.ID]
		if !b.Open || shown && (was.Chat != b.Target.Chat || was.Thread == b.Target.Thread) {
			continue // of a chat that has another id, moveChat knows
		}
		if nowhere[i] && now.Before(a.OpenedAt.Add(threadWithin)) {
			next = a.OpenedAt.Add(threadWithin)
			continue
		}
		a.bound[b.Binding.ID] = b.Target
		a.messageAt(b.Target, PromptAsked, now).silent = shown || a.follows
	}
	if to := ps.to; to != (adapters.Target{}) && a.isHidden() && a.messages[spot{to, PromptAsked}] == nil {
		a.messageAt(to, PromptEscalated, now)
	}
	if ps.remind <= 0 || a.State != sessions.PromptOpen {
		return next
	}
	if due := a.OpenedAt.Add(ps.remind); now.Before(due) {
		return earlier(next, now, due)
	}
	for at, m := range a.messages {
		if at.kind == PromptAsked && m.Message != "" {
			a.messageAt(at.place, PromptReminded, now)
		}
	}
	if to := ps.to; to != (adapters.Target{}) && a.messages[spot{to, PromptAsked}] == nil {
		a.messageAt(to, PromptEscalated, now)
	}
	return next
}

// messageAt returns a message about the question, and makes it if there's none yet. mu is
// held.
func (a *question) messageAt(place adapters.Target, kind PromptMessageKind, now time.Time) *questionMessage {
	at := spot{place, kind}
	if a.messages[at] == nil {
		a.messages[at] = &questionMessage{PromptMessage: PromptMessage{Prompt: a.ID, Session: a.Session, Place: place, Kind: kind, At: now}, since: now}
	}
	return a.messages[at]
}

// toPost are the messages that don't say what they're to say. They count as posted.
func (ps *questionCards) toPost(a *question, now time.Time) []*questionMessage {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var out []*questionMessage
	all := slices.SortedFunc(maps.Values(a.messages), func(x, y *questionMessage) int { return cmp.Or(cmp.Compare(x.tries, y.tries), x.At.Compare(y.At)) })
	for _, m := range all {
		want := a.wantedText(m)
		switch {
		case want == closedAs && (m.posted == "" || m.gone && m.Message == ""):
			m.Closed = true // it was never asked there
			continue
		case m.posted == want, m.retry.After(now):
			continue
		case m.isRefused() && (a.isShown(m.Place) || a.isTried(m.Place)):
			continue // another place of the chat shows it, or may
		}
		m.before, m.posted = m.posted, want
		out = append(out, m)
	}
	slices.SortFunc(out, func(x, y *questionMessage) int { return x.At.Compare(y.At) })
	return out
}

// moveChat takes in that a chat has another id: a group that has become a supergroup. What was posted
// in the group can't be changed there any more, nor its buttons pressed: what's open is posted anew.
func (ps *questionCards) moveChat(from, to adapters.Target) {
	ps.leaveWord(func() {
		ps.moves[from] = to.Chat
		for _, a := range ps.asked {
			for at, m := range maps.Clone(a.messages) {
				if !at.isIn(from) {
					continue
				}
				if a.moveMessage(at, to.Chat); m.Message != "" {
					m.postAnew()
				}
			}
		}
	})
}
