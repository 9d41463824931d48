package adapters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/sessions"
)

// Ending is what a message says at its end that rings: turns have ended, or a
// session's program has failed.
type Ending struct {
	// Turns is how many turns have ended since the chat was last told of one; 0: none
	// has, the session is over.
	Turns int64
	// Took is how long the last of them took; 0: nobody knows.
	Took time.Duration
	// Status is the exit status of the shell's command that the last of them was; 0: it
	// went well, or nobody knows.
	Status int
	// Failed is how the session's program ended, if not well.
	Failed *sessions.Exit
	// Broken says that the last of them failed, and Words are the first ones of why.
	Broken bool
	// Earlier is how many of those before the last of them failed, and Why the first words of why
	// the newest of these did.
	Earlier int
	Why     string
	// Words are the first ones of what the agent answered, or else the last row of what was
	// printed; "": nobody knows any, or the message shows them itself. They're one line.
	Words string
	// Link is the address of the message in which the last turn begins; "": it has none,
	// or it isn't known. It's no part of the text.
	Link string
	// Begun says where several turns begin; nil: Link says all. Those that begin in the Ending's own
	// message aren't among them. Unlisted is how many of the first ones aren't, since they'd be too many.
	Begun    []BegunTurns
	Unlisted int64
}

// Linker is an Adapter whose messages have addresses.
type Linker interface {
	// Link is the address of a message; "": it has none. It's a pure function.
	Link(t Target, message string) string
}

// String is one line, and one for each of Begun below it.
func (e Ending) String() string { return strings.Join(e.lines(), "\n") }

// summary is the first line.
func (e Ending) summary() string {
	var parts []string
	switch {
	case e.Failed != nil && e.Failed.Signal != "":
		parts = append(parts, "failed", "signal "+Shorten(e.Failed.Signal, maxReason))
	case e.Failed != nil:
		parts = append(parts, "failed", fmt.Sprintf("exit status %d", e.Failed.Status))
	case e.Turns > 1 && e.Broken && e.Earlier > 0:
		parts = append(parts, fmt.Sprintf("%d turns, %d of which failed, the last%s", e.Turns, e.Earlier+1, e.why()))
	case e.Turns > 1 && e.Earlier > 0:
		parts = append(parts, fmt.Sprintf("%d turns, %d of which failed%s", e.Turns, e.Earlier, behindColon(e.Why)))
	case e.Turns > 1 && e.Broken:
		parts = append(parts, fmt.Sprintf("%d turns, the last of which failed%s", e.Turns, e.why()))
	case e.Turns > 1:
		parts = append(parts, fmt.Sprintf("%d turns done", e.Turns))
	case e.Broken:
		parts = append(parts, "failed"+e.why())
	default:
		parts = append(parts, "done")
	}
	switch {
	case e.Took <= 0:
	case e.Turns > 1:
		parts = append(parts, "the last took "+durationText(e.Took))
	default:
		parts = append(parts, durationText(e.Took))
	}
	if e.Status != 0 && e.Failed == nil {
		parts = append(parts, fmt.Sprintf("exit status %d", e.Status))
	}
	if e.Words != "" && (!e.Broken || e.Failed != nil) {
		parts = append(parts, "“"+e.Words+"”")
	}
	return strings.Join(parts, " · ")
}

// why is what failed, behind that it did.
func (e Ending) why() string { return behindColon(e.Words) }

// behindColon is what's put behind what it's about; "": nothing is.
func behindColon(words string) string {
	if words == "" {
		return ""
	}
	return ": " + words
}

// Bare is the ending without words, in one line.
func (e Ending) Bare() *Ending {
	e.Words, e.Why, e.Begun, e.Unlisted = "", "", nil, 0
	return &e
}

// linkedText is what Link is put to: the first line as far as it has no words.
func (e Ending) linkedText() string {
	bare, whole := e.Bare().summary(), e.summary()
	n := 0
	for n < len(bare) && n < len(whole) && bare[n] == whole[n] {
		n++
	}
	return strings.TrimRight(bare[:n], " ")
}

// durationText is a duration as people say it.
func durationText(d time.Duration) string {
	if d < time.Second {
		return "less than 1 s"
	}
	if d >= time.Hour {
		d = d.Round(time.Minute)
	} else {
		d = d.Round(time.Second)
	}
	var parts []string
	add := func(unit time.Duration, name string) {
		if n := d / unit; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
		d %= unit
	}
	add(time.Hour, "h")
	add(time.Minute, "min")
	add(time.Second, "s")
	return strings.Join(parts, " ")
}

