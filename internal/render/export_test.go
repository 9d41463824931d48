package render

// Guess says whether what's estimated to fit, of parts from a place on, does.
func Guess(f Form, parts []Part, from Place) (right bool) {
	o := newOverflow(f, newView(parts, inSource(parts, from)))
	from = o.view.from
	for _, to := range o.ends {
		if from.Part != to.Part {
			from = Place{Part: to.Part}
		}
		if from == o.view.from || from.Byte == 0 {
			o.estimate.part()
		}
		o.estimate.line(o.view.parts[to.Part].Source[from.Byte:to.Byte], to)
		sure, fits := o.sure(), o.fits(to)
		if sure && !fits {
			return false
		}
		if !fits {
			return true
		}
		from = to
	}
	return true
}
