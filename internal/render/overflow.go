package render

import (
	"sort"
	"strings"
)

// overflow finds the first line with which a message is too long. Rendering all
// lines up to each would be exact, and slow. So lines count as fitting while an
// estimate says that they surely do, from the last place on where it's known how
// much room there was.
type overflow struct {
	form Form
	view *view
	ends []Place // of lines, behind where the message begins

	estimate estimate
	exact    bool // the estimate was wrong once: now each line is tried
	spent    int  // bytes of source that were rendered
}

// enough is how many bytes of source are rendered for one message. Only hostile
// texts take more (tables and paragraphs of thousands of lines): there the line is
// found by halving, which may find one that isn't the first.
const enough = 512 << 10

func newOverflow(f Form, v *view) *overflow {
	o := &overflow{form: f, view: v, estimate: newEstimate(f, v)}
	for to := v.from; to.Part < len(v.parts); to = inSource(v.parts, to) {
		to.Byte += len(firstLine(v.parts[to.Part].Source[to.Byte:]))
		o.ends = append(o.ends, to)
	}
	return o
}

// find returns the end of the line; ok is false if all fits.
func (o *overflow) find() (_ Place, ok bool) {
	sure, from := true, o.view.from
	for i, to := range o.ends {
		if from.Part != to.Part {
			from = Place{Part: to.Part}
		}
		if from == o.view.from || from.Byte == 0 {
			o.estimate.part()
		}
		o.estimate.line(o.view.parts[to.Part].Source[from.Byte:to.Byte], to)
		if sure = !o.exact && o.sure(); !sure {
			if o.spent > enough {
				return o.halve(o.ends[i:])
			}
			if !o.fits(to) {
				return to, true
			}
		}
		from = to
	}
	if sure && len(o.ends) > 0 && !o.fits(o.ends[len(o.ends)-1]) {
		again := newOverflow(o.form, o.view)
		again.exact = true
		return again.find()
	}
	return Place{}, false
}

func (o *overflow) fits(to Place) bool {
	units, entities := o.room(to)
	return units >= 0 && entities >= 0
}

func (o *overflow) room(to Place) (units, entities int) {
	o.spent += to.Byte
	if to.Part == o.view.from.Part {
		o.spent -= o.view.restart.start
	}
	return o.form.Room(o.view.until(to))
}

// sure says whether the lines so far surely fit.
func (o *overflow) sure() bool {
	if o.estimate.fits() {
		return true
	}
	if at, ok := o.estimate.base(); ok {
		o.estimate.rebase(o.room(at))
	}
	return o.estimate.fits()
}

// halve finds a line that doesn't fit, behind one that does.
func (o *overflow) halve(ends []Place) (_ Place, ok bool) {
	n := 1
	for n < len(ends) && o.fits(ends[n-1]) {
		n *= 2
	}
	ends = ends[:min(n, len(ends))]
	i := n/2 + sort.Search(len(ends)-n/2, func(i int) bool { return !o.fits(ends[n/2+i]) })
	if i == len(ends) {
		return Place{}, false
	}
	return ends[i], true
}

// firstLine is the first line of a text, with its end.
func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// inSource moves a place behind a part's source to the part after it.
func inSource(parts []Part, p Place) Place {
	for p.Part < len(parts) && p.Byte >= len(parts[p.Part].Source) {
		p = Place{Part: p.Part + 1}
	}
	return p
}