// concluded is the page of a message that rings.
func (s *situation) concluded(p Page) Page {
	return s.withEnding(p, s.endingOf(s.announcing(Intent{Ring: true}), true))
}

// concludesTail reports whether the end of a turn that rings nobody is said below the lines of
// the tail, with those that are pending: a message of its own would say it to nobody.
func (s *situation) concludesTail() bool {
	t := s.doc.Tail
	if t == nil || !s.spared || s.hasEnded() || s.page().Cut || !s.hasAll() || s.interrupted() {
		return false
	}
	p := s.concludedTail()
	return !allBlank(p.Pieces) && s.shape.fits(p)
}

func (s *situation) concludedTail() Page {
	t := s.doc.Tail
	return s.withoutBegunIn(t.ID).concluded(s.pageOf(*t).plus(withoutBlankEnd(s.log.between(t.From, Position{Line: s.limit() + 1}))))
}

// planConclusion edits the tail to show the end of the turn. Nothing is added to it later.
func (s *situation) planConclusion() plannedCall {
	p := s.concludedTail()
	m := s.message(p, s.doc.Tail.From)
	m.ID, m.Hash, m.Sealed = s.doc.Tail.ID, s.hash(p), true
	in := Intent{Kind: KindEdit, Message: m, Shown: m.To, Ring: true}
	return s.completePlan(Op{Kind: KindEdit, Message: m.ID, Page: p}, s.announcing(in), false)
}

// withEnding is a page that ends so. Words aren't said that it shows already, or has no room for,
// nor where what they're of was refused. Of where turns begin it says as much as there's room for.
func (s *situation) withEnding(p Page, e *Ending) Page {
	p.Ending = e
	if e == nil {
		return p
	}
	shape := s.shape
	if p.Attached > 0 && shape.MaxCaption > 0 {
		shape.MaxLen = shape.MaxCaption
	}
	if !e.Broken && e.Words != "" && p.showsLine(s.wordsAt) {
		bare := *e
		bare.Words, p.Ending = "", &bare
	}
	if s.withheld() != "" {
		p.Ending = e.Bare()
	}
	for n := len(p.Ending.Begun) - 1; n >= 0 && !shape.fits(p); n-- {
		p.Ending = p.Ending.listingLast(n)
	}
	if !shape.fits(p) {
		p.Ending = e.Bare()
	}
	return p
}

// endingOf is what the message of an intent says that rings; nil: its lines say all. last says that
// nothing comes after it.
func (s *situation) endingOf(in Intent, last bool) *Ending {
	e := Ending{Link: s.link}
	if in.Announced > 0 {
		e.Turns = max(1, in.Turn-s.doc.Turn)
		if in.Announced == s.progress.TurnEnd {
			if e.Turns > 1 {
				e.Earlier, e.Why = s.earlier, s.earlierWhy
			}
			e.Words = s.words
			e.Took = s.progress.took()
			if s.progress.Status != nil {
				e.Status = *s.progress.Status
			}
			if s.progress.Failed != "" {
				e.Broken, e.Words = true, firstWords(s.progress.Failed)
			}
			if e.Turns > 1 && in.Turn == s.progress.Turn {
				e = s.listing(e)
			}
		}
	}
	if x := s.session.Exit; last && s.hasEnded() && x != nil && (x.Status > 0 || x.Signal != "") {
		e.Failed = x
	}
	if e.Turns == 0 && e.Failed == nil {
		return nil
	}
	return &e
}

// took is how long the newest turn took that has ended; 0: nobody knows. Turns that end
// within a look take no time, and clocks may be set back.
func (p LogProgress) took() time.Duration { return tookOf(p.TurnBegan, p.TurnEnded) }

func tookOf(began, ended time.Time) time.Duration {
	if began.IsZero() || ended.IsZero() {
		return 0
	}
	return max(ended.Sub(began), 1)
}

const (
	// maxWords is how much of an answer an ending says, in characters as people see them: what
	// a locked phone shows of a message beside "done · 3 min 12 s".
	maxWords = 80
	// maxWordsBytes is the same in bytes: one character can have any number of marks.
	maxWordsBytes = 1000
	// fewWords is below what a sentence alone says little: "Done.", or a heading.
	fewWords = 20
	// answerRows is how many lines of an answer are rendered for its first words.
	answerRows = 20
	// turnRows is how many lines back from a turn's end its answer is looked for.
	turnRows = 1000
)

