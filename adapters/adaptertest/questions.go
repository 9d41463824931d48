package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Questions stands for what the Manager knows of questions that agents ask. Of several
// answers the first counts. They outlive processes.
type Questions struct {
	mu   sync.Mutex
	all  []sessions.Prompt
	told func(sessions.Prompt)
	took []sessions.Answer
	fail error
}

// Prompts returns those that are open.
func (q *Questions) Prompts() []sessions.Prompt {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(q.all), sessions.Prompt.Final)
}

// Prompt returns one.
func (q *Questions) Prompt(_ context.Context, id string) (sessions.Prompt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.find(id); p != nil {
		return *p, nil
	}
	return sessions.Prompt{}, fmt.Errorf("%w question", sessions.ErrUnknown)
}

func (q *Questions) find(id string) *sessions.Prompt {
	i := slices.IndexFunc(q.all, func(p sessions.Prompt) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &q.all[i]
}

// Answer takes the first answer.
func (q *Questions) Answer(_ context.Context, id string, a sessions.Answer) (sessions.Prompt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.find(id)
	switch {
	case p == nil:
		return sessions.Prompt{}, fmt.Errorf("%w question", sessions.ErrUnknown)
	case p.Final():
		return *p, fmt.Errorf("%w: it's answered", sessions.ErrConflict)
	case q.fail != nil:
		return *p, q.fail
	}
	p.State, p.Answer, p.ClosedAt = sessions.PromptAnswered, &a, time.Now()
	q.took = append(q.took, a)
	if q.told != nil {
		q.told(*p)
	}
	return *p, nil
}

// Tell says who hears of changes, as sessions.Options.Prompt; nil: nobody.
func (q *Questions) Tell(to func(sessions.Prompt)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told = to
}

// Fail has no answer count any more, with that error; nil: they do again.
func (q *Questions) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail = err
}

// Change has a question be as it's given, and tells it.
func (q *Questions) Change(p sessions.Prompt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if was := q.find(p.ID); was != nil {
		*was = p
	} else {
		q.all = append(q.all, p)
	}
	if q.told != nil {
		q.told(p)
	}
}

// Took returns the answers that counted, and forgets them.
func (q *Questions) Took() []sessions.Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.took
	q.took = nil
	return out
}
