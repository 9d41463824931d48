package adapters

import (
	"fmt"

	"github.com/panebridge/panebridge/qos"
)

// settle works out what a reply means for the document, and what the scheduler is
// told. sent is the message that was sent or changed.
func settle(s sight, st step, r Reply) (after Document, sent *Message, _ qos.Result) {
	in := *st.before.Intent
	result := r.result()
	switch {
	case r.Outcome == qos.Delivered:
		after = st.before.after(in, r.ID, r.Existed)
		if in.Kind == KindThread {
			after.Title = st.op.Text
		}
		return after, sentMessage(in, r), s.told(result, after, st.more)
	case r.Outcome == qos.Migrated:
		return s.doc.movedTo(r.Chat), nil, result
	case r.Outcome == qos.Rejected && r.Missing == MissingMessage && in.Kind == KindEdit:
		// What the message shows stays, and the rest goes into the next. If this was
		// a second try, the first one may have been done before.
		if s.doc.Intent != nil {
			after = s.doc.unresolved()
		} else {
			after = st.before.without(in.Message.ID)
			after.Intent = nil
		}
		result.Outcome, result.Err = qos.Delivered, nil
		return after, nil, s.told(result, after, true)
	case s.refuses(st, r):
		after, result = s.settleContent(st, r, result)
		return after, nil, result
	case r.Outcome == qos.Rejected && in.Kind == KindThread && !s.shape.OnlyThreads:
		after = s.doc.unresolved().losesThread(s.shape, s.now, r.Err)
		after.Lost.Unmade, after.Lost.Again = true, s.now.Add(min(firstTry<<min(2*(after.Lost.Times-1), 10), lastTry))
		after.Lost.Again = laterTime(after.Lost.Again, s.deafUntil)
		result.Outcome, result.Err = qos.Delivered, nil
		return after, nil, s.told(result, after, true)
	case r.Outcome == qos.Rejected && r.Missing == MissingThread && st.before.Thread != "":
		return s.settleLost(st, r, result)
	case r.Outcome == qos.Uncertain || r.Outcome == qos.OutcomeUnknown:
		result.Outcome = qos.Uncertain
		return st.before, nil, result
	case r.Outcome == qos.Unchanged:
		result.Outcome = qos.NotSent // it would count as delivered
		return s.doc, nil, result
	default:
		return s.doc, nil, result // surely not done: all is as it was before
	}
}

// settleLost takes in that a document's thread can't be written to. A message that was made
// all the same, outside of it, counts if that's where the rest is shown.
func (s *sight) settleLost(st step, r Reply, result qos.Result) (after Document, sent *Message, _ qos.Result) {
	after = s.doc.unresolved() // a call before may have been done: who says that the thread is gone may be wrong
	after = after.losesThread(s.shape, s.now, r.Err)
	if !s.shape.OnlyThreads && s.now.Before(s.deafUntil) { // so is another's in the chat
		after.Lost.Again = laterTime(after.Lost.Again, s.deafUntil)
	}
	in := *st.before.Intent
	switch {
	case s.shape.OnlyThreads && !after.Lost.Again.IsZero():
		result.Err = fmt.Errorf("its %ss can't be written to: %w", s.shape.Threads, r.Err)
		return after, nil, result
	case r.ID == "" || in.Kind != KindSend && in.Kind != KindFile:
	case after.astray(s.shape, s.now):
		lost := after.Lost
		after = st.before.after(in, r.ID, false).losesThread(s.shape, s.now, r.Err)
		after.Lost = lost
		sent = sentMessage(in, r)
	default: // it's shown again in the next one
		after.Doubt = st.before.unresolved().Doubt
	}
	result.Outcome, result.Err = qos.Delivered, nil
	return after, sent, s.told(result, after, true)
}

// told fills in the numbers that the scheduler goes by.
func (s *sight) told(r qos.Result, after Document, more bool) qos.Result {
	t := *s
	t.doc, t.waiting = after, nil
	r.Delivered = after.Delivered()
	if s.binding.View == ViewScreen || t.log.all && !t.page().Cut && allBlank(t.log.between(after.Shown, Place{Line: s.progress.Head + 1})) {
		r.Delivered = max(r.Delivered, s.progress.Head)
	}
	if !t.due() {
		r.Final = max(s.call.Final, after.Announced)
	}
	r.More = more || after.Shown.Byte > 0 || t.leavesThread() || t.hidesWriting()
	return r
}

func sentMessage(in Intent, r Reply) *Message {
	m := in.Message
	switch {
	case in.Kind.aboutThread():
		return nil
	case in.Kind == KindEdit:
		return &m
	case r.ID == "":
		return nil
	default:
		m.ID = r.ID
		return &m
	}
}
