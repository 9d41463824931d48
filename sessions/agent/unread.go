package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// A dialog that no form knows is known by what dialogs have in common: options of which
// one is marked, the keys that it names, "yes or no" in front of the cursor. In a program
// whose input box is known one of these will do, for no such program draws both its box and a
// dialog; of others it takes two that belong together, because they print whatever they like.

// What's looked for in rows without frames. Marks are what programs draw beside the option
// that Enter takes.
var (
	unreadMark   = regexp.MustCompile(`^( *)([❯›>▸►▶→➜➤»●◉◆⦿*•✔☞-])\s*(?:[✔✓☑☐] +)?(\S.*)$`)
	unreadNumber = regexp.MustCompile(`^ *(?:[❯›>▸►▶→➜➤»●◉◆⦿*•☞] ?)? *(?:\[.?\] |[☐☑☒◯○●◉] )?[\[(]?(\d{1,2})[\].):] ?\s*(\S.*)$`)
	unreadCheck  = regexp.MustCompile(`^ *(?:[❯›>▸►▶→➜➤»] ?)? *(?:\d+[.)] )?(?:\[[ xX✔✓*]\]|[☐☑☒◯○◉◻◼▢]) +\S`)
	// Keys, and what they do: "Enter to select", "esc cancel", "[Tab] next", "↑/↓: navigate".
	unreadHint  = regexp.MustCompile(`(?i)(?:^|[\s(\[<·•|,/])(?:enter|return|esc(?:ape)?|space(?:bar)?|tab|arrows?|arrow keys|↑|↓|←|→|⏎|↵|⇥|⇆|↑/↓|↑↓|←/→|j/k|q)[\])>]?(?: keys?)?[ :=]+(?:to |for |= ?|– |- )?(?:select|choose|confirm|submit|cancel|continue|accept|navigate|move|toggle|go back|back|quit|exit|close|dismiss|next|previous|change|switch|proceed|skip|pick|approve|allow|reject|deny|decline|abort|apply|save|open|adjust|view|start|enable|review|trust|default)\b|(?i)\bpress (?:any key|<?\[?(?:enter|return|esc|space|y|n)\b)|(?i)\b(?:hit|press) .{1,12} to (?:continue|confirm|proceed|cancel|abort|exit)`)
	unreadYesNo = regexp.MustCompile(`(?i)[\[(<] ?(?:y(?:es)?) ?[/|,] ?n(?:o)?(?: ?[/|,] ?\w+)* ?[\])>]|\b(?:yes/no|y/n)\b|[\[(](?:y|n)[\])](?:es|o)\b.*[\[(](?:y|n)[\])](?:es|o)\b`)
	// Options side by side, in brackets of some kind.
	unreadButtons = regexp.MustCompile(`(?i)(?:^|[^\w ]|  )[ \[(<]*(?:yes|ok|okay|allow(?: \w+)?|accept|approve|continue|confirm|save|submit)[ \])>]*(?:[^\w ]|  +)(?:.*(?:[^\w ]|  ))?[ \[(<]*(?:no|cancel|deny|reject|decline|abort|skip|quit|don.?t \w+)[ \])>]*(?:[^\w ]|  |$)`)
	unreadSecret  = regexp.MustCompile(`(?i)\b(?:pass(?:word|phrase|code)|(?:api|access|secret|private|licen[cs]e)[ -]?(?:key|token)|(?:verification|one-time|authori[sz]ation|security|login|auth|2fa|device|recovery|backup)[ -]?codes?|otp|pin(?: code)?|paste (?:the |your )?code|credentials?)\b`)
	unreadKey     = regexp.MustCompile(`\(([a-zA-Z])\)|\[([a-zA-Z])\]`)
	// What changes though the screen stands still: how long something has taken, what the
	// time is, and what turns.
	unreadClock = regexp.MustCompile(`\b\d+(?:\.\d+)? ?(?:ms|s|sec|secs|seconds|m|min|minutes|h|%)\b|\b\d{1,2}:\d{2}(?::\d{2})?\b`)
	unreadASCII = regexp.MustCompile(`^(\s*)(?:\||\+[-=+]{3,}\+$)(.*?)\|?$`)
	// A prompt that waits for a line: the program asks nothing.
	unreadPrompt = regexp.MustCompile(`^\s*[❯›>$#%λ»]\s*$`)
	// And one in front of the cursor that waits for a command, whatever is typed behind it.
	unreadCommand = regexp.MustCompile(`^\s*(?:\w[\w.-]*(?: ?\[[^\]]*\])?[>#%$]|>>>|\.\.\.>?|\(\w+\)|In ?\[\d+\]:)(?:\s|$)`)
	unreadSpinner = regexp.MustCompile(`[⠀-⣿]|[◐◓◑◒◴◷◶◵]|^\s*[·✢✳✶✻✽|/\\-]\s`)
)

