package callers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// callTime is how long a call from a session's pane waits for somebody's word.
	callTime = 5 * time.Minute
	// callPause is how long a session's programs can't ask again when nobody said a word,
	// or they gave up themselves.
	callPause = time.Minute
	// refusedFor is how long nobody is asked again about a call that was refused.
	refusedFor = 10 * time.Minute
	// maxCalls bounds the calls that wait at a time.
	maxCalls = 16
	// maxCallRunes bounds what's shown of a call: it fits into a message everywhere.
	maxCallRunes = 1500
	// keptCalls is how many that were answered are remembered.
	keptCalls = 64
)

// The options of a question about a call, by index.
const (
	allowCall = iota
	refuseCall
)

// Consent asks people whether a program in a session's pane may make a call. Its questions are
// prompts like those of agents, shown in the same places, but no dialog of a pane: the
// call itself waits, so that somebody's word is for this one and no other, once.
type Consent struct {
	publish func(p sessions.Prompt) // hears how each question stands; it doesn't block
	hides   func(text string) bool  // see sessions.Options
	log     *slog.Logger

	mu    sync.Mutex
	open  []*openCall // the oldest first
	done  []sessions.Prompt
	pause map[string]time.Time // by session, or session and call: when it may be asked again
}

// openCall is a question that waits.
type openCall struct {
	sessions.Prompt
	call     string        // session and call
	answered chan struct{} // closed when there's an answer
}

// NewConsent makes what asks. publish is told how each question stands; it must not block. hides is
// as in sessions.Options.
func NewConsent(publish func(sessions.Prompt), hides func(string) bool, log *slog.Logger) *Consent {
	return &Consent{publish: publish, hides: hides, log: log, pause: map[string]time.Time{}}
}

// Ask has people asked whether a call may be made: api.Confirm. It blocks until somebody has
// answered, for 5 minutes at most.
func (c *Consent) Ask(ctx context.Context, call api.AskedCall) error {
	q, err := c.openQuestion(call, time.Now())
	if err != nil {
		return err
	}
	c.log.Info("a program in a session's pane asks for a call", "session", q.Session, "call", call.Method+" "+call.Target)
	c.publish(q.Prompt)
	timer := time.NewTimer(callTime)
	defer timer.Stop()
	why := ""
	select {
	case <-q.answered:
	case <-timer.C:
		why = fmt.Sprintf("nobody said a word for %s", callTime)
	case <-ctx.Done():
		why = "the call was given up"
	}
	p := c.closeQuestion(q, why, time.Now())
	c.publish(p)
	switch {
	case p.State == sessions.PromptClosed:
		return errors.New(p.Reason)
	case slices.Equal(p.Answer.Options, []int{allowCall}):
		c.log.Info("a call from a session's pane was allowed", "session", q.Session, "call", call.Method+" "+call.Target, "by", p.Answer.Author)
		return ctx.Err()
	default:
		return fmt.Errorf("%s refused it", nameOf(*p.Answer))
	}
}

func nameOf(a sessions.Answer) string {
	if a.Name != "" {
		return a.Name
	}
	return a.Author
}

// openQuestion adds a question.
func (c *Consent) openQuestion(call api.AskedCall, now time.Time) (*openCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := describe(call)
	if utf8.RuneCountInString(what) > maxCallRunes {
		return nil, errors.New("it's too long to be shown to anybody")
	}
	if c.hides(sessions.Legible(what)) {
		return nil, errors.New("something in it looks like a secret, which nobody is shown, and hides a part of what it would do")
	}
	same := strings.Join([]string{string(call.Session), call.Method, call.Target, call.Body}, "\n")
	if until := c.pause[string(call.Session)]; now.Before(until) {
		return nil, fmt.Errorf("nobody answered what was asked last; nobody is asked again before %s", until.Local().Format(time.TimeOnly))
	}
	if until := c.pause[same]; now.Before(until) {
		return nil, fmt.Errorf("it was refused; nobody is asked about it again before %s", until.Local().Format(time.TimeOnly))
	}
	if slices.ContainsFunc(c.open, func(q *openCall) bool { return q.Session == call.Session }) {
		return nil, errors.New("another call from there waits for an answer")
	}
	if len(c.open) >= maxCalls {
		return nil, errors.New("too many calls wait for an answer")
	}
	var b [6]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	q := &openCall{call: same, Prompt: sessions.Prompt{
		ID: "pr_" + hex.EncodeToString(b[:]), Session: call.Session, State: sessions.PromptOpen, OpenedAt: now, Access: call.Access,
		Dialog: sessions.Dialog{
			Kind: sessions.PromptCall, Title: "May a program in this session's pane have panebridge " + call.Does + "?", Body: what,
			Options: []sessions.DialogOption{{Label: "Allow it once"}, {Label: "Refuse"}}, Print: hex.EncodeToString(b[:]),
		},
	}, answered: make(chan struct{})}
	c.open = append(c.open, q)
	return q, nil
}

// describe says what a call is, whole: nobody agrees to what they don't see.
func describe(call api.AskedCall) string {
	lines := []string{visible(call.Method + " " + call.Target)}
	if call.Body != "" {
		lines = append(lines, visible(strings.TrimSpace(call.Body)))
	}
	if call.Program != "" {
		lines = append(lines, "called by: "+call.Program)
	}
	return strings.Join(lines, "\n")
}

