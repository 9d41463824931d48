package agent

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// addRecord adds to a dialog what the agent's own record of its call says. The record only
// adds: what's drawn must all occur in it. Otherwise both are shown, and nothing that
// allows can be chosen. Where several calls that differ may be it, none is.
//
// Where tool isn't "", only calls of that tool may be it.
func (c calls) addRecord(d *sessions.Dialog, f *dialogForm, tool string) {
	if len(d.Drawn) == 0 && !d.Command {
		return
	}
	tools := f != nil && f.Tools
	var is []call
	var newest call
	rival := false // one that may be what's drawn, though it isn't drawn so
	disputed := slices.ContainsFunc(c, func(one call) bool {
		asks := d.Command || tool != "" && f.Unseen || (tool != "" || f != nil && f.Raw) && one.runsCommand() && (one.odd || !one.isWithin(d))
		return asks && !one.asks && !one.plan && !one.gone && one.mcp == nil && one.isOf(tool)
	})
	for _, one := range c {
		if one.mcp != nil && !tools || !one.isOf(tool) || one.runsCommand() && f.runsNothing(d) {
			continue
		}
		like := one.judgeDrawn(d)
		if one.gone {
			rival = rival || like == drawsIt || one.odd && one.hasSome(d)
			continue
		}
		newest = one
		disputed = disputed && like == drawsOther
		rival = rival || like == drawsOther && !one.asks && (one.odd || d.Unseen && (one.mayBe(d) || one.change != nil || one.tellsOf(d)))
		if like == drawsIt && one.change != nil { // where its file is drawn isn't known
			rival = true
		} else if like == drawsIt && !slices.ContainsFunc(is, func(other call) bool { return other.sum == one.sum }) {
			is = append(is, one)
		}
	}
	switch {
	case len(is) == 1 && !is[0].lost && !rival:
		is[0].tellDialog(d)
		d.Unseen = false
	case disputed:
		d.Call, d.Whole, d.Disputed, d.Unseen = newest.sum, newest.said, true, true
	}
}

// runsNothing reports whether a dialog surely isn't about a command.
func (f *dialogForm) runsNothing(d *sessions.Dialog) bool {
	return f != nil && f.Command != nil && !d.Headless && !d.Command
}

// keepMore adds to what the record says the rows of the dialog that say more.
func (f *dialogForm) keepMore(d *sessions.Dialog) {
	if f.Keeps == nil || d.Whole == "" {
		return
	}
	var rows []string
	for _, row := range d.Above {
		if m := f.Keeps.row.FindStringSubmatch(row); m != nil {
			rows = append(rows, strings.TrimSpace(m[1]))
		}
	}
	d.Whole = strings.Join(append(rows, d.Whole), "\n")
	d.Kept = rows
}

// recorded is a dialog of the session with what its call's record says; nil: without one it
// isn't known.
func (o *Observer) recorded(d *sessions.Dialog) *sessions.Dialog {
	if d == nil || d.Kind == sessions.PromptUnread || d.Kind == sessions.PromptSetup {
		return d
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	known := o.known.calls.callsFor(&o.known.standing)
	var f *dialogForm
	if o.known.dialogs != nil {
		f = o.known.dialogs.formOf(d)
	}
	if d.Window != nil {
		if whole := known.listDialog(f, d, o.known.askedCall); whole != nil {
			return whole
		} else if inMidList(d) {
			return nil
		}
	}
	if !allows(d.Kind) || d.Tabs != "" {
		return o.asksOf(f, d)
	}
	if f == nil { // it was read as another program's: nothing says which records may be its own
		return d
	}
	if f.Saves != nil {
		known.bindSaving(f, d)
		return d
	}
	if f.Params != nil {
		known.recordTool(f, d)
	} else if drawn := f.readChange(d); drawn != nil {
		known.recordChange(d, drawn)
	} else if tool, ok := f.toolOf(d); !known.recordEnd(d, f, o.known.deciders) && ok {
		known.addRecord(d, f, tool)
	}
	if f.Recorded && d.Call == "" {
		return nil
	}
	if f.Raw {
		o.known.raw.doubtDialog(d, known)
	}
	f.keepMore(d)
	if f.Corrects != "" && d.Text == "" && (o.known.waitsFor(d) || d.Call != "" && o.known.calls.isOver(d.Call)) {
		d.Text = f.Corrects
	}
	return d
}

// toolOf is what the tool is called that the dialog asks about; "": its form doesn't say, or it isn't
// on the screen. It's false where a record is to be of that tool and it isn't there.
func (f *dialogForm) toolOf(d *sessions.Dialog) (tool string, ok bool) {
	if f == nil || f.Tool == nil {
		return "", true
	}
	for _, row := range d.Above {
		if row == "" {
			continue
		}
		if m := f.Tool.row.FindStringSubmatch(row); m != nil {
			return m[1], m[1] != ""
		}
		break
	}
	return "", !f.Unseen
}

// waitsFor reports whether one hook waits for a dialog which the agent answers by its
// request. k.mu is held.
func (k *observerNews) waitsFor(d *sessions.Dialog) bool {
	n := 0
	for _, waits := range k.deciders {
		if waits.request != "" && waits.decides(d) {
			n++
		}
	}
	return n == 1
}

// bindSaving binds a dialog that asks whether a call is to be allowed for good to the one
// call that would save just what it draws.
func (c calls) bindSaving(f *dialogForm, d *sessions.Dialog) {
	if d.Unseen || len(d.Drawn) == 0 {
		return
	}
	drawn := squeezed(strings.Join(d.Drawn, ""))
	of := -1
	for i, one := range c {
		rows := ""
		if m := f.Saves.whole.FindStringSubmatch(strings.TrimSpace(strings.Join(d.Drawn, " "))); m != nil && m[1] == one.tool && slices.Equal(one.saves, []string{"*"}) {
			rows = drawn
		} else {
			for _, pattern := range one.saves {
				rows += squeezed("-" + pattern)
			}
		}
		if rows != drawn || one.gone {
			continue
		}
		if of >= 0 {
			return
		}
		of = i
	}
	if of >= 0 && c[of].times == 1 {
		d.Call = c[of].sum
	}
}

// noteDialogGone takes in which dialog is surely on the screen, nil: none is. The call of another has
// been answered: the one that a look bound to its record, and the one that Read did, of a dialog which
// is higher than its pane.
func (o *Observer) noteDialogGone(now *sessions.Dialog) {
	call := ""
	if now != nil && !now.Disputed {
		call = now.Call
	}
	if now != nil && now.Print == o.drawn { // it stands there still, whatever was told of another that fits
		if o.call == "" {
			o.call = call
		}
		return
	}
	if o.drawn = ""; now != nil {
		o.drawn = now.Print
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	over := []string{o.call}
	if read := o.known.read; now == nil || call != "" && call != read { // else it may be what's read of this one
		over, o.known.read = append(over, read), ""
	}
	for _, sum := range slices.Compact(over) {
		if sum != "" && sum != call {
			o.known.calls.answered(sum)
		}
	}
	o.call = call
}

// noteRead takes in a dialog that Read has read whole.
func (k *observerNews) noteRead(d *sessions.Dialog) {
	if d == nil || d.Call == "" || d.Disputed {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read = d.Call
}