// unreadFrame is what boxes are drawn with.
const unreadFrame = "│┃║▌▐▏▕╭╮╰╯┌┐└┘├┤─━═╹╻▔▁▀▄█╔╗╚╝"

// unreadScreen is what's found of a dialog that no form knows.
type unreadScreen struct {
	rows            []string // without frames
	first, last     int      // rows that have something
	marked, numbers bool
	both            bool // an option with a number is marked
	checks, asks    bool
	hints           int  // rows near the end that name keys
	enter, escape   bool // and which of them
	prompt          bool // it waits for a line
	buried          bool // much stands below what looks like options
	buttons, yesno  bool
	field           bool // what's asked for stands in front of the cursor
	secret          bool
	digits          int
	list            int // the lowest row of options that's marked
	letters         []string
}

// Unread returns a dialog of which no form is known; nil: there's nothing like one on the
// screen. waits: the program itself tells, by its title or a hook, that it waits for a
// person. Its options are keys.
func (p *Profile) Unread(screen *sessions.Snapshot, waits bool) *sessions.Dialog {
	l := p.layout(screen, true)
	boxed := len(p.spec.Input.Box) > 0
	if sign := p.findSign(l); sign.state == sessions.StateWorking && sign.sure {
		return nil
	}
	u := lookUnread(l.rows, screen)
	switch {
	case u.first > u.last:
		return nil
	case boxed && (l.dialog >= 0 || waits): // one of its phrases stands there, or it says so
	case boxed && l.foot >= 0: // what looks like its box may be a text of the conversation
		below, own := lookUnread(l.rows[l.foot+1:], &sessions.Snapshot{}), lookUnread(l.rows[l.foot:], &sessions.Snapshot{})
		if (!below.marked && !below.numbers || !below.strongly()) && (!own.marked || !own.enter || !own.escape) {
			return nil
		}
	case boxed && !u.weakly(), !boxed && !u.strongly():
		return nil
	}
	d := &sessions.Dialog{Kind: sessions.PromptUnread, Marked: -1, First: u.first, Last: u.last, Title: u.findTitle()}
	d.Body = tidy(l.rows[u.first : u.last+1])
	if !u.secret {
		d.Options = u.findKeys()
	}
	if boxed && screen.CursorVisible { // it takes text: a search, say
		d.Options = slices.DeleteFunc(d.Options, func(o sessions.DialogOption) bool { return o.Key == "Space" || len(o.Key) == 1 })
	}
	if p.headless(l) || boxed && (l.narrow || screen.Height < leastHeight) {
		d.Cut, d.Unseen = true, true // Escape is all that it takes
	}
	d.Print = u.fingerprint(l.rows, screen)
	return d
}

// headless reports whether the options of a permission or a plan stand on the screen, as
// the profile knows them, without the question that belongs to them: that's above the
// screen, and what it's about may be, too.
func (p *Profile) headless(l *layout) bool {
	return p.isHeadless(l, true) || p.endsAbove(l) ||
		slices.ContainsFunc(p.others, func(other *Profile) bool { return other.isHeadless(l, false) })
}