// answerWords returns the first words of the last answer among a turn's lines, and the number of
// the line that they begin in. Where the program's own record isn't read, they're the last row
// that says anything. What a person wrote is no answer, and neither is its echo. "": nothing
// is known.
func answerWords(turn []sessions.Line) (words string, line int64) {
	from, answers := -1, false
	for i, l := range turn {
		if l.Kind == sessions.KindAnswer {
			if answers = true; l.Begins {
				from = i
			}
		}
	}
	if !answers {
		return lastRow(turn)
	}
	if from < 0 {
		return "", 0 // it begins further up
	}
	var page render.Page
	for _, l := range turn[from:min(len(turn), from+answerRows)] {
		if l.Kind != sessions.KindAnswer {
			break
		}
		if line == 0 && strings.TrimSpace(l.Text) != "" {
			line = l.N
		}
		row := render.Whole(render.Answer, l.Text)
		row.Begins = l.Begins
		page.Lines = append(page.Lines, row)
	}
	return firstWords(page.Text().String()), line
}

// TurnWords returns the first words of the answer of a turn that has ended, as an ending says them; "":
// nothing is known. log is one that's masked.
func TurnWords(ctx context.Context, log Log, id sessions.ID, t sessions.Turn) (string, error) {
	lines, err := readTo(ctx, log, id, t.FirstLine, t.LastLine)
	if err != nil {
		return "", fmt.Errorf("read what turn %d of %s said: %w", t.Number, id, err)
	}
	words, _ := answerWords(lines)
	return words, nil
}

// lastRow is the last row of a pane that has a letter or a digit, unless it's the echo of what
// a person wrote.
func lastRow(turn []sessions.Line) (words string, line int64) {
	var said []string
	for _, l := range turn {
		if text := strings.TrimSpace(l.Text); l.Kind == sessions.KindUser && text != "" {
			said = append(said, text)
		}
	}
	for _, l := range slices.Backward(turn) {
		if l.Kind != sessions.KindPane || !strings.ContainsFunc(l.Text, isLetter) || isEcho(l.Text, said) {
			continue
		}
		return firstWords(l.Text), l.N
	}
	return "", 0
}

func isEcho(row string, said []string) bool {
	row = strings.TrimSpace(row)
	for _, text := range said {
		if strings.HasSuffix(row, text) {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// schemes are what makes platforms link an address: the quotation mark behind it would be a part
// of that.
var schemes = strings.NewReplacer("https://", "", "http://", "") //nolint:gochecknoglobals // a constant table

// firstWords is the first sentence of a text, or what of it maxWords holds, on one line and
// without what only changes how a text looks.
func firstWords(text string) string {
	text = strings.Join(strings.Fields(schemes.Replace(strings.Map(visibleRune, text))), " ")
	word, at := 0, 0
	for n, end := range graphemes(text, maxWordsBytes) {
		if n == maxWords || end > maxWordsBytes {
			return cutWords(text[:at], word)
		}
		if text[at:end] == " " {
			word = at
		}
		if at = end; n+1 >= fewWords && endsSentence(text[:at], text[at:]) {
			return text[:at]
		}
	}
	if at < len(text) {
		return cutWords(text[:at], word)
	}
	return text
}

// cutWords cuts a text behind its last word, if that leaves most of it. Chinese and Japanese
// have no blanks.
func cutWords(text string, word int) string {
	if word > len(text)/2 {
		text = text[:word]
	}
	return strings.TrimRight(text, " ") + " …"
}

func endsSentence(said, next string) bool {
	switch {
	case strings.HasSuffix(said, "。"), strings.HasSuffix(said, "！"), strings.HasSuffix(said, "？"):
		return true
	case strings.HasSuffix(said, "."), strings.HasSuffix(said, "!"), strings.HasSuffix(said, "?"):
		return next == "" || next[0] == ' '
	default:
		return false
	}
}

// visibleRune drops what can't be seen, and would turn a text round or hide a part of it, but for the
// joiner within emoji.
func visibleRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == '\u200d':
		return r
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		return -1
	default:
		return r
	}
}

// Printable is a stranger's text as a terminal may show it: one line, and nothing that
// moves the cursor or turns the direction of writing.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// Shorten is a text of at most so many characters; one that's longer ends with "…".
func Shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
