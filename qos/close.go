package qos

import (
	"container/heap"
	"slices"
	"time"
)

// Close closes a document; see OutputQoSScheduler.Close.
func (e *Engine) Close(now time.Time, id DocID, mode CloseMode) {
	if d := e.docs[id]; d != nil {
		e.close(e.advance(now), d, mode)
	}
}

// CloseSession closes all documents of a session; see
// OutputQoSScheduler.CloseSession.
func (e *Engine) CloseSession(now time.Time, name Session, mode CloseMode) {
	now = e.advance(now)
	s := e.sessions[name]
	if s == nil {
		return
	}
	for _, d := range slices.Clone(s.docs) {
		e.close(now, d, mode)
	}
	if mode != Cancel {
		return
	}
	for _, q := range slices.Clone(s.requests) {
		if q.inFlight {
			q.again, q.gone = false, true
			continue
		}
		e.drop(q, nil)
	}
}

func (e *Engine) close(now time.Time, d *document, mode CloseMode) {
	if mode == Cancel {
		e.closed(d, DocClosed, nil)
		return
	}
	if d.flushing {
		return
	}
	d.flushing = true
	d.flushBy = now.Add(e.opt.FlushLimit)
	heap.Push(&e.flushes, d)
	e.file(now, d)
}

// abandon gives up the flushes whose time has run out. Time under a penalty
// doesn't count.
func (e *Engine) abandon(now time.Time) {
	for len(e.flushes) > 0 && !now.Before(e.flushes[0].flushBy) {
		d := e.flushes[0]
		if until := e.penalty(d.chat); until.After(now) {
			d.flushBy = until.Add(e.opt.FlushLimit)
			heap.Fix(&e.flushes, d.flush)
			continue
		}
		e.closed(d, DocAbandoned, nil)
	}
}

// takeBackFlush has a document go on that was being flushed, if it was.
func (e *Engine) takeBackFlush(d *document) {
	if d.flushing {
		heap.Remove(&e.flushes, d.flush)
		d.flushing = false
	}
}

// closed forgets a document and says how.
func (e *Engine) closed(d *document, kind EventKind, err error) {
	e.remove(d)
	ev := Event{
		Kind: kind, Chat: d.chat.key, Doc: d.id, Session: d.session.name,
		Delivered: d.delivered, Wanted: d.wanted, Err: err,
	}
	if d.final > d.announced {
		ev.Final = d.final
	}
	e.emit(ev)
}

// remove forgets a document. A call in flight ends as it will; its slot is
// settled then, and nothing else happens.
func (e *Engine) remove(d *document) {
	d.gone = true
	e.takeBackFlush(d)
	d.chat.dequeue(&d.work)
	delete(e.docs, d.id)
	e.docs = shrunk(e.docs)
	d.flow.docs--
	d.lane.leave(d.flow)
	d.chat.docs--
	d.session.docs = slices.DeleteFunc(d.session.docs, func(x *document) bool { return x == d })
	e.leaveSession(d.session)
	e.touch(d.chat)
}

func (e *Engine) leaveSession(s *session) {
	if len(s.docs) == 0 && len(s.requests) == 0 {
		delete(e.sessions, s.name)
		e.sessions = shrunk(e.sessions)
	}
}

// shrunk returns m, or a fresh map if it's empty: a map keeps the memory of its
// largest size.
func shrunk[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return map[K]V{}
	}
	return m
}

// flushes is a heap of documents that are being flushed, by when to give up.
type flushes []*document

func (f flushes) Len() int           { return len(f) }
func (f flushes) Less(i, j int) bool { return f[i].flushBy.Before(f[j].flushBy) }

func (f flushes) Swap(i, j int) {
	f[i], f[j] = f[j], f[i]
	f[i].flush, f[j].flush = i, j
}

func (f *flushes) Push(x any) {
	d := x.(*document) //nolint:forcetypeassert // heap.Push is given such
	d.flush = len(*f)
	*f = append(*f, d)
}

func (f *flushes) Pop() any {
	old := *f
	d := old[len(old)-1]
	old[len(old)-1] = nil
	*f = old[:len(old)-1]
	return d
}