// isHeadless is the same by the forms of one profile. own: it's that of the program. In other
// programs options that nothing need stand below may be of any dialog.
func (p *Profile) isHeadless(l *layout, own bool) bool {
	top := *l
	top.dialog = 0
	for i := range p.spec.Prompts {
		f := &p.spec.Prompts[i]
		if !allows(f.Kind) || f.Foot == nil && f.Row == nil && (!own || len(f.Under) == 0) {
			continue
		}
		r := dialogReading{form: f, layout: &top}
		if r.takeOffFrame(); r.findOptions() && r.findEnd() {
			return true
		}
	}
	return false
}

// endsAbove reports whether less than that is on the screen of a program which draws calls
// behind a dialog: the last of its options, or only those calls, or the rest of one; or it isn't
// clear where they begin. A row of a call that waits may read like that of the one that's asked about, which
// has something to choose below it, before any other.
func (p *Profile) endsAbove(l *layout) bool {
	if len(p.spec.Screen.Behind) == 0 {
		return false
	}
	var first, option, waits, asked, ours, chooses bool // ours: the call that's asked about is there
	rest, last := false, ""                             // the first row goes on with what stands above the screen
	for _, row := range l.rows {
		if row != "" {
			if last = row; !first {
				rest = matchesRow(p.spec.Screen.Inside, row)
			}
		}
		switch {
		case row == "":
			continue
		case p.isOption(row):
			if option = true; !first {
				return true
			}
		case matchesRow(p.spec.Screen.Behind, row):
			if waits = true; option {
				return true
			}
			asked = matchesRow(p.spec.Screen.Asked, row)
			ours = ours || asked
		case asked && (unreadMark.MatchString(row) || unreadNumber.MatchString(row) || unreadHint.MatchString(row)):
			chooses = true
		}
		first = true
	}
	return waits && (!ours || !option && !chooses) || rest && matchesRow(p.spec.Screen.Inside, last)
}

// lookUnread takes a screen apart.
func lookUnread(rows []string, screen *sessions.Snapshot) *unreadScreen {
	u := &unreadScreen{first: len(rows), last: -1}
	for i, row := range rows {
		bare := strings.TrimRight(strings.Map(func(r rune) rune {
			if strings.ContainsRune(unreadFrame, r) {
				return ' '
			}
			return r
		}, row), " ")
		bare = unreadASCII.ReplaceAllString(bare, "$1 $2")
		u.rows = append(u.rows, bare)
		if strings.TrimSpace(bare) != "" {
			u.first, u.last = min(u.first, i), i
		}
	}
	u.findOptions()
	inField := ""
	if y := screen.CursorY; screen.CursorVisible && y < len(u.rows) {
		u.prompt = unreadCommand.MatchString(u.rows[y])
		inField = strings.TrimSpace(cells(u.rows[y], screen.CursorX))
		rest := strings.TrimSpace(strings.TrimPrefix(u.rows[y], cells(u.rows[y], screen.CursorX)))
		if rest != "" || u.last > y {
			inField = ""
		}
	}
	labelled, waits := false, false
	for i, row := range u.rows {
		u.hints += u.hinted(i)
		waits = waits || unreadPrompt.MatchString(row) && i > u.last-lastRows
		u.asks = u.asks || u.asksAt(i)
		u.buttons = u.buttons || unreadButtons.MatchString(row)
		u.checks = u.checks || unreadCheck.MatchString(row)
		if unreadYesNo.MatchString(row) && i > u.last-3 {
			u.yesno = true
			u.letters = append(u.letters, "y", "n")
		}
		labelled = labelled || i > u.last-lastRows && unreadSecret.MatchString(row)
		for _, m := range unreadKey.FindAllStringSubmatch(row, -1) {
			u.letters = append(u.letters, strings.ToLower(m[1]+m[2]))
		}
	}
	u.prompt = waits || u.prompt && u.last <= screen.CursorY // no keys are named below it
	u.buried = u.isBuried()
	lists := u.marked || u.numbers || u.buttons || u.checks || u.yesno
	if u.hints == 0 && !u.both && screen.CursorVisible && screen.CursorY == u.list {
		u.marked = false // it's where a text is written
	}
	u.secret = unreadSecret.MatchString(inField) && !unreadYesNo.MatchString(inField) || !lists && letters(inField) == "" && labelled
	typed := linePrompt.MatchString(inField) // behind a prompt for commands, perhaps
	u.field = inField != "" && (unreadSecret.MatchString(inField) || !typed && (unreadYesNo.MatchString(inField) || unreadHint.MatchString(inField) || strings.HasSuffix(inField, "?")))
	return u
}

