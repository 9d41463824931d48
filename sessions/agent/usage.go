package agent

import (
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// usageState is what the session's programs say of what they use, without sums: the store counts.
type usageState struct {
	sessions.Usage

	Of transcript.Ref `json:"of,omitzero"` // the conversation that Context is of
}

// noteUsage takes in what records say of what was used, and has an observation tell it.
func (o *Observer) noteUsage(s *sessions.Observation, records []transcript.Record, now time.Time) {
	p, before := o.program, o.usage.Usage
	if name := p.profile.Name(); o.usage.Agent != name {
		o.usage = usageState{Usage: sessions.Usage{Agent: name}}
	}
	if p.reader != nil && !sameRef(o.usage.Of, p.reader.Ref()) {
		o.usage.Of, o.usage.Context = p.reader.Ref(), nil
	}
	for _, r := range records {
		switch r.Kind {
		case transcript.Used:
			s.Spent = append(s.Spent, o.usage.addAnswer(r, now)...)
		case transcript.Compacted:
			if r.By == "" && o.usage.Context != nil {
				o.usage.Context = &sessions.ContextUse{Window: o.usage.Context.Window}
			}
		case transcript.Failure:
			if r.By == "" && r.Limit != nil {
				o.usage.setLimit(*r.Limit, now)
			}
		default:
		}
	}
	known := o.usage.Context != nil || o.usage.Windows != nil || o.usage.Limit != nil
	if len(s.Spent) > 0 || !before.Equal(&o.usage.Usage) && (known || before.Context != nil || before.Windows != nil || before.Limit != nil) {
		told := o.usage.Usage
		s.Usage = &told
	}
}

// addAnswer takes in what an answer took and tells, and returns what's to be counted of it.
func (u *usageState) addAnswer(r transcript.Record, now time.Time) []sessions.Spending {
	own := r.By == ""
	if own && r.Usage.Context != nil {
		c := *r.Usage.Context
		if c.Window == 0 && u.Context != nil {
			c.Window = u.Context.Window
		}
		u.Context = &c
	}
	if len(r.Usage.Windows) > 0 {
		u.Windows = slices.Clone(r.Usage.Windows)
	}
	if own && r.Usage.Tokens.Output > 0 && u.Limit != nil && r.At.After(u.Limit.At) {
		u.Limit = nil // the account answers
	}
	if r.Usage.Key == "" {
		return nil
	}
	at := r.At
	if at.IsZero() || at.After(now) {
		at = now
	}
	return []sessions.Spending{{Key: r.Usage.Key, At: at, Tokens: r.Usage.Tokens, CostUSD: r.Usage.CostUSD}}
}

// setLimit takes in that the account has used all that it may. Where that doesn't say until when, or says it
// without seconds, which Codex cuts off, the windows do that are used up.
func (u *usageState) setLimit(l sessions.UsageLimit, now time.Time) {
	if l.At.IsZero() || l.At.After(now) {
		l.At = now
	}
	if l.Until.Sub(now) > transcript.MaxLimit { // the record is from a time that hasn't come
		l.Until = time.Time{}
	}
	said := l.Until
	for _, w := range u.Windows {
		if w.UsedPercent >= 100 && w.ResetsAt.After(l.At) && w.ResetsAt.After(l.Until) && (said.IsZero() || w.ResetsAt.Before(said.Add(time.Minute))) {
			l.Until = w.ResetsAt
		}
	}
	u.Limit = &l
}

// withoutUsage are the records that tell what was said and done.
func withoutUsage(records []transcript.Record) []transcript.Record {
	if !slices.ContainsFunc(records, isUsage) {
		return records
	}
	return slices.DeleteFunc(slices.Clone(records), isUsage)
}

func isUsage(r transcript.Record) bool { return r.Kind == transcript.Used }
