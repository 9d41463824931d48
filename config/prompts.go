package config

import "time"

// Prompts says what becomes of questions that agents ask and nobody answers.
type Prompts struct {
	RemindAfter Span   `yaml:"remind_after" is:"span" doc:"How long a question stands unanswered until people are reminded of it, once, where it was asked; 0: never."`
	EscalateTo  string `yaml:"escalate_to" is:"target_or_none" eg:"telegram:-1001234567890" doc:"Where it's shown then, too: ADAPTER:CHAT, or ADAPTER:CHAT/THREAD; empty: nowhere. Who has access may answer there."`
}

func defaultPrompts() Prompts { return Prompts{RemindAfter: "10m"} }

// Check implements Checker.
func (p *Prompts) Check(at Part) {
	if p.EscalateTo != "" && p.RemindAfter.Duration() == 0 {
		at.Problem("escalate_to", "must not be given when remind_after is 0: that's when it's shown there")
	}
}

// Attention says how chats show which sessions need somebody.
type Attention struct {
	Pinned    bool `yaml:"pinned" doc:"Whether each chat keeps a pinned message that lists the sessions mirrored there: what needs you, what works, what's done."`
	RingAfter Span `yaml:"ring_after" is:"span" doc:"How long a turn takes at least whose end rings in a place that nobody but who asked for it has used for a week: they're looking. Questions and failures ring always; 0: every end rings."`
}

func defaultAttention() Attention { return Attention{Pinned: true, RingAfter: "30s"} }

// Span is a Duration, or 0.
type Span string

// Duration returns the span.
func (s Span) Duration() time.Duration { return Duration(s).Duration() }

func spanProblem(text string) string {
	if text == "0" || text == "0s" {
		return ""
	}
	if problem := durationProblem(text); problem != "" {
		return "must be 0, or a time span of at most 720h, such as 90s, 10m or 1h30m"
	}
	return ""
}
