package api

import (
	"fmt"
	"html"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

const (
	defaultOutputLines = 500
	maxOutputLines     = 5000
)

func (a *api) output(w http.ResponseWriter, r *http.Request) error {
	from, err := queryInt(r, "from", 0)
	if err != nil {
		return err
	}
	limit, err := queryInt(r, "limit", defaultOutputLines)
	if err != nil {
		return err
	}
	if limit == 0 || limit > maxOutputLines {
		return badRequest(fmt.Sprintf("limit must be 1 to %d", maxOutputLines))
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	out, err := a.opts.Output.Read(r.Context(), s.ID, from, int(limit))
	if err != nil {
		return err
	}
	lines, secrets := a.shownLines(r.Context(), s.ID, out.Lines, true)
	writeJSON(w, http.StatusOK, Output{Lines: notNil(lines), Gaps: notNil(out.Gaps), Next: out.Next, Oldest: out.Oldest, Secrets: secrets})
	return nil
}

// maxTurns is how many turns are listed at most.
const maxTurns = 500

// maxNotable bounds the seconds after which a turn is notable: more is for ever.
const maxNotable = 1 << 31

// turns lists the turns between two lines, the newest first or with order=oldest the oldest first;
// with notable=S those alone that failed or took so many seconds.
func (a *api) turns(w http.ResponseWriter, r *http.Request) error {
	from, err := queryInt(r, "from", 0)
	if err != nil {
		return err
	}
	to, err := queryInt(r, "to", math.MaxInt64)
	if err != nil {
		return err
	}
	limit, err := queryInt(r, "limit", maxTurns)
	if err != nil {
		return err
	}
	notable, err := queryInt(r, "notable", 0)
	if err != nil {
		return err
	}
	order := r.URL.Query().Get("order")
	switch {
	case limit == 0 || limit > maxTurns:
		return badRequest(fmt.Sprintf("limit must be 1 to %d", maxTurns))
	case order != "" && order != "newest" && order != "oldest":
		return badRequest(fmt.Sprintf("order must be newest or oldest, not %q", order))
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	turns, err := a.opts.Output.TurnsWithin(r.Context(), s.ID, from, to, sessions.TurnQuery{Oldest: order == "oldest", Notable: time.Duration(min(notable, maxNotable)) * time.Second}, int(limit))
	if err != nil {
		return err
	}
	all := []PlacedTurn{}
	for _, t := range turns {
		all = append(all, PlacedTurn{
			Turn: t.Number, Open: t.Open, First: t.FirstLine, After: t.After, Asked: a.hiddenText(t.Asked), Why: a.hiddenText(t.Failed),
			Status: t.Status, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
		})
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}

// queryInt returns a query parameter that is a number ≥ 0.
func queryInt(r *http.Request, name string, def int64) (int64, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Sprintf("%s must be a number from 0, not %q", name, v))
	}
	return n, nil
}

// notNil makes JSON write [] instead of null.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (a *api) screen(w http.ResponseWriter, r *http.Request) error {
	write, contentType, err := a.screenFormat(r.URL.Query().Get("format"))
	if err != nil {
		return err
	}
	show, err := a.showsSecrets(r)
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	screen, err := a.opts.Sessions.Screen(r.Context(), s.ID)
	if err != nil {
		return err
	}
	if !show {
		screen.Rows = a.hiddenScreen(r.Context(), s.ID, screen.Rows)
	}
	body, err := write(screen)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body)
	return nil
}

// showsSecrets reads the parameter "secrets": they're masked unless it says "show", which is for
// admins.
func (a *api) showsSecrets(r *http.Request) (bool, error) {
	switch text := r.URL.Query().Get("secrets"); {
	case text == "", text == "mask":
		return false, nil
	case text != "show":
		return false, badRequest(fmt.Sprintf("secrets must be mask or show, not %q", text))
	case !a.may(r.Context(), access.Admin):
		return false, &Error{Status: http.StatusForbidden, Code: codeRole, Message: "secrets are shown to an admin's device only"}
	}
	return true, nil
}

