package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/sessions"
)

// LineFinder finds lines by their words, as chats may see them. Its methods may be called by several goroutines.
type LineFinder interface {
	// Find returns the newest lines that a query finds, limit at most: those of some sessions, or of all if none is named. It
	// reads the disk.
	Find(ctx context.Context, q search.WordQuery, limit int, ids ...sessions.ID) (search.Found, error)
	// Behind is how many lines can't be found yet, about. It returns at once.
	Behind() int64
}

const (
	maxFound     = 20  // lines of one reply
	mostSearched = 200 // lines that are read for a reply, with those of the replies before
	maxFoundRune = 160 // of one line
	maxNameRune  = 24  // of a session's name beside it
	maxAround    = 5   // lines that have a button for what stands around them
	linesAround  = 12  // above such a line, and below
	searchFor    = 10 * time.Second
)

// scopeAll is all sessions, as buttons name them; others name theirs by ids with commas between.
const scopeAll = "all"

// searchLog looks for what's written in the sessions of the place, and where it has none, in all.
func searchLog(a *Invocation) error {
	return a.search(a.sessionsHere(), 0, a.args)
}

// searchPressed goes on with a search, or looks elsewhere for the same.
func searchPressed(a *Invocation) error {
	scope, rest, _ := strings.Cut(a.args, " ")
	number, name, _ := strings.Cut(rest, " ")
	skip, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("read a button: %w", err)
	}
	text := a.runner.sought.get(name)
	if text == "" {
		return errors.New("what was looked for isn't known any more: search again")
	}
	var in []sessions.Session
	if scope != scopeAll {
		for id := range strings.SplitSeq(scope, ",") {
			if s, err := a.runner.Sessions.Get(id); err == nil {
				in = append(in, s)
			}
		}
		if len(in) == 0 {
			return errors.New("what it looked in isn't there any more")
		}
	}
	return a.search(in, skip, text)
}

// search replies with lines of some sessions, or of all if none is named, that have a text: the newest first, but for so many of
// them. Whoever may ask at all may see all
// sessions: roles are a person's, and no session's.
func (a *Invocation) search(in []sessions.Session, skip int, text string) error {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if strings.TrimSpace(text) == "" {
		return errors.New("write /search and the words to look for")
	}
	q, err := search.ParseQuery(text)
	switch {
	case err != nil:
		return err
	case a.runner.Finder == nil:
		return errors.New("nothing can be searched: panebridge's log says why")
	}
	ctx, cancel := context.WithTimeout(a.Ctx, searchFor)
	defer cancel()
	limit := min(skip+maxFound, mostSearched)
	found, err := a.runner.Finder.Find(ctx, q, limit, idsOf(in)...)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it took more than %d s and was given up; look for something rarer", searchFor/time.Second)
	case err != nil:
		return err
	}
	found.Hits = found.Hits[min(skip, len(found.Hits)):]
	return a.showFound(foundLines{Found: found, in: in, skip: skip, text: text, query: q})
}

// sessionsHere are the sessions of the place, also those that have ended.
func (a *Invocation) sessionsHere() (here []sessions.Session) {
	for _, b := range a.runner.Hub.BindingsAt(a.Event.Place) {
		if s, err := a.runner.Sessions.Get(string(b.Session)); err == nil && !b.Unbound && !slices.ContainsFunc(here, func(x sessions.Session) bool { return x.ID == s.ID }) {
			here = append(here, s)
		}
	}
	return here
}