// findOptions looks for options one below the other.
func (u *unreadScreen) findOptions() {
	want := 1
	for i, row := range u.rows {
		if m := unreadNumber.FindStringSubmatch(row); m != nil {
			switch n, _ := strconv.Atoi(m[1]); n {
			case want:
				want++
			case 1:
				want = 2
			}
			u.digits = max(u.digits, want-1)
		}
		if m := unreadMark.FindStringSubmatchIndex(row); m != nil && i >= u.last-listRows && u.isAlone(i, row[m[4]:m[5]], utf8.RuneCountInString(row[:m[6]])) {
			u.marked, u.list = true, i
			u.both = u.both || unreadNumber.MatchString(row)
		}
	}
	u.numbers = u.digits >= 2
}

// Where hints stand, and how far above the options the question may be.
const (
	lastRows     = 6
	questionRows = 8
	listRows     = 24 // from the marked option to the screen's last row
)

// isBuried reports whether so much stands below the last row that may belong to a dialog
// that a program must have printed it since: its options stay at the end of the screen.
func (u *unreadScreen) isBuried() bool {
	col := -1
	if m := unreadMark.FindStringSubmatchIndex(u.rows[max(0, min(u.list, len(u.rows)-1))]); u.marked && m != nil {
		col = utf8.RuneCountInString(u.rows[u.list][:m[6]])
	}
	below := 0
	for i := u.last; i >= u.first && below <= questionRows; i-- {
		row := u.rows[i]
		text := strings.TrimSpace(row)
		indent := utf8.RuneCountInString(row) - utf8.RuneCountInString(strings.TrimLeft(row, " "))
		switch {
		case text == "":
		case i == u.list && u.marked, indent == col, unreadCheck.MatchString(row), unreadNumber.MatchString(row),
			unreadYesNo.MatchString(row), unreadButtons.MatchString(row), unreadHint.MatchString(row), strings.HasSuffix(text, "?"):
			return false
		default:
			below++
		}
	}
	return below > questionRows
}

// asksAt reports whether a row is a question about the options: above them, if there are any.
func (u *unreadScreen) asksAt(i int) bool {
	text := strings.TrimRight(u.rows[i], " _")
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "？") {
		return false
	}
	if u.marked {
		return i < u.list && i >= u.list-questionRows
	}
	return i > u.last-lastRows-questionRows
}

// hinted counts a row that names keys, near the end of the screen.
func (u *unreadScreen) hinted(i int) int {
	found := unreadHint.FindAllString(u.rows[i], -1)
	if len(found) == 0 || i <= u.last-lastRows || unreadClock.MatchString(u.rows[i]) { // it counts how long it works
		return 0
	}
	for _, hint := range found {
		hint = strings.ToLower(hint)
		u.enter = u.enter || strings.Contains(hint, "enter") || strings.Contains(hint, "return") || strings.ContainsAny(hint, "⏎↵")
		u.escape = u.escape || strings.Contains(hint, "esc")
	}
	return 1
}

