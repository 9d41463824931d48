package standin

import "time"

// open shows a dialog. What becomes of it if nobody answers is random: it stays, goes by
// itself, or another takes its place, now and then just as somebody begins to answer.
func (g *program) open(d *dialog) {
	g.numbers++
	d.n = g.numbers
	if d.mark < d.stops() && d.form != "trust" && d.form != "mode" && d.form != "hooks" && g.rand.IntN(5) == 0 && !d.deaf && !d.multi {
		d.mark = g.rand.IntN(len(d.options)) // it was moved before anybody looked
		if d.entry != "" && d.mark == d.entryAt() {
			d.mark = 0
		}
	}
	now := time.Now()
	switch g.rand.IntN(10) {
	case 0, 1:
		d.until = now.Add(g.between(20, 2500))
	case 2, 3:
		d.until, d.other = now.Add(g.between(20, 4000)), true
	case 4:
		d.touchy, d.other = g.between(1, 200), g.rand.IntN(2) == 0
	}
	if d.until.IsZero() {
		d.until = now.Add(g.between(6000, 9000)) // nobody has answered
	}
	g.dialog = d
	g.face.spin++
	g.draw(true)
	e := Entry{Kind: Opened, Dialog: d.n, Form: d.form, Tag: d.tag, Title: d.title, Options: d.all(), Multi: d.multi}
	e.Takes = d.notes || d.entry != "" && !d.multi
	g.journal.put(e)
	g.ask(Shown, d.n)
}

// ask asks the terminal to say when it has worked in what was drawn.
func (g *program) ask(kind Kind, n int) {
	g.waiting = append(g.waiting, mark{kind, n})
	write("\x1b[5n")
}

// answered works a key into the dialog.
func (g *program) answered(k key) {
	d := g.dialog
	by := ByKeys
	if k.person {
		by = ByPerson
	}
	keys := []string{k.name}
	if k.name == "" {
		keys = nil
		for _, r := range k.pasted {
			keys = append(keys, letter(r))
		}
	}
	for i, name := range keys {
		out := d.press(name)
		if !out.over {
			if d.touched.IsZero() {
				d.touched = time.Now()
			}
			continue
		}
		e := Entry{Kind: Gone, Dialog: d.n, By: by, Chosen: d.labels(out.chosen), Taken: out.taken, Text: out.text, Early: len(g.waiting) > 0}
		g.journal.put(e)
		g.close(out.next)
		if out.aside {
			i--
		}
		for _, rest := range keys[i+1:] {
			if g.dialog == nil && g.ready {
				g.typed(key{name: rest, person: k.person})
			}
		}
		return
	}
	g.draw(false)
}

// letter is a character of a paste as a key.
func letter(r rune) string {
	switch r {
	case ' ':
		return "Space"
	case '\t':
		return "Tab"
	case '\n', '\r':
		return "Enter"
	}
	return string(r)
}

// goes ends a dialog that nobody has answered.
func (g *program) goes() {
	d := g.dialog
	e := Entry{Kind: Gone, Dialog: d.n, By: ByItself}
	var next *dialog
	if d.other {
		e.By = ByOther
		next = g.asker.next(g.play.Agent)
	}
	g.journal.put(e)
	g.close(next)
}

// close takes the dialog off the screen. next takes its place at once, or a moment later.
func (g *program) close(next *dialog) {
	n := g.dialog.n
	g.dialog = nil
	g.input.stood = time.Now()
	switch {
	case next != nil && g.rand.IntN(3) > 0:
		g.open(next)
		return
	case next != nil:
		g.after = next
	}
	if !g.ready {
		g.begin()
		if g.after == nil {
			g.ask(Cleared, n)
			return
		}
	}
	g.draw(true)
	g.ask(Cleared, n)
}