func idsOf(all []sessions.Session) (ids []sessions.ID) {
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

// foundLines is what a search found.
type foundLines struct {
	search.Found

	in    []sessions.Session // where it was looked for; none: in all
	skip  int
	text  string
	query search.WordQuery // the text's
}

// showFound replies with as many lines as go into one message, and with buttons for the older ones and for all sessions.
func (a *Invocation) showFound(f foundLines) error {
	shape := a.runner.Hub.Shape(a.Event.Place)
	now := time.Now()
	var rows []string
	for i, h := range f.Hits {
		rows = append(rows, fmt.Sprintf("%d  %s", f.skip+i+1, a.foundRow(f, h, now)))
	}
	shown, isMore := len(rows), f.More
	text := a.foundText(f, rows, isMore)
	for shown > 1 && shape.Len(text) > shape.MaxLen {
		shown, isMore = shown-1, true
		text = a.foundText(f, rows[:shown], isMore)
	}
	session := sessions.ID("")
	if len(f.in) == 1 {
		session = f.in[0].ID
	}
	buttons := append(a.aroundButtons(f, shown), a.foundButtons(f, f.skip+shown, isMore)...)
	return a.post(adapters.Post{Text: text, Session: session, Passing: session == "", Buttons: buttons})
}

// aroundButtons lead to the places of the first of the lines that are shown.
func (a *Invocation) aroundButtons(f foundLines, shown int) (rows [][]adapters.Button) {
	var row []adapters.Button
	for i, h := range f.Hits[:min(shown, maxAround)] {
		o := cards.Offer{Do: "around", Role: access.Viewer, Session: h.Session, Args: strconv.FormatInt(h.Line.N, 10), Expires: time.Now().Add(24 * time.Hour)}
		row = append(row, a.makeOffer(fmt.Sprintf("Around %d", f.skip+i+1), o))
	}
	if row == nil {
		return nil
	}
	return [][]adapters.Button{row}
}

// showAround shows the place of a line that was found.
func showAround(a *Invocation) error {
	n, err := strconv.ParseInt(a.args, 10, 64)
	if err != nil {
		return fmt.Errorf("read a button: %w", err)
	}
	from := max(1, n-linesAround)
	out, err := a.runner.Store.Read(a.Ctx, a.Session.ID, from, int(n-from)+linesAround+1)
	if err != nil {
		return err
	}
	if len(out.Lines) == 0 || out.Lines[0].N > n {
		return errors.New("that line isn't kept any more")
	}
	texts := make([]string, len(out.Lines))
	for i, l := range out.Lines {
		texts[i] = l.Text
		if l.N == n {
			texts[i] = "→ " + l.Text
		}
	}
	first, last := out.Lines[0].N, out.Lines[len(out.Lines)-1].N
	heading := fmt.Sprintf("%s, lines %d to %d", wording.Bold(a.Session.Name), first, last)
	return a.showLines(heading, texts, fmt.Sprintf("lines-%d-%d.txt", first, last))
}

// foundRow is a line that was found: when it came, its session if it may be one of several, what it is, and the line.
func (a *Invocation) foundRow(f foundLines, h search.Hit, now time.Time) string {
	row := dayClock(h.Line.At, now) + "  "
	if len(f.in) != 1 {
		name := "a session that's gone"
		if s, err := a.runner.Sessions.Get(string(h.Session)); err == nil {
			name = s.Name
		}
		row += wording.CutEnd(name, maxNameRune) + "  "
	}
	if kind := h.Line.Kind.NameKind(); kind != "" {
		row += kind + "  "
	}
	return row + excerpt(h.Line.Text, f.query)
}

// dayClock is a time in minutes, with its day if that isn't today.
func dayClock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// foundText is the reply with some rows.
func (a *Invocation) foundText(f foundLines, rows []string, isMore bool) string {
	where := "all sessions"
	switch len(f.in) {
	case 0:
	case 1:
		where = wording.Bold(f.in[0].Name)
	default:
		where = "the sessions of this place"
	}
	var text string
	switch n := len(rows); {
	case n == 0 && f.skip > 0:
		text = "No older line of " + where + " has that."
	case n == 0:
		text = "No line of " + where + " has that."
	case f.skip > 0:
		text = fmt.Sprintf("Older lines of %s, %d to %d", where, f.skip+1, f.skip+n)
	case n == 1 && !isMore:
		text = "1 line of " + where
	case n == 1:
		text = "The newest line of " + where + ", of more"
	case isMore:
		text = fmt.Sprintf("The newest %d lines of %s, of more", n, where)
	default:
		text = fmt.Sprintf("%d lines of %s, the newest first", n, where)
	}
	if behind := a.runner.Finder.Behind(); behind > 0 {
		text = strings.TrimSuffix(text, ".") + fmt.Sprintf(". %d can't be found yet: try again soon.", behind)
	}
	if len(rows) == 0 {
		return text
	}
	return text + "\n\n" + wording.Code(strings.Join(rows, "\n"))
}

// foundButtons are for what the reply doesn't show.
func (a *Invocation) foundButtons(f foundLines, next int, isMore bool) (rows [][]adapters.Button) {
	o := cards.Offer{Do: "search", Role: access.Viewer, Expires: time.Now().Add(24 * time.Hour)}
	scope := scopeAll
	if len(f.in) > 0 {
		var ids []string
		for _, s := range f.in {
			ids = append(ids, string(s.ID))
		}
		o.Session, scope = f.in[0].ID, strings.Join(ids, ",")
	}
	if a.Offered.Session != "" {
		o.Session = a.Offered.Session
	}
	name := "" // of the text
	button := func(label, scope string, skip int) {
		if name == "" {
			name = a.runner.sought.keep(f.text)
		}
		o.Args = fmt.Sprintf("%s %d %s", scope, skip, name)
		rows = append(rows, []adapters.Button{a.makeOffer(label, o)})
	}
	if isMore && next < mostSearched {
		button("Older", scope, next)
	}
	if len(f.in) > 0 && f.skip == 0 {
		button("In all sessions", scopeAll, 0)
	}
	return rows
}

// excerpt is what's to be read of a line: its beginning, or what's around the first of the texts that were looked for.
func excerpt(line string, q search.WordQuery) string {
	runes := []rune(line)
	if len(runes) <= maxFoundRune {
		return line
	}
	from := 0
	if places := q.Places(line); len(places) > 0 {
		from = max(utf8.RuneCountInString(line[:slices.Min(places)])-maxFoundRune/3, 0)
	}
	if from == 0 {
		return wording.CutEnd(line, maxFoundRune)
	}
	return "…" + wording.CutEnd(string(runes[from:]), maxFoundRune-1)
}
