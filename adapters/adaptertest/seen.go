package adaptertest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// What panebridge itself says in a chat, as adapters.PlainText writes it. The suite
// finds these in the platform's texts.
const (
	doubleMark = "[sent once more: this may be here already]"
	cutReason  = "dropped from the log before it could be sent"
	livePrefix = "live: " // of all rows of live regions here
	neverCame  = "[what was being written here never came]"
	goesOn     = "[what was being written here goes on below]"
)

// ending finds the lines with which the ends of messages begin that ring.
var ending = regexp.MustCompile(`^(?:(?:done|failed|\d+ turns done)(?: · .*)?|failed: .*|\d+ turns, (?:\d+|the last) of which failed.*)$`)

// isEnding says whether a line is of the end of a message that rings.
func isEnding(l string) bool {
	return ending.MatchString(l) || begunTurns.MatchString(l) || unlisted.MatchString(l)
}

// notice finds gap notices: how many are missing, and why.
func notice(line string) (atLeast int64, reason string, ok bool) {
	if !strings.HasPrefix(line, "[") {
		return 0, "", false
	}
	m := regexp.MustCompile(`^\[(?:output may be|at least (\d+) lines? (?:is|are)) missing: (.*)\]$`).FindStringSubmatch(line)
	if m == nil {
		return 0, "", false
	}
	atLeast, _ = strconv.ParseInt(m[1], 10, 64) // none: 0
	return atLeast, m[2], true
}

// Want is what a chat must show of a session.
type Want struct {
	Session sessions.ID
	After   int64 // the binding began behind this line
	To      int64 // everything up to this line must be there
	Oldest  int64 // lines before this one may have been dropped from the log
	// Doubts are what calls that weren't answered may have shown: only messages that
	// show some of it may be marked as possibly double.
	Doubts []Doubt
}

// Doubt is a stretch of the log, or an announcement alone if it's empty.
type Doubt struct {
	From, To adapters.Position
	// Live says that it was a new message with nothing but a live region: nobody knows of
	// it, so that nobody takes that away.
	Live bool
}

// Compare says what's wrong with what a person sees, read from the first message to
// the last: each line of the log once and in order, but for blank ones at the edges
// of messages; a notice where the log has a gap, or was trimmed; nothing twice that
// isn't marked; the last turn's end and the session's rang, and nothing was added to what
// rang.
func (h *House) Compare(seen []Message, w Want) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &reading{resident: h.find(w.Session), want: w, at: adapters.Position{Line: w.After + 1}}
	for i, m := range seen {
		r.message(m, i == len(seen)-1)
	}
	r.finish()
	return r.wrong
}

// reading goes through a chat.
type reading struct {
	*resident
	want   Want
	at     adapters.Position   // everything before was seen
	starts []adapters.Position // where messages began
	behind adapters.Position   // where the last one ended
	rang   int64               // the line up to which a ring told
	rings  int                 // of messages that aren't marked
	wrong  []string
}

func (r *reading) fail(m Message, format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf("message %s: ", m.ID)+fmt.Sprintf(format, args...)+"\n"+short(m.Text))
}

// short keeps a report readable.
func short(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:80]) + " … " + string(r[len(r)-30:])
	}
	return s
}

// item is a line of a chat: of the session, or a notice.
type item struct {
	text    string
	notice  bool
	atLeast int64
	reason  string
}

// attached are the lines of an attached file. What stands beside it are its last ones.
func (r *reading) attached(m Message, beside []string) []string {
	last := strings.Join(slices.DeleteFunc(slices.Clone(beside), func(l string) bool {
		return strings.HasSuffix(l, " in the attached file]") || isEnding(l)
	}), "\n")
	if file := strings.TrimSpace(string(m.Data)); !strings.HasSuffix(file, strings.TrimSpace(last)) {
		r.fail(m, "what stands beside the file isn't its end: %q", short(file))
	}
	return strings.Split(strings.TrimSuffix(string(m.Data), "\n"), "\n")
}

// items are what a message shows but for live rows and marks.
func (r *reading) items(m Message, newest bool) (items []item, double bool) {
	lines := strings.Split(m.Text, "\n")
	if double = lines[0] == doubleMark; double {
		lines = lines[1:]
	}
	if m.Data != nil {
		lines = r.attached(m, lines)
	}
	region := false // a live region has begun, behind which no lines stand
	for _, l := range lines {
		n, reason, isNotice := notice(l)
		switch {
		case region && l == "": // between what's being written and the status
		case strings.HasPrefix(l, livePrefix):
			region = true
			if kept := r.at.Line >= r.want.Oldest; (kept && !newest || m.Rang) && !r.unknown(lines) { // without its lines, it can't be written anew
				r.fail(m, "it still shows a live region: %q", l)
			}
		case isEnding(l):
			if !m.Rang {
				r.fail(m, "it says that a turn has ended, and didn't ring")
			}
		case strings.HasSuffix(l, " in the attached file]"), l == neverCame, l == goesOn:
		case isNotice:
			items = append(items, item{notice: true, atLeast: n, reason: reason})
		default:
			items = append(items, item{text: l})
		}
	}
	return items, double
}