// isAlone reports whether a row that seems to be marked has one beside it that begins in the
// same column, without a mark.
func (u *unreadScreen) isAlone(i int, mark string, col int) bool {
	plain := func(n int) bool {
		if n < 0 || n >= len(u.rows) {
			return false
		}
		text := []rune(u.rows[n])
		at := slices.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		return at == col && !strings.HasPrefix(strings.TrimSpace(u.rows[n]), mark)
	}
	same := func(n int) bool {
		return n >= 0 && n < len(u.rows) && strings.HasPrefix(strings.TrimSpace(u.rows[n]), mark)
	}
	switch {
	case same(i-1) || same(i+1): // it's a list of points
		return false
	case strings.Contains("*•-", mark): // which points have, too
		return plain(i-1) && plain(i+1)
	case mark == ">":
		return plain(i-1) || plain(i+1)
	}
	return plain(i-1) || plain(i+1) || plain(i+2) || plain(i-2)
}

// weakly reports whether a screen without the program's box looks like a dialog.
func (u *unreadScreen) weakly() bool {
	return u.marked || u.numbers || u.checks || u.hints > 0 || u.buttons || u.yesno || u.field || u.secret || u.asks
}

// strongly reports whether the screen of any program does.
func (u *unreadScreen) strongly() bool {
	if u.prompt || u.buried && !u.field {
		return false
	}
	hint := u.hints > 0
	return u.field || u.marked && (hint || u.asks || u.both) || (u.numbers || u.checks) && hint || u.buttons && (hint || u.asks || u.marked) || u.yesno && hint || u.enter && u.escape
}

// findTitle is the question: the last row that asks.
func (u *unreadScreen) findTitle() string {
	for _, row := range slices.Backward(u.rows) {
		if text := strings.TrimSpace(row); strings.HasSuffix(text, "?") && len(strings.Fields(text)) > 1 {
			return printable(text)
		}
	}
	return ""
}

// plainKeys are those that dialogs know, whatever they ask.
var plainKeys = []sessions.DialogOption{ //nolint:gochecknoglobals // a constant table
	{Label: "Esc", Key: "Escape", Refuses: true},
	{Label: "↑", Key: "Up"},
	{Label: "↓", Key: "Down"},
	{Label: "Enter", Key: "Enter"},
	{Label: "←", Key: "Left"},
	{Label: "→", Key: "Right"},
	{Label: "Tab", Key: "Tab"},
	{Label: "Space", Key: "Space"},
}

// findKeys are the keys that may answer it: those that dialogs know, and those that it names.
func (u *unreadScreen) findKeys() []sessions.DialogOption {
	out := slices.Clone(plainKeys)
	for n := range min(u.digits, 9) {
		out = append(out, sessions.DialogOption{Label: strconv.Itoa(n + 1), Key: strconv.Itoa(n + 1)})
	}
	for i, l := range u.letters {
		if i < maxUnreadLetters && !slices.Contains(u.letters[:i], l) {
			out = append(out, sessions.DialogOption{Label: l, Key: l})
		}
	}
	return out
}

// maxUnreadLetters bounds the letters among the keys of an unread dialog.
const maxUnreadLetters = 12

// fingerprint is the fingerprint of the screen, but for what changes by itself.
func (u *unreadScreen) fingerprint(rows []string, screen *sessions.Snapshot) string {
	h := sha256.New()
	for _, row := range rows[u.first : u.last+1] {
		if !strings.Contains(row, "?") { // what's asked has no clock
			row = strings.Join(strings.Fields(unreadSpinner.ReplaceAllString(unreadClock.ReplaceAllString(row, ""), "")), " ")
		}
		h.Write([]byte(row))
		h.Write([]byte{0})
	}
	if screen.CursorVisible {
		h.Write([]byte(strconv.Itoa(screen.CursorY)))
	}
	return "u" + hex.EncodeToString(h.Sum(nil)[:12])
}
