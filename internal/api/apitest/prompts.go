package apitest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Ask opens a prompt, and tells about it.
func (d *Daemon) Ask(id sessions.ID, dialog sessions.Dialog) string {
	d.mu.Lock()
	p := sessions.Prompt{
		ID: fmt.Sprintf("pr_%012x", len(d.prompts)+1), Session: id, Dialog: dialog, State: sessions.PromptOpen, OpenedAt: time.Now(),
	}
	d.prompts = append(d.prompts, p)
	d.find(string(id)).State = sessions.StateWaiting
	d.mu.Unlock()
	d.publish(p)
	return p.ID
}

// SetPrompt changes a prompt and tells about it.
func (d *Daemon) SetPrompt(id string, state sessions.PromptState, reason string, answer *sessions.Answer) {
	d.mu.Lock()
	i := d.promptAt(id)
	p := &d.prompts[i]
	p.State, p.Reason, p.Answer = state, reason, answer
	if p.Final() {
		p.ClosedAt = time.Now()
		d.find(string(p.Session)).State = sessions.StateWorking
	}
	told := *p
	d.mu.Unlock()
	d.publish(told)
}

func (d *Daemon) publish(p sessions.Prompt) {
	if s, err := d.Get(string(p.Session)); err == nil {
		d.Feed.PublishSession(s)
	}
	d.Feed.PublishPrompt(p)
}

// promptAt needs the mutex held; -1: there's none.
func (d *Daemon) promptAt(id string) int {
	return slices.IndexFunc(d.prompts, func(p sessions.Prompt) bool { return p.ID == id })
}

// AnsweredPrompts implements api.Log.
func (d *Daemon) AnsweredPrompts(_ context.Context, id sessions.ID, from, to time.Time, limit int) (all []sessions.Prompt, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range slices.Backward(d.prompts) {
		if p.Session == id && p.State == sessions.PromptAnswered && !p.ClosedAt.Before(from) && !p.ClosedAt.After(to) && len(all) < limit {
			all = append(all, p)
		}
	}
	return all, nil
}

// Prompts implements api.Sessions.
func (d *Daemon) Prompts() []sessions.Prompt {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.prompts), sessions.Prompt.Final)
}

// PromptOf implements api.Sessions.
func (d *Daemon) PromptOf(id sessions.ID) (sessions.Prompt, bool) {
	for _, p := range d.Prompts() {
		if p.Session == id {
			return p, true
		}
	}
	return sessions.Prompt{}, false
}

// Prompt implements api.Sessions.
func (d *Daemon) Prompt(_ context.Context, id string) (sessions.Prompt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.promptAt(id)
	if i < 0 {
		return sessions.Prompt{}, unknown(id)
	}
	return d.prompts[i], nil
}

// Answer implements api.Sessions.
func (d *Daemon) Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error) {
	if err := d.failing(); err != nil {
		return sessions.Prompt{}, err
	}
	p, err := d.Prompt(ctx, id)
	switch {
	case err != nil:
		return p, err
	case p.State != sessions.PromptOpen:
		return p, fmt.Errorf("%w: %s has answered already: %s", sessions.ErrConflict, p.Who(), p.Chosen())
	}
	for _, i := range a.Options {
		if i < 0 || i >= len(p.Dialog.Options) {
			return p, fmt.Errorf("%w answer: there is no option %d", sessions.ErrInvalid, i+1)
		}
	}
	d.SetPrompt(id, sessions.PromptAnswered, "", &a)
	return d.Prompt(ctx, id)
}
