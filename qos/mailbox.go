package qos

import (
	"sync"
	"time"
)

// mailbox carries what others tell the scheduler to its goroutine. Nobody waits
// here: it's unbounded, but an update of a document that has one in the box
// already is merged with it, so it holds at most one letter per document beside
// the rare other things. Order is kept.
type mailbox struct {
	wake chan struct{}

	mu          sync.Mutex
	docs        map[DocID]*entry
	first, last *letter
	draining    bool
	ended       bool
}

// letter is one thing to take in: an update, or something to do.
type letter struct {
	next *letter
	doc  *entry // nil: do
	do   func(now time.Time)
}

// entry is an open document, as seen from outside the scheduler.
type entry struct {
	letter    // on its way while queued
	id        DocID
	news      news // since the letter was last taken out
	queued    bool
	opening   int       // Opens on their way
	wanted    int64     // the highest ever told
	delivered int64     // as of the last call
	dirty     time.Time // since when something waits, as of the last look
}

// mail is a letter that was taken out.
type mail struct {
	id   DocID
	news news
	do   func(now time.Time)
}

func newMailbox() *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), docs: map[DocID]*entry{}}
}

// put appends a letter; m.mu is held. The goroutine is woken when the box isn't
// empty any more.
func (m *mailbox) put(l *letter) {
	l.next = nil
	if m.last == nil {
		m.first = l
		select {
		case m.wake <- struct{}{}:
		default:
		}
	} else {
		m.last.next = l
	}
	m.last = l
}

// send has something done on the scheduler's goroutine. It returns false if that
// has ended.
func (m *mailbox) send(do func(now time.Time)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return false
	}
	m.put(&letter{do: do})
	return true
}

// open makes a document known at once, so that updates may follow.
func (m *mailbox) open(doc Doc, do func(now time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	e := m.docs[doc.ID]
	switch {
	case e == nil:
		e = &entry{id: doc.ID}
	case e.queued:
		// Its letter may be on the way ahead of a close, and what's told from now on is
		// about what's opened after that.
		e = &entry{id: doc.ID, opening: e.opening, wanted: e.wanted, delivered: e.delivered, dirty: e.dirty}
	}
	e.doc = e
	m.docs[doc.ID] = e
	e.opening++
	e.wanted = max(e.wanted, doc.Wanted, doc.Final)
	e.delivered = max(e.delivered, doc.Delivered)
	m.put(&letter{do: do})
}

// opened says that an Open has been taken in.
func (m *mailbox) opened(id DocID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.docs[id]; e != nil {
		e.opening--
	}
}

// tell takes in an update. It returns false if the document isn't open.
func (m *mailbox) tell(id DocID, n news) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.docs[id]
	if e == nil {
		return false
	}
	e.news.add(n)
	e.wanted = max(e.wanted, n.wanted)
	if !e.queued {
		e.queued = true
		m.put(&e.letter)
	}
	return true
}

// take moves some letters into batch and returns it. more says that there are
// others. It takes few at a time, because producers wait meanwhile.
func (m *mailbox) take(batch []mail) (taken []mail, more bool) {
	const most = 256
	m.mu.Lock()
	defer m.mu.Unlock()
	for l := m.first; l != nil && len(batch) < most; l = m.first {
		m.first = l.next
		l.next = nil
		if e := l.doc; e != nil {
			batch = append(batch, mail{id: e.id, news: e.news})
			e.news, e.queued = news{}, false
		} else {
			batch = append(batch, mail{do: l.do})
		}
	}
	if m.first == nil {
		m.last = nil
	}
	return batch, m.first != nil
}

// moved takes in how far a document is.
func (m *mailbox) moved(id DocID, delivered int64, dirty time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.docs[id]; e != nil {
		e.delivered, e.dirty = max(e.delivered, delivered), dirty
	}
}

// pressure says how far a document lags behind.
func (m *mailbox) pressure(now time.Time, id DocID) (Pressure, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.docs[id]
	if e == nil {
		return Pressure{}, false
	}
	p := Pressure{Behind: max(0, e.wanted-e.delivered)}
	if !e.dirty.IsZero() {
		p.Age = max(0, now.Sub(e.dirty))
	}
	return p, true
}

// forget drops a document that was closed, unless it's being opened again.
func (m *mailbox) forget(id DocID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.docs[id]; e != nil && e.opening == 0 {
		delete(m.docs, id)
		m.docs = shrunk(m.docs)
	}
}

// drain has requests refused from now on.
func (m *mailbox) drain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.draining = true
}

func (m *mailbox) isDraining() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

// end refuses everything, and forgets what's in the box.
func (m *mailbox) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.first, m.last = nil, nil
	m.docs = map[DocID]*entry{}
}
