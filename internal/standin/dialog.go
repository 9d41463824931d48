package standin

import (
	"strings"
	"time"
	"unicode/utf8"
)

// digits says what a digit does in a dialog.
type digits int

const (
	noDigits digits = iota // nothing
	takes                  // takes its option at once
	toggles                // checks its option
	goes                   // goes to its option
)

// dialog is one that's open.
type dialog struct {
	form    string // its name in the profile
	tag     string
	title   string   // the question
	body    []string // what it's about
	options []option
	entry   string // the entry for text among the stops, behind the first of them; "": none
	after   int    // so many options stand behind the entry

	digits   digits
	multi    bool
	sideways bool // Left and Right move the mark
	wraps    bool // the mark goes round at the ends
	submits  bool // the last stop submits what's checked
	enter    bool // Enter submits what's checked, wherever the mark is
	tab      bool // Tab does
	space    bool // Space checks what's marked
	notes    bool // Tab opens a field for text
	deaf     bool // it has no options that keys go to: Enter takes the first, Escape the last
	aside    bool // other text than its keys puts it aside
	letters  string
	review   func(d *dialog) *dialog // comes when it's submitted; nil: it's over then
	then     map[int]func() *dialog  // comes when that option is taken

	n       int // its number
	mark    int // which stop is marked
	open    bool
	typed   string
	until   time.Time // it goes by itself; zero: it doesn't
	other   bool      // it goes because another comes
	touched time.Time // a key was pressed that changed it; zero: none was
	touchy  time.Duration
}

type option struct {
	label, detail string
	drawn         string // as it's drawn, if that's more than its label
	checked       bool
}

func (o option) text() string {
	if o.drawn != "" {
		return o.drawn
	}
	return o.label
}

// stops is where the mark can be: the options, the entry, and what submits.
func (d *dialog) stops() int {
	n := len(d.options)
	if d.entry != "" {
		n++
	}
	if d.submits {
		n++
	}
	return n
}

// entryAt is the stop of the entry; -1: there's none.
func (d *dialog) entryAt() int {
	if d.entry == "" {
		return -1
	}
	return len(d.options) - d.after
}

// optionAt is the option of a stop; -1: it's none.
func (d *dialog) optionAt(stop int) int {
	at := d.entryAt()
	switch {
	case at >= 0 && stop == at, stop < 0:
		return -1
	case at >= 0 && stop > at:
		stop--
	}
	if stop >= len(d.options) {
		return -1
	}
	return stop
}

// writing says that what's typed is text.
func (d *dialog) writing() bool { return d.open || d.entry != "" && d.mark == d.entryAt() }

// outcome is what a key did to a dialog.
type outcome struct {
	over   bool
	taken  bool // something was chosen
	chosen []int
	text   string
	next   *dialog // comes in its place
	aside  bool    // it's over, and the key is still to be used
}

// press works a key in.
func (d *dialog) press(k string) outcome {
	back, forth := "Up", "Down"
	if d.sideways {
		back, forth = "Left", "Right"
	}
	switch {
	case d.deaf:
		return d.pressDeaf(k)
	case k == back || d.sideways && k == "h":
		return d.move(-1)
	case k == forth || d.sideways && k == "l":
		return d.move(1)
	case d.writing():
		return d.write(k)
	case k == "Escape":
		return outcome{over: true}
	case len(k) == 1 && k[0] >= '1' && k[0] <= '9':
		return d.digit(int(k[0] - '1'))
	case k == "Space" && d.space, k == "Enter" && d.multi && !d.enter && d.optionAt(d.mark) >= 0:
		d.check(d.mark)
		return outcome{}
	case k == "Tab" && d.notes:
		d.open, d.typed = true, ""
		return outcome{}
	case k == "Tab" && d.tab, k == "Enter" && d.multi:
		return d.submit()
	case k == "Enter":
		return d.choose(d.mark)
	case len(k) == 1 && strings.Contains(d.letters, k):
		return d.choose(strings.Index(d.letters, k))
	case d.aside && utf8.RuneCountInString(k) == 1:
		return outcome{over: true, aside: true}
	}
	return outcome{}
}

func (d *dialog) pressDeaf(k string) outcome {
	switch k {
	case "Enter":
		return d.choose(0)
	case "Escape":
		return d.choose(len(d.options) - 1)
	}
	return outcome{}
}

func (d *dialog) move(by int) outcome {
	if d.open {
		return outcome{}
	}
	n := d.stops()
	if to := d.mark + by; d.wraps || to >= 0 && to < n {
		d.mark = (to + n) % n
	}
	return outcome{}
}

func (d *dialog) digit(stop int) outcome {
	at := d.optionAt(stop)
	switch {
	case d.digits == noDigits:
	case d.entry != "" && stop == d.entryAt():
		d.mark = stop
	case at < 0:
	case d.digits == toggles:
		d.check(stop)
	case d.digits == goes:
		d.mark = stop
	default:
		return d.choose(stop)
	}
	return outcome{}
}

func (d *dialog) check(stop int) {
	if at := d.optionAt(stop); at >= 0 {
		d.options[at].checked = !d.options[at].checked
	}
}

// write works a key into the text.
func (d *dialog) write(k string) outcome {
	switch {
	case k == "Enter" && d.typed == "" && !d.open:
	case k == "Enter" && d.open && d.typed == "":
		return d.choose(d.mark)
	case k == "Enter":
		return outcome{over: true, taken: true, text: d.typed}
	case k == "Escape" && d.open, k == "Tab" && d.open:
		d.open, d.typed = false, ""
	case k == "Escape":
		return outcome{over: true}
	case k == "BSpace" && d.typed != "":
		_, n := utf8.DecodeLastRuneInString(d.typed)
		d.typed = d.typed[:len(d.typed)-n]
	case k == "C-u":
		d.typed = ""
	case k == "Space":
		d.typed += " "
	case utf8.RuneCountInString(k) == 1:
		d.typed += k
	}
	return outcome{}
}

// choose takes a stop.
func (d *dialog) choose(stop int) outcome {
	at := d.optionAt(stop)
	if at < 0 {
		return outcome{}
	}
	out := outcome{over: true, taken: true, chosen: []int{at}}
	if then := d.then[at]; then != nil {
		out.next = then()
	}
	return out
}

// submit takes all that's checked.
func (d *dialog) submit() outcome {
	out := outcome{over: true, taken: true, chosen: d.checked()}
	if d.review != nil {
		out.next = d.review(d)
	}
	return out
}

// checked are the options that are.
func (d *dialog) checked() []int {
	var out []int
	for i, o := range d.options {
		if o.checked {
			out = append(out, i)
		}
	}
	return out
}

// labels are those of some options.
func (d *dialog) labels(of []int) []string {
	var out []string
	for _, i := range of {
		out = append(out, d.options[i].label)
	}
	return out
}

func (d *dialog) all() []string {
	var out []string
	for _, o := range d.options {
		out = append(out, o.label)
	}
	return out
}