// unknown says whether lines may be all of a message that nobody knows of.
func (r *reading) unknown(lines []string) bool {
	return slices.ContainsFunc(r.want.Doubts, func(d Doubt) bool { return d.Live }) &&
		!slices.ContainsFunc(lines, func(l string) bool { return l != "" && !strings.HasPrefix(l, livePrefix) })
}

func (r *reading) message(m Message, newest bool) {
	items, double := r.items(m, newest)
	at, why := r.match(r.at, items)
	if double {
		from, starts := r.at, append(slices.Clone(r.starts), r.behind)
		for _, d := range r.want.Doubts {
			starts = append(starts, d.From)
		}
		for i := len(starts) - 1; i >= 0 && why != ""; i-- {
			from = starts[i]
			at, why = r.match(from, items)
		}
		possible := r.doubtful(from, at) || len(items) == 0 && r.endDoubtful()
		if why == "" && !possible {
			r.fail(m, "it's marked as possibly double, and nothing of it can have been sent before")
		}
	}
	if why != "" {
		r.fail(m, "%s", why)
		return
	}
	r.starts, r.behind = append(r.starts, r.at), at
	if r.at.Before(at) {
		r.at = at
	}
	if m.Rang {
		if !double {
			r.rings++
		}
		r.rang = max(r.rang, r.at.Line-1)
		if m.Edits > 0 {
			r.fail(m, "it rang, and was edited %d times", m.Edits)
		}
	}
}

// doubtful says whether a stretch of the log may have been shown by a call that
// wasn't answered.
func (r *reading) doubtful(from, to adapters.Position) bool {
	for to.Byte == 0 && r.blank(to.Line) {
		to.Line++ // blank lines behind it aren't seen
	}
	return slices.ContainsFunc(r.want.Doubts, func(d Doubt) bool {
		return !d.To.Before(from) && !to.Before(d.From)
	})
}

// endDoubtful says whether the end of a turn may have been announced by a call that
// wasn't answered, with lines that have been sent again since.
func (r *reading) endDoubtful() bool {
	return slices.ContainsFunc(r.want.Doubts, func(d Doubt) bool {
		for d.To.Byte == 0 && r.blank(d.To.Line) {
			d.To.Line++ // a call that announces an end doesn't show the blank lines before it
		}
		return slices.ContainsFunc(r.ends, func(end int64) bool { return d.From.Line <= end+1 && end < d.To.Line })
	})
}

// match reads items from a place on, and returns the place behind them, or why
// they don't stand there.
func (r *reading) match(at adapters.Position, items []item) (adapters.Position, string) {
	begun, lines := false, 0
	var gap *item
	for i, it := range items {
		if it.notice && it.reason == cutReason {
			next, why := r.skipCut(at, it, items[i+1:])
			if why != "" {
				return at, why
			}
			at = next
			continue
		}
		if it.notice {
			gap = &it
			continue
		}
		if !begun && gap == nil && strings.TrimSpace(it.text) == "" {
			continue
		}
		for !begun && at.Byte == 0 && r.blank(at.Line) {
			at.Line++
		}
		if why := r.checkGap(at, gap); why != "" {
			return at, why
		}
		gap = nil
		left := r.text(at.Line)
		left = left[min(at.Byte, len(left)):]
		if cut := strings.TrimLeft(left, " "); !begun && (at.Byte > 0 || len(cut) < len(left)-100) && !strings.HasPrefix(left, it.text) {
			// A message doesn't begin with a lot of nothing, and platforms cut the blanks
			// with which the one before ended.
			at.Byte, left = at.Byte+len(left)-len(cut), cut
		}
		begun = true
		lines++
		switch {
		case at.Line > int64(len(r.printed)):
			return at, fmt.Sprintf("%q stands behind the end of the log", short(it.text))
		case left == it.text:
			at = adapters.Position{Line: at.Line + 1}
		case it.text != "" && strings.HasPrefix(left, it.text) && i == len(items)-1:
			if lines > 1 {
				return at, fmt.Sprintf("line %d was cut behind another, which it needn't be", at.Line)
			}
			at.Byte += len(it.text)
		default:
			return at, fmt.Sprintf("%q stands where line %d should, from byte %d: %q", short(it.text), at.Line, at.Byte, short(left))
		}
	}
	if gap != nil {
		return at, "a gap notice stands behind the last line"
	}
	return at, ""
}