// screenFormat is how a screen is written, and as what.
func (a *api) screenFormat(name string) (write func(sessions.Screen) ([]byte, error), contentType string, err error) {
	as := func(text func(sessions.Screen) string) func(sessions.Screen) ([]byte, error) {
		return func(s sessions.Screen) ([]byte, error) { return []byte(text(s)), nil }
	}
	switch {
	case name == "", name == "text":
		return as(screenText), "text/plain; charset=utf-8", nil
	case name == "ansi":
		return as(func(s sessions.Screen) string { return joinRows(s.Rows) }), "text/plain; charset=utf-8", nil
	case name == "html":
		return as(screenHTML), "text/html; charset=utf-8", nil
	case name == "png" && a.opts.Picture != nil:
		return a.opts.Picture, "image/png", nil
	default:
		return nil, "", badRequest(fmt.Sprintf("format must be text, ansi, html or png, not %q", name))
	}
}

func screenText(s sessions.Screen) string {
	rows := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		rows[i] = sgr.Plain(row)
	}
	return joinRows(rows)
}

func joinRows(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Join(rows, "\n") + "\n"
}

// screenHTML writes a screen as text with <span> elements, rows ended by
// newlines; it belongs inside a <pre>. A span has only
//   - classes: f0 … f255 and b0 … b255 (palette colours), bold, dim, italic,
//     underline, reverse, hidden, strike, cursor for the cell that the cursor
//     is on, if it's shown, w1 and w2 for a character that takes so many cells
//     whatever the font says, and apart for words that are written from right to left;
//   - data-fg and data-bg: true colours as #rrggbb.
//
// There's no inline style, because the page's content security policy forbids
// it.
func screenHTML(s sessions.Screen) string {
	var b strings.Builder
	for y, row := range s.Rows {
		runs := sgr.Parse(row)
		for i := range runs {
			runs[i].Text = withoutTurns(runs[i].Text)
		}
		if s.CursorVisible && y == s.CursorY && s.CursorX < max(s.Width, 1) {
			writeRowWithCursor(&b, runs, s.CursorX)
		} else {
			for _, r := range runs {
				writeRun(&b, r)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// withoutTurns is text without the characters that turn the direction of writing. They have no cell, and terminals take no notice
// of them; a browser would draw others elsewhere than they stand.
func withoutTurns(text string) string {
	if !strings.ContainsFunc(text, isTurn) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if isTurn(r) {
			return -1
		}
		return r
	}, text)
}

func isTurn(r rune) bool { return r >= '\u061c' && unicode.Is(unicode.Bidi_Control, r) }

// tabWidth is how far tabs go, in cells. tmux writes none in captures.
const tabWidth = 8

// writeRowWithCursor writes a row with the cursor on the character of the cell at, or on a
// blank behind the text.
func writeRowWithCursor(b *strings.Builder, runs []sgr.Run, at int) {
	x := 0
	for i, r := range runs {
		for it := graphemes.FromString(r.Text); it.Next(); {
			wide := displaywidth.String(it.Value())
			if it.Value() == "\t" {
				wide = tabWidth - x%tabWidth
			}
			if x += wide; x <= at {
				continue
			}
			writeRun(b, sgr.Run{Style: r.Style, Text: r.Text[:it.Start()]})
			writeSpan(b, sgr.Run{Style: r.Style, Text: it.Value()}, append([]string{"cursor"}, cellsClass(it.Value())...)...)
			writeRun(b, sgr.Run{Style: r.Style, Text: r.Text[it.End():]})
			for _, rest := range runs[i+1:] {
				writeRun(b, rest)
			}
			return
		}
		writeRun(b, r)
	}
	b.WriteString(strings.Repeat(" ", at-x))
	writeSpan(b, sgr.Run{Text: " "}, "cursor")
}

func writeRun(b *strings.Builder, r sgr.Run) {
	from := 0 // what isn't written yet
	for it := graphemes.FromString(r.Text); it.Next(); {
		class := cellsClass(it.Value())
		if class == nil {
			continue
		}
		writePart(b, r.Style, r.Text[from:it.Start()])
		writeSpan(b, sgr.Run{Style: r.Style, Text: it.Value()}, class...)
		from = it.End()
	}
	writePart(b, r.Style, r.Text[from:])
}

// rightToLeft are words of a script that's written from right to left, with what stands between such within one column: none of
// the signs between columns, and no two blanks.
var rightToLeft = regexp.MustCompile(turnedLetter + `(?:(?: ?[^ |\x{2500}-\x{259f}])* ?` + turnedLetter + `)?`)

// findTurned is where the first match of rightToLeft begins and ends; nil: there's none. Most text has no letter that could be one.
func findTurned(text string) []int {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= '\u0590' }) {
		return nil
	}
	return rightToLeft.FindStringIndex(text)
}

