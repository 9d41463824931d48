package store

import (
	"errors"
	"fmt"
	"sync"

	"modernc.org/sqlite"

	"github.com/panebridge/panebridge/sessions"
)

// errWrittenAnew is for a read that was begun on a file in whose place another was written meanwhile.
var errWrittenAnew = fmt.Errorf("%w: the database was written anew meanwhile; ask again", sessions.ErrUnavailable)

// soundness is what's known of the soundness of one file. What a read or a write meets belongs to the file that
// it was begun on: nothing of it counts any more once another file was written in its place, or its index was made anew. The note beside the
// file says the same to the next start and to other processes; see noteUnsound.
type soundness struct {
	path  string // of the file
	index *indexWatch

	mu    sync.Mutex
	found error // what was found last, an ErrDamaged; nil: nothing is known of damage
	times int   // how often damage was found
	cut   bool  // its write-ahead log is known to be cut, and may be mended yet
	noted bool  // beside the file
	over  bool  // another was written in its place
}

// unsound is what's known of the file's damage; nil: none is.
func (v *soundness) unsound() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.found
}

// explain is the function explain for what was done with this file. That it's damaged is known from then on, and the
// next start saves what can be read.
func (v *soundness) explain(doing string, err error) error {
	told := explain(doing, v.path, err)
	var e *sqlite.Error
	counts, failed := true, error(nil)
	switch {
	case errors.Is(told, ErrDamaged):
		counts, failed = v.record(told)
	case errors.As(err, &e):
		counts = v.counts()
	}
	if !counts {
		return fmt.Errorf("%s: %w (%s)", doing, errWrittenAnew, err.Error())
	}
	return errors.Join(told, failed)
}

// record takes in that the file was found damaged; err says why that couldn't be noted. It doesn't count if
// another file was written in its place, or if it was looked at through an index of which a part is gone.
func (v *soundness) record(found error) (counts bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over || v.isIndexCut() {
		return false, nil
	}
	v.times++
	v.found = found
	return true, v.note(found)
}

// counts reports whether what was met is about the file.
func (v *soundness) counts() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.over && !v.isIndexCut()
}

func (v *soundness) isIndexCut() bool {
	_, err := v.index.check()
	return errors.Is(err, ErrIndexCut)
}

// recordCut takes in that the write-ahead log is cut, or isn't.
func (v *soundness) recordCut(found error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := v.cut
	switch v.cut = found != nil; {
	case v.over:
		return nil
	case v.cut:
		return v.note(found)
	case was && v.found == nil:
		return v.dropNote()
	}
	return nil
}

// note writes the note, once. The caller holds mu.
func (v *soundness) note(found error) error {
	if v.noted {
		return nil
	}
	err := noteUnsound(v.path, found)
	v.noted = err == nil
	return err
}

// dropNote takes it away. The caller holds mu.
func (v *soundness) dropNote() error {
	err := removeIfThere(v.path + unsoundSuffix)
	v.noted = v.noted && err != nil
	return err
}

// count is how often damage was found until now: for clear.
func (v *soundness) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.times
}

// clear takes in that all of the file was read and is sound, unless damage was found since count said times.
func (v *soundness) clear(times int) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over || v.cut || v.times != times {
		return nil
	}
	v.found = nil
	return v.dropNote()
}

// settleNote sees to it that there's a note if damage is known: it may have failed, or have gone with its folder.
// Strange says that there's one of which this process knows no reason.
func (v *soundness) settleNote() (strange bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	there := Unsound(v.path)
	switch {
	case there != nil && !errors.Is(there, ErrDamaged):
		return false, there
	case v.found != nil:
		v.noted = there != nil
		return false, v.note(v.found)
	}
	return there != nil && !v.cut, nil
}

// retire says that another file was written in this one's place, whole.
func (v *soundness) retire() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	if !v.noted {
		return nil
	}
	return v.dropNote()
}

// renew returns what's known of the same file once mend has made its index anew. It's for what's begun from then on:
// nothing counts of what was begun before, or ends meanwhile.
func (v *soundness) renew(mend func() error) (*soundness, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := mend(); err != nil {
		return nil, err
	}
	v.over = true
	return &soundness{path: v.path, index: v.index, found: v.found, times: v.times, cut: v.cut, noted: v.noted}, nil
}