// skipCut goes over lines that the log has dropped.
func (r *reading) skipCut(at adapters.Position, cut item, behind []item) (adapters.Position, string) {
	if !slices.ContainsFunc(behind, func(it item) bool { return !it.notice }) {
		n := at.Line + cut.atLeast // an announcement of a turn that was dropped
		if n > r.want.Oldest {
			return at, fmt.Sprintf("a notice says that lines %d to %d were dropped, and the oldest kept is %d", at.Line, n-1, r.want.Oldest)
		}
		if at.Line < n {
			at = adapters.Position{Line: n}
		}
		return at, ""
	}
	from := at.Line
	if cut.atLeast > 0 {
		from++
	}
	n := r.find(from, behind)
	if n-at.Line < cut.atLeast { // lines may begin alike
		n = r.find(at.Line+cut.atLeast, behind)
	}
	// Blank lines at either end may have been dropped or not.
	least, first := n, at.Line
	for least > from && r.blank(least-1) {
		least--
	}
	for first < least && r.blank(first) {
		first++
	}
	switch {
	case least > r.want.Oldest:
		return at, fmt.Sprintf("a notice says that lines %d to %d were dropped, and the oldest kept is %d", at.Line, least-1, r.want.Oldest)
	case cut.atLeast > n-at.Line, cut.atLeast < least-first && len(r.want.Doubts) == 0:
		return at, fmt.Sprintf("a notice says that at least %d lines were dropped where it's %d to %d", cut.atLeast, least-first, n-at.Line)
	default:
		return adapters.Position{Line: n}, ""
	}
}

// find returns the line from `from` on with which items begin; if they're all blank,
// the oldest kept.
func (r *reading) find(from int64, items []item) int64 {
	blank := int64(0)
	for _, it := range items {
		text := strings.TrimLeft(it.text, " ")
		if it.notice {
			continue
		}
		if text == "" {
			blank++
			continue
		}
		for n := from; n <= int64(len(r.printed)); n++ {
			if strings.HasPrefix(strings.TrimLeft(r.text(n), " "), text) {
				return n - blank
			}
		}
	}
	return r.want.Oldest
}

// checkGap wants a notice where the log has a gap, and only there.
func (r *reading) checkGap(at adapters.Position, shown *item) string {
	var want int64
	there := false
	for _, g := range r.gaps {
		if g.After == at.Line-1 && at.Byte == 0 {
			want, there = want+g.AtLeast, true
		}
	}
	switch {
	case there && shown == nil:
		return fmt.Sprintf("no notice of the gap before line %d", at.Line)
	case !there && shown != nil:
		return fmt.Sprintf("a notice of a gap before line %d, where there's none", at.Line)
	case there && shown.atLeast != want:
		return fmt.Sprintf("a notice of %d lines missing before line %d, where it's %d", shown.atLeast, at.Line, want)
	default:
		return ""
	}
}

func (r *reading) text(n int64) string {
	if n < 1 || n > int64(len(r.printed)) {
		return ""
	}
	return r.printed[n-1]
}

// blank says whether a line shows nothing.
func (r *reading) blank(n int64) bool {
	return n <= int64(len(r.printed)) && strings.TrimSpace(r.text(n)) == "" &&
		!slices.ContainsFunc(r.gaps, func(g sessions.Gap) bool { return g.After == n-1 })
}

func (r *reading) finish() {
	ends := 1 // that of the session
	for _, d := range r.want.Doubts {
		if !d.From.Before(d.To) {
			ends++ // an announcement alone has nothing to mark: with late lines, it rings again
		}
	}
	for _, e := range r.ends {
		if e > r.want.After {
			ends++
		}
	}
	if r.rings > ends {
		r.wrong = append(r.wrong, fmt.Sprintf("%d turns have ended, and it rang %d times", ends-1, r.rings))
	}
	for n := r.at.Line; n <= r.want.To; n++ {
		if !r.blank(n) || r.at.Byte > 0 {
			r.wrong = append(r.wrong, fmt.Sprintf("nothing is shown from line %d, byte %d on; it should be up to line %d", n, r.at.Byte, r.want.To))
			return
		}
	}
	if n := len(r.ends); n > 0 && r.ends[n-1] > r.want.After && r.ends[n-1] <= r.want.To && r.rang < r.ends[n-1] && r.rang < r.at.Line-1 {
		r.wrong = append(r.wrong, fmt.Sprintf("nothing rang for the turn that ended at line %d", r.ends[n-1]))
	}
	if n := int64(len(r.printed)); r.State == sessions.StateEnded && n == r.want.To && r.rang < n {
		r.wrong = append(r.wrong, "the session has ended, and its last line didn't ring")
	}
}