// closeQuestion takes a question from those that wait. why says why nobody's answer counts, if
// there's none yet.
func (c *Consent) closeQuestion(q *openCall, why string, now time.Time) sessions.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = slices.DeleteFunc(c.open, func(o *openCall) bool { return o == q })
	q.ClosedAt = now
	if q.Answer != nil {
		q.State = sessions.PromptAnswered
	} else {
		q.State, q.Reason = sessions.PromptClosed, why
	}
	for id, until := range c.pause {
		if !now.Before(until) {
			delete(c.pause, id)
		}
	}
	switch {
	case q.Answer == nil:
		c.pause[string(q.Session)] = now.Add(callPause)
	case !slices.Equal(q.Answer.Options, []int{allowCall}):
		c.pause[q.call] = now.Add(refusedFor)
	}
	if c.done = append(c.done, q.Prompt); len(c.done) > keptCalls {
		c.done = slices.Delete(c.done, 0, 1)
	}
	return q.Prompt
}

// prompts are the questions that are open, the oldest first.
func (c *Consent) prompts() []sessions.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]sessions.Prompt, len(c.open))
	for i, q := range c.open {
		out[i] = q.Prompt
	}
	return out
}

// prompt returns a question of that id, whatever became of it; false: there's none.
func (c *Consent) prompt(id string) (sessions.Prompt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.open {
		if q.ID == id {
			return q.Prompt, true
		}
	}
	for _, p := range c.done {
		if p.ID == id {
			return p, true
		}
	}
	return sessions.Prompt{}, false
}

// answer answers a question; see sessions.Manager.Answer. ok is false if there's none of
// that id.
func (c *Consent) answer(id string, a sessions.Answer) (p sessions.Prompt, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.open, func(q *openCall) bool { return q.ID == id })
	if i < 0 {
		j := slices.IndexFunc(c.done, func(p sessions.Prompt) bool { return p.ID == id })
		if j < 0 {
			return p, false, nil
		}
		return c.done[j], true, fmt.Errorf("answer the question: %w: it's closed", sessions.ErrConflict)
	}
	q := c.open[i]
	switch {
	case q.Answer != nil:
		return q.Prompt, true, fmt.Errorf("answer the question: %w: %s was first", sessions.ErrConflict, nameOf(*q.Answer))
	case a.Text != "" || len(a.Options) != 1 || a.Options[0] < 0 || a.Options[0] >= len(q.Dialog.Options):
		return q.Prompt, true, fmt.Errorf("answer the question: %w: it takes one of its options", sessions.ErrInvalid)
	}
	q.Answer, q.State = &a, sessions.PromptAnswering
	close(q.answered)
	p = q.Prompt
	p.State = sessions.PromptAnswered
	return p, true, nil
}

// Inquiries are what programs ask people by panebridge: see showing.Inquirer.
type Inquiries interface {
	// Prompts returns those that are open, the oldest first. It does no I/O.
	Prompts() []sessions.Prompt
	// Inquiry returns one by its id, whatever became of it; sessions.ErrUnknown: there's none.
	Inquiry(ctx context.Context, id string) (sessions.Inquiry, error)
	// Answer is as sessions.Manager.Answer.
	Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error)
}

// Questions are the sessions with all that's asked there: by dialogs of their programs, by those programs
// themselves, and by panebridge about their calls.
type Questions struct {
	*sessions.Manager
	Consent   *Consent
	Inquiries Inquiries
}

// Prompts returns all that are open, the oldest of each kind first.
func (q Questions) Prompts() []sessions.Prompt {
	return slices.Concat(q.Manager.Prompts(), q.Inquiries.Prompts(), q.Consent.prompts())
}

// PromptOf returns what a session asks; false: nothing.
func (q Questions) PromptOf(id sessions.ID) (sessions.Prompt, bool) {
	for _, p := range q.Consent.prompts() {
		if p.Session == id {
			return p, true
		}
	}
	if p, ok := q.Manager.PromptOf(id); ok {
		return p, true
	}
	for _, p := range q.Inquiries.Prompts() {
		if p.Session == id {
			return p, true
		}
	}
	return sessions.Prompt{}, false
}

// Prompt returns a question by its id; see sessions.Manager.Prompt.
func (q Questions) Prompt(ctx context.Context, id string) (sessions.Prompt, error) {
	if p, ok := q.Consent.prompt(id); ok {
		return p, nil
	}
	if strings.HasPrefix(id, sessions.InquiryPrefix) {
		found, err := q.Inquiries.Inquiry(ctx, id)
		return found.Prompt, err
	}
	return q.Manager.Prompt(ctx, id)
}

// Answer answers a question; see sessions.Manager.Answer.
func (q Questions) Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error) {
	if p, ok, err := q.Consent.answer(id, a); ok {
		return p, err
	}
	if strings.HasPrefix(id, sessions.InquiryPrefix) {
		return q.Inquiries.Answer(ctx, id, a)
	}
	return q.Manager.Answer(ctx, id, a)
}
