package sessions

import (
	"context"
	"fmt"
	"strings"
)

// withDiff is a dialog with what its call would change in files; p is the session's prompt as it is, nil: there's none.
// Of one and the same call the diff is made once: what's answered to is what was shown. It reads files.
func (m *Manager) withDiff(id ID, d *Dialog, p *Prompt) *Dialog {
	if d == nil || len(d.Edits) == 0 || d.Disputed || m.opt.Diff == nil {
		return d
	}
	out := *d
	if p != nil && d.Call != "" && p.Dialog.Call == d.Call && (p.Dialog.Diff != "" || p.Dialog.Note != "") {
		out.Diff, out.Note = p.Dialog.Diff, p.Dialog.Note
		return &out
	}
	out.Diff, out.Note = m.makeDiff(id, d)
	return &out
}

func (m *Manager) makeDiff(id ID, d *Dialog) (diff, note string) {
	s, err := m.Get(string(id))
	if err != nil {
		return "", ""
	}
	diff, note = m.opt.Diff(s, d.Edits)
	if diff != "" && len(d.Kept) > 0 {
		diff = strings.Join(d.Kept, "\n") + "\n" + diff
	}
	return diff, note
}

// checkDiff refuses an answer that allows a change if the files aren't as they were when the question was shown: what
// would come of it was seen by nobody. The question then shows what would. m.asks is held.
func (m *Manager) checkDiff(ctx context.Context, p Prompt, a Answer) (Prompt, error) {
	d := p.Dialog
	if d.Diff == "" || m.opt.Diff == nil || d.onlyRefuses(a) {
		return p, nil
	}
	if len(d.Edits) == 0 { // the screen wasn't read since the start
		return p, fmt.Errorf("%w: it isn't known yet what the files are like since the question was shown, so nothing was answered; answer again in a moment", ErrConflict)
	}
	diff, note := m.makeDiff(p.Session, &d)
	if diff == d.Diff {
		return p, nil
	}
	d.Diff, d.Note = diff, note
	d.Masked = false
	p.Dialog = *m.maskDialog(&d)
	if err := m.putPrompt(ctx, p); err != nil {
		return p, err
	}
	return p, fmt.Errorf("%w: the file has changed since the question was shown, so nothing was answered; look at what would change now, and answer again", ErrConflict)
}

// onlyRefuses reports whether an answer allows nothing.
func (d *Dialog) onlyRefuses(a Answer) bool {
	if len(a.Options) == 0 {
		return false
	}
	for _, i := range a.Options {
		if i < 0 || i >= len(d.Options) || !d.Options[i].Refuses {
			return false
		}
	}
	return true
}

// hidesSide reports whether a mask hides too much of a file as it was or as it's to be, in a diff.
func (d *Dialog) hidesSide(hides func(text string) bool) bool {
	if !d.IsDiff() {
		return false
	}
	for _, without := range []byte{'+', '-'} {
		var side strings.Builder
		for row := range strings.Lines(d.About()) {
			if row != "" && row[0] != without && (row[0] == '+' || row[0] == '-' || row[0] == ' ') {
				side.WriteString(row[1:])
			}
		}
		if hides(side.String()) {
			return true
		}
	}
	return false
}