const turnedLetter = `[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}\p{Adlam}]`

// writePart writes text of one style. Words that are written from right to left are apart from each other, else a browser would
// draw columns in another order.
func writePart(b *strings.Builder, style sgr.Style, text string) {
	for text != "" {
		from, to := len(text), len(text)
		if at := findTurned(text); at != nil {
			from, to = at[0], at[1]
		}
		if from > 0 {
			writeSpan(b, sgr.Run{Style: style, Text: text[:from]})
		}
		if from < to {
			writeSpan(b, sgr.Run{Style: style, Text: text[from:to]}, "apart")
		}
		text = text[to:]
	}
}

// cellsClass is the class of a character that gets as many cells as it has in the pane, since fonts draw it in other widths:
// those of two cells, and signs. Others are left to the font.
func cellsClass(char string) []string {
	r, _ := utf8.DecodeRuneInString(char)
	isSign := 0x2190 <= r && r < 0x2c00 && (r < 0x2500 || 0x25a0 <= r) // but for boxes and blocks
	switch {
	case r < 0x1100 || r == utf8.RuneError:
		return nil
	case displaywidth.String(char) == 2:
		return []string{"w2"}
	case isSign:
		return []string{"w1"}
	}
	return nil
}

// writeSpan writes text in an element of its style's classes and of those besides; without any,
// as text alone.
func writeSpan(b *strings.Builder, r sgr.Run, besides ...string) {
	tag := spanTag(r.Style, besides...)
	if tag == "" {
		b.WriteString(html.EscapeString(r.Text))
		return
	}
	b.WriteString(tag)
	b.WriteString(html.EscapeString(r.Text))
	b.WriteString("</span>")
}

// spanTag returns the opening tag of a style, and of classes besides; "" for the default style alone.
func spanTag(s sgr.Style, besides ...string) string {
	attributes := classAttr(s, besides) + dataAttr("fg", s.FG) + dataAttr("bg", s.BG)
	if attributes == "" {
		return ""
	}
	return "<span" + attributes + ">"
}

func classAttr(s sgr.Style, besides []string) string {
	var classes []string
	if s.FG.Kind == sgr.Indexed {
		classes = append(classes, "f"+strconv.Itoa(int(s.FG.Index)))
	}
	if s.BG.Kind == sgr.Indexed {
		classes = append(classes, "b"+strconv.Itoa(int(s.BG.Index)))
	}
	// Blinking is left out: nobody wants to read it.
	for _, c := range []struct {
		attr sgr.Attr
		name string
	}{
		{sgr.Bold, "bold"},
		{sgr.Dim, "dim"},
		{sgr.Italic, "italic"},
		{sgr.Underline, "underline"},
		{sgr.Reverse, "reverse"},
		{sgr.Hidden, "hidden"},
		{sgr.Strike, "strike"},
	} {
		if s.Has(c.attr) {
			classes = append(classes, c.name)
		}
	}
	classes = append(classes, besides...)
	if classes == nil {
		return ""
	}
	return ` class="` + strings.Join(classes, " ") + `"`
}

func dataAttr(name string, c sgr.Colour) string {
	if c.Kind != sgr.True {
		return ""
	}
	return " data-" + name + `="` + c.Hex() + `"`
}
