package faults

import (
	"slices"
	"sync"
)

// List is the faults that calls to a stand-in can be hit by, of the stand-in's own kind.
// The zero List has none. It's safe for concurrent use.
type List[F any] struct {
	mu  sync.Mutex
	all []*waiting[F]
}

// waiting is a fault, and how many calls it still hits; 0: all.
type waiting[F any] struct {
	fault F
	left  int
}

// Add has a fault hit so many calls; 0: all of them. The function it returns takes the
// fault back.
func (l *List[F]) Add(f F, times int) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := &waiting[F]{fault: f, left: times}
	l.all = append(l.all, kept)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(w *waiting[F]) bool { return w == kept })
	}
}

// Take returns the first fault that hits a call, and uses it up; nil: none does.
func (l *List[F]) Take(hits func(F) bool) *F {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.all, func(w *waiting[F]) bool { return hits(w.fault) })
	if i < 0 {
		return nil
	}
	w := l.all[i]
	if w.left > 0 {
		if w.left--; w.left == 0 {
			l.all = slices.Delete(l.all, i, i+1)
		}
	}
	once := w.fault
	return &once
}
