package render

import "sort"

// Form is how a platform takes a message.
type Form struct {
	// Room is how much room a text leaves in a message: UTF-16 units, and entities.
	// If either is negative, it doesn't fit. Any text of one rune must fit.
	Room func(Text) (units, entities int)
	// Widest is how many units one of plain text may take at most. It's for an
	// estimate that saves trying.
	Widest int
}

// Fits says whether a text can be one message.
func (f Form) Fits(t Text) bool {
	units, entities := f.Room(t)
	return units >= 0 && entities >= 0
}

// Next returns what the next message shows of parts, from a place on, and where the
// one after it begins. done says that the message shows all there is: then it may be
// changed when more comes. Otherwise it's complete.
//
// The text is blank if there's nothing to see, and then done is true.
func (f Form) Next(parts []Part, from Place) (t Text, next Place, done bool) {
	for {
		v := newView(parts, inSource(parts, from))
		over, ok := newOverflow(f, v).find()
		if !ok {
			return v.until(End(parts)), End(parts), true
		}
		next = f.cut(v, over)
		if t = v.until(next); !t.Blank() {
			return t, next, false
		}
		from = next
	}
}

// cut is the place where a message ends that's too long if it goes on to over.
func (f Form) cut(v *view, over Place) Place {
	t := v.until(over)
	cuts := t.cuts(v.from)
	for len(cuts) > 0 {
		n := sort.Search(len(cuts), func(i int) bool { return !f.Fits(t.until(cuts[i].at)) })
		cuts = cuts[:max(n, 1)]
		i := best(cuts)
		// What's known of the text behind the end is less now, which may make the
		// message longer.
		if f.Fits(v.until(cuts[i].place)) {
			return cuts[i].place
		}
		cuts = cuts[:i]
	}
	return f.divide(v, over)
}

// divide is where a message ends whose first character, as people see it, is too
// long for it: between two runes.
func (f Form) divide(v *view, over Place) Place {
	end := over
	for i := range v.parts[v.from.Part].Source[v.from.Byte:] {
		p := Place{v.from.Part, v.from.Byte + i}
		if i == 0 {
			continue
		}
		if !p.Before(over) || end != over && !f.Fits(v.until(p)) {
			break
		}
		end = p
	}
	return end
}
