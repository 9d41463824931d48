package transcript

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// familySource reads a conversation and those of the sub-agents that it called, which are
// conversations of their own.
//
// Records come by their times, each conversation's in its own order. One that was looked at
// and isn't given yet is read again behind a restart.
type familySource struct {
	main    ahead
	helpers []*helper // in the order in which they were found
	known   map[string]readPosition
	finder  finder
	dry     bool // the last read gave nothing that was said or done: all have to be looked at again
}

// finder finds the sub-agents of a conversation.
type finder interface {
	// find returns those that aren't among the ones that are known by their names. at says
	// how far a sub-agent was read before.
	find(ctx context.Context, known func(name string) bool, at func(name string) readPosition) []*helper
	close() error
}

// hasSettled reports whether a folder's time says that nothing has been written there since: a
// file system's clock may tick seldom, and two changes have one time.
func hasSettled(folder fs.FileInfo) bool { return time.Since(folder.ModTime()) > time.Second }

// helper is a sub-agent.
type helper struct {
	name string // by which it's known again: of its file, or its conversation's id
	by   string
	ahead
}

// ahead is a conversation of which records may have been looked at that aren't given yet.
type ahead struct {
	src    source
	next   []Record
	before readPosition // of next; unset if there's none
}

// lookAhead has records in next, if there are any.
func (a *ahead) lookAhead(ctx context.Context) error {
	if len(a.next) > 0 {
		return nil
	}
	before := a.src.position()
	next, err := a.src.read(ctx, 1)
	if len(next) > 0 {
		a.next, a.before = next, before
	}
	return err
}

// giveNext returns what's next, as if it had just been read.
func (a *ahead) giveNext() []Record {
	next := a.next
	a.next = nil
	return next
}

func (a *ahead) position() readPosition {
	if len(a.next) > 0 {
		return a.before
	}
	return a.src.position()
}

func newFamily(main source, f finder, at readPosition) *familySource {
	return &familySource{main: ahead{src: main}, known: at.Helpers, finder: f, dry: true}
}

// read gives one record after the other, the oldest first.
func (s *familySource) read(ctx context.Context, limit int) ([]Record, error) {
	var out []Record
	for len(out) < limit {
		next, err := s.nextRecord(ctx, max(1, limit-len(out)))
		if err != nil && len(out) == 0 {
			return nil, err
		}
		if err != nil || len(next) == 0 {
			break
		}
		out = append(out, next...)
	}
	s.dry = !slices.ContainsFunc(out, func(r Record) bool { return r.Kind != Used }) // what was used comes behind what was said
	return out, nil                                                                  //nolint:nilerr // an error comes again
}

// nextRecord gives what's next; while there are no sub-agents up to limit records.
func (s *familySource) nextRecord(ctx context.Context, limit int) ([]Record, error) {
	if s.dry {
		s.dry = false
		if err := s.lookAll(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.helpers) == 0 {
		if len(s.main.next) > 0 {
			return s.main.giveNext(), nil
		}
		return s.main.src.read(ctx, limit)
	}
	if err := s.main.lookAhead(ctx); err != nil {
		return nil, err
	}
	first := &s.main
	var of *helper
	for _, h := range s.helpers {
		if len(h.next) > 0 && (len(first.next) == 0 || h.next[0].At.Before(first.next[0].At)) {
			first, of = &h.ahead, h
		}
	}
	out := first.giveNext()
	if of == nil {
		return out, nil
	}
	for i := range out {
		if out[i].By = of.by; out[i].Kind != Used {
			out[i].Kind = Helper
		}
	}
	return out, first.lookAhead(ctx)
}

// lookAll finds new sub-agents, and looks what each says next. One whose conversation can't
// be read is passed over for now.
func (s *familySource) lookAll(ctx context.Context) error {
	s.helpers = append(s.helpers, s.finder.find(ctx, s.has, func(name string) readPosition { return s.known[name] })...)
	for _, h := range s.helpers {
		if err := h.lookAhead(ctx); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

func (s *familySource) has(name string) bool {
	for _, h := range s.helpers {
		if h.name == name {
			return true
		}
	}
	return false
}

// position is how far all of them were read.
func (s *familySource) position() readPosition {
	at := s.main.position()
	if len(s.helpers)+len(s.known) == 0 {
		return at
	}
	at.Helpers = map[string]readPosition{}
	maps.Copy(at.Helpers, s.known)
	for _, h := range s.helpers {
		one := h.position()
		if one.Last = nil; string(one.State) == "{}" {
			one.State = nil
		}
		at.Helpers[h.name] = one
	}
	return at
}

func (s *familySource) skipped() int64 { return s.main.src.skipped() }

func (s *familySource) close() error {
	err := errors.Join(s.main.src.close(), s.finder.close())
	for _, h := range s.helpers {
		err = errors.Join(err, h.src.close())
	}
	return err
}
