package render

// view is what parts show from a place on.
type view struct {
	parts    []Part // their sources are clean
	from     TextPosition
	restarts []restart // of the parts
}

func newView(parts []Part, from TextPosition) *view {
	v := &view{parts: make([]Part, len(parts)), from: from, restarts: make([]restart, len(parts))}
	for i, p := range parts {
		if i >= from.Part {
			p.Source = clean(p.Source)
		}
		v.parts[i] = p
		switch lo := v.low(i); {
		case i < from.Part || p.Kind == User:
		case p.Kind == Answer:
			v.restarts[i] = newRestart(p.Source, lo)
		default:
			v.restarts[i].start = plainStart(p.Source, lo)
		}
	}
	return v
}

// low is from which byte on a part is shown.
func (v *view) low(i int) int {
	p := v.parts[i]
	if i == v.from.Part {
		return runeStart(p.Source, max(p.From, v.from.Byte))
	}
	return runeStart(p.Source, p.From)
}

// until returns what's shown up to a place.
func (v *view) until(to TextPosition) MessageText {
	b := &builder{}
	last := Plain
	for i := max(v.from.Part, 0); i < len(v.parts) && i <= to.Part; i++ {
		p := v.parts[i]
		lo, hi, known := v.low(i), len(p.Source), len(p.Source)
		if i == to.Part {
			hi = runeStart(p.Source, to.Byte)
			known = lineEnd(p.Source, hi)
		}
		if lo >= hi {
			continue
		}
		at := v.restarts[i]
		b.begin(i, p.Source[at.start:known], at.start, lo, hi)
		if len(b.runs) > 0 {
			b.gap(partGap(last, p.Kind), Style{})
		}
		last = p.Kind
		b.part(p, at)
	}
	return MessageText{b.runs}
}
