package render

// view is what parts show from a place on.
type view struct {
	parts   []Part // their sources are clean
	from    Place
	restart restart // of the part that from is in
}

func newView(parts []Part, from Place) *view {
	v := &view{parts: make([]Part, len(parts)), from: from}
	for i, p := range parts {
		if i >= from.Part {
			p.Source = clean(p.Source)
		}
		v.parts[i] = p
	}
	if from.Part >= 0 && from.Part < len(parts) && parts[from.Part].Kind == Answer {
		v.restart = newRestart(v.parts[from.Part].Source, from.Byte)
	}
	return v
}

// until returns what's shown up to a place.
func (v *view) until(to Place) Text {
	b := &builder{}
	last := Plain
	for i := max(v.from.Part, 0); i < len(v.parts) && i <= to.Part; i++ {
		p := v.parts[i]
		lo, hi, known := 0, len(p.Source), len(p.Source)
		if i == v.from.Part {
			lo = runeStart(p.Source, v.from.Byte)
		}
		if i == to.Part {
			hi = runeStart(p.Source, to.Byte)
			known = lineEnd(p.Source, hi)
		}
		if lo >= hi {
			continue
		}
		var at restart
		if i == v.from.Part {
			at = v.restart
		}
		b.begin(i, p.Source[at.start:known], at.start, lo, hi)
		if len(b.runs) > 0 {
			b.gap(partGap(last, p.Kind), Style{})
		}
		last = p.Kind
		b.part(p, at)
	}
	return Text{b.runs}
}
