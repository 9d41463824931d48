package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// ErrNoPane means that the pane is gone.
var ErrNoPane = fmt.Errorf("pane is gone: %w", sessions.ErrUnknown)

// frontFormat is the name of the program in a pane's foreground, as the kernel has it at
// the moment in which tmux answers. Characters with a meaning in formats are replaced, so
// that a guard can compare it.
const frontFormat = `#{s/[^A-Za-z0-9 _.-]/?/:pane_current_command}`

// stateFormat asks for a pane's state; the title is last because it may hold
// any character but control characters.
const stateFormat = "#{pane_id},#{pane_pid},#{pane_width},#{pane_height},#{history_size},#{history_limit}," +
	"#{cursor_x},#{cursor_y},#{cursor_flag},#{alternate_on},#{pane_in_mode},#{pane_dead},#{pane_dead_status}," +
	"#{pane_dead_signal},#{window_activity},#{pane_tty}," + frontFormat + ",#{pane_title}"

const stateFields = 18

// glanceFormat has what's cheap: about 13 µs of the server's time a pane. No
// field reads /proc or walks the history.
const glanceFormat = "#{pane_id} #{window_activity} #{history_size},#{cursor_x},#{cursor_y},#{pane_pid},#{pane_width},#{pane_height},#{pane_dead},#{alternate_on}"

// Glances looks at all panes of the server with one command, or only at those
// that are dead or had output in second since or later. tmux has to go through
// all of them in both cases, but writes 16 KB a time and walks all its windows in
// between: of a thousand panes all would come in four pieces, each of which wakes
// this process. Where tmux has told that panes came or went since the last look
// at all, it's one at all.
func (c *Client) Glances(ctx context.Context, since int64) (panes []sessions.Glance, all bool, err error) {
	all = c.panesChanged.Swap(false) || since == 0
	line := "list-panes -a -F '" + glanceFormat + "'"
	if !all {
		line += " -f '#{||:#{pane_dead},#{>=:#{window_activity}," + strconv.FormatInt(since, 10) + "}}'"
	}
	panes, err = c.glances(ctx, line)
	if all && err != nil {
		c.panesChanged.Store(true)
	}
	return panes, all, err
}

func (c *Client) glances(ctx context.Context, line string) ([]sessions.Glance, error) {
	reply, err := c.runCommand(ctx, &commandLine{line: line, blocks: 1})
	if err != nil {
		return nil, fmt.Errorf("list panes: %w", err)
	}
	out := make([]sessions.Glance, 0, len(reply[0].lines))
	for _, line := range reply[0].lines {
		id, rest, _ := strings.Cut(line, " ")
		activity, state, ok := strings.Cut(rest, " ")
		if !ok {
			return nil, fmt.Errorf("list panes: %w: %.80q", errProtocol, line)
		}
		sec, _ := strconv.ParseInt(activity, 10, 64)
		out = append(out, sessions.Glance{Pane: id, Activity: sec, State: state})
	}
	return out, nil
}

// Snapshot takes a pane's state and rows at one instant, by one command line.
//
// Which rows are wrapped is told by a second capture in the same line, with
// -J, whose text differs from the first only by the missing line ends: its
// size alone says whether there are any, and only then it's fetched. Styles are a
// third. On tmux before 3.6 captures go through a buffer, because capture-pane -p leaks its
// whole reply there (4 KB per 50 rows, measured on 3.3a).
func (c *Client) Snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error) {
	if err := checkPane(pane); err != nil {
		return sessions.Snapshot{}, fmt.Errorf("capture pane: %w", err)
	}
	l, err := c.current()
	if err != nil {
		return sessions.Snapshot{}, err
	}
	changes := c.tallChanges(pane)
	// A pane is dead as soon as its terminal is closed; how its program ended
	// is known when tmux hears of it from the kernel, a moment later, unless the
	// program lives on without a terminal.
	for tries := 0; ; tries++ {
		s, err := l.snapshot(ctx, pane, w)
		if err != nil {
			return sessions.Snapshot{}, fmt.Errorf("capture pane %s: %w", pane, err)
		}
		if !w.Tall {
			if err := c.checkNotTall(pane, changes); err != nil {
				return sessions.Snapshot{}, err
			}
		}
		if !s.Dead || s.DeadStatus >= 0 || s.DeadSignal != "" || tries == deadTries {
			return s, nil
		}
		if !sleepFor(ctx, deadPause) {
			return s, nil
		}
	}
}

const (
	deadTries = 25
	deadPause = 20 * time.Millisecond
)

// Screen captures a pane's visible screen with colours.
func (c *Client) Screen(ctx context.Context, pane string) (sessions.Screen, error) {
	if err := checkPane(pane); err != nil {
		return sessions.Screen{}, fmt.Errorf("capture pane: %w", err)
	}
	l, err := c.current()
	if err != nil {
		return sessions.Screen{}, err
	}
	changes := c.tallChanges(pane)
	buf := bufferPrefix + strconv.FormatUint(l.buffers.Add(1), 10)
	r := &commandLine{blocks: 4, line: "display-message -p -t " + pane + " '" + stateFormat + "' ; capture-pane -e" + l.exact + " -t " + pane +
		" -b " + buf + " ; show-buffer -b " + buf + " ; delete-buffer -b " + buf}
	r.rows = func(done []replyBlock) int {
		if len(done) == 2 {
			if s, err := parseState(strings.Join(done[0].lines, "")); err == nil {
				return s.Height + l.enc.extra
			}
		}
		return -1
	}
	reply, err := l.runCommand(ctx, r)
	if len(reply) > 0 && len(reply[0].lines) == 1 && !strings.HasPrefix(reply[0].lines[0], pane+",") {
		return sessions.Screen{}, ErrNoPane
	}
	if err != nil {
		return sessions.Screen{}, fmt.Errorf("capture pane %s: %w", pane, err)
	}
	if err := c.checkNotTall(pane, changes); err != nil {
		return sessions.Screen{}, err
	}
	s, err := parseState(reply[0].lines[0])
	if err != nil {
		return sessions.Screen{}, err
	}
	rows := l.enc.decode(reply[2].lines)
	cutMarks(rows)
	return sessions.Screen{
		Width: s.Width, Height: s.Height, Rows: selfContained(rows),
		CursorX: s.CursorX, CursorY: s.CursorY, CursorVisible: s.CursorVisible,
		Alternate: s.Alternate, Title: s.Title, Dead: s.Dead, TTY: s.TTY,
	}, nil
}

func (l *liveConn) snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error) {
	t := " -t " + pane
	buf := bufferPrefix + strconv.FormatUint(l.buffers.Add(1), 10)
	rng := captureRange(w)
	line := "display-message -p" + t + " '" + stateFormat + "'"
	rowsAt := 1
	if l.leakFree {
		line += " ; capture-pane -p" + l.exact + rng + t
	} else {
		line += " ; capture-pane -" + l.exact + rng + t + " -b " + buf + " ; show-buffer -b " + buf
		rowsAt = 2
	}
	styledAt := -1
	if w.Styled {
		line += " ; capture-pane -e" + l.exact + rng + t + " -b " + buf + " ; show-buffer -b " + buf
		styledAt = rowsAt + 2
	}
	sizeAt := max(rowsAt, styledAt) + 2
	line += " ; capture-pane -J" + rng + t + " -b " + buf +
		" ; list-buffers -f '#{==:#{buffer_name}," + buf + "}' -F '#{buffer_size}'"
	r := &commandLine{line: line, blocks: sizeAt + 1}
	r.rows = func(done []replyBlock) int {
		if len(done) == styledAt {
			return l.expectedLines(done, w, styledAt, true)
		}
		return l.expectedLines(done, w, rowsAt, !l.leakFree)
	}
	reply, err := l.runCommand(ctx, r)
	if len(reply) > 0 && len(reply[0].lines) == 1 && !strings.HasPrefix(reply[0].lines[0], pane+",") {
		return sessions.Snapshot{}, ErrNoPane // a gone pane's fields are empty; the captures behind it failed
	}
	if err != nil {
		return sessions.Snapshot{}, err
	}
	s, err := parseState(reply[0].lines[0])
	if err != nil {
		return s, err
	}
	s.At, s.Server = time.Now(), l.identity
	s.First, _ = windowRows(s, w)
	s.Rows = reply[rowsAt].lines
	if !l.leakFree {
		s.Rows = l.enc.decode(s.Rows)
	}
	if styledAt > 0 {
		s.Styled = l.styledRows(reply[styledAt].lines)
	}
	if err := l.findWrapped(ctx, &s, buf, reply[sizeAt].lines); err != nil {
		return s, err
	}
	s.Marks = cutMarks(s.Rows)
	return s, nil
}

// exactFlags are those with which capture-pane shows rows as they were written: with the
// blanks at their ends, and without cells that nothing was written to. Where capture-pane has -T
// (tmux 3.4 and newer) it pads rows to their full width without it (-J implies it); 3.3a has no
// -T and doesn't pad. usage is what tmux says of the command: "[-aCeJNpPqT] [-b buffer-name] …".
func exactFlags(usage string) string {
	flags, _, _ := strings.Cut(strings.TrimPrefix(usage, "["), "]")
	if strings.HasPrefix(flags, "-") && strings.Contains(flags, "T") {
		return "NT"
	}
	return "N"
}

// styledRows are the rows of a capture with styles.
func (l *liveConn) styledRows(rows []string) []string {
	rows = l.enc.decode(rows)
	cutMarks(rows)
	return selfContained(rows)
}

// captureRange is a window as options of capture-pane.
func captureRange(w sessions.RowWindow) string {
	rng := " -S " + strconv.Itoa(min(0, w.Start))
	if w.Rows > 0 {
		rng += " -E " + strconv.Itoa(w.Start+w.Rows-1)
	}
	return rng
}

// windowRows says which grid rows a window covers: the first, and how many.
func windowRows(s sessions.Snapshot, w sessions.RowWindow) (first, n int) {
	last := s.HistorySize + s.Height - 1
	first = max(0, s.HistorySize+min(0, w.Start))
	if w.Rows > 0 {
		last = max(0, min(last, s.HistorySize+w.Start+w.Rows-1))
	}
	if last < first { // tmux swaps the ends
		first, last = last, first
	}
	return first, last - first + 1
}

// expectedLines is how many lines the next block's body has. shown: the rows there come out
// of a buffer.
func (l *liveConn) expectedLines(done []replyBlock, w sessions.RowWindow, rowsAt int, shown bool) int {
	switch len(done) {
	case 0:
		return 1
	case rowsAt:
		s, err := parseState(strings.Join(done[0].lines, ""))
		if err != nil {
			return -1 // the pane is gone: this block is tmux's error
		}
		_, n := windowRows(s, w)
		if shown {
			n += l.enc.extra
		}
		return n
	}
	return -1 // empty, or a number of ours
}

// findWrapped fills s.Wrapped. Total size of the joined capture = bytes of all rows +
// one line end per row that isn't wrapped.
func (l *liveConn) findWrapped(ctx context.Context, s *sessions.Snapshot, buf string, size []string) error {
	s.Wrapped = make([]bool, len(s.Rows))
	joined, err := strconv.Atoi(strings.Join(size, ""))
	if err != nil {
		return fmt.Errorf("read the size of a capture: %w", err)
	}
	bytes := 0
	for _, r := range s.Rows {
		bytes += len(r)
	}
	lines := joined - bytes
	if lines >= len(s.Rows) || lines < 0 {
		return l.discardBuffer(buf)
	}
	r := &commandLine{line: "show-buffer -b " + buf + " ; delete-buffer -b " + buf, blocks: 2}
	r.rows = func(done []replyBlock) int {
		if len(done) == 0 {
			return lines + l.enc.extra
		}
		return -1
	}
	reply, err := l.runCommand(ctx, r)
	if err != nil {
		return err
	}
	markWrapped(s, l.enc.decode(reply[0].lines))
	return nil
}

// discardBuffer deletes a buffer with the next command: there's one each tick.
func (l *liveConn) discardBuffer(buf string) error {
	return l.addQuietly(&commandLine{line: "delete-buffer -b " + buf, blocks: 1, done: make(chan struct{})})
}

// markWrapped walks rows and joined lines side by side: a row whose joined
// line goes on behind it is wrapped.
func markWrapped(s *sessions.Snapshot, joined []string) {
	i := 0
	for _, line := range joined {
		rest := line
		for i < len(s.Rows) {
			rest = strings.TrimPrefix(rest, s.Rows[i])
			if rest == "" {
				i++
				break
			}
			s.Wrapped[i] = true
			i++
		}
	}
}

// parseState reads a line of stateFormat.
func parseState(line string) (sessions.Snapshot, error) {
	f := strings.SplitN(line, ",", stateFields)
	if len(f) != stateFields || !strings.HasPrefix(f[0], "%") {
		return sessions.Snapshot{}, fmt.Errorf("%w: pane state %.80q", errProtocol, line)
	}
	var bad error
	num := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil && bad == nil {
			bad = fmt.Errorf("%w: pane state %.80q: %w", errProtocol, line, err)
		}
		return n
	}
	s := sessions.Snapshot{
		Pane: f[0], PID: num(f[1]), Width: num(f[2]), Height: num(f[3]),
		HistorySize: num(f[4]), HistoryLimit: num(f[5]), CursorX: num(f[6]), CursorY: num(f[7]),
		CursorVisible: f[8] == "1", Alternate: f[9] == "1", InMode: f[10] != "0" && f[10] != "", Dead: f[11] == "1",
		DeadStatus: -1, DeadSignal: f[13], TTY: f[15], Front: f[16], Title: f[17],
	}
	if f[12] != "" {
		s.DeadStatus = num(f[12])
	}
	if f[14] != "" {
		s.Activity = int64(num(f[14]))
	}
	return s, bad
}

// savedFormat is stateFormat with the cursor that the normal screen will have when it's back.
var savedFormat = strings.NewReplacer("#{cursor_x}", "#{alternate_saved_x}", "#{cursor_y}", "#{alternate_saved_y}").Replace(stateFormat) //nolint:gochecknoglobals // a constant that needs a call

// SavedScreen takes the normal screen of a pane that shows the alternate one, with at most
// above rows of history, at one instant. Which rows are wrapped isn't known. If the
// alternate screen is gone already, Alternate is false and there are no rows.
func (c *Client) SavedScreen(ctx context.Context, pane string, above int) (sessions.Snapshot, error) {
	if err := checkPane(pane); err != nil {
		return sessions.Snapshot{}, fmt.Errorf("capture the normal screen of a pane: %w", err)
	}
	l, err := c.current()
	if err != nil {
		return sessions.Snapshot{}, err
	}
	s, err := l.savedScreen(ctx, pane, above)
	if err != nil {
		return s, fmt.Errorf("capture the normal screen of pane %s: %w", pane, err)
	}
	return s, nil
}

func (l *liveConn) savedScreen(ctx context.Context, pane string, above int) (sessions.Snapshot, error) {
	t := " -t " + pane
	buf := bufferPrefix + strconv.FormatUint(l.buffers.Add(1), 10)
	// The rows above the alternate screen are the normal one's history.
	r := &commandLine{blocks: 6, line: "display-message -p" + t + " '" + savedFormat + "'" +
		" ; capture-pane -" + l.exact + " -S -" + strconv.Itoa(max(1, above)) + t + " -b " + buf + " ; show-buffer -b " + buf +
		" ; capture-pane -aq" + l.exact + t + " -b " + buf + " ; show-buffer -b " + buf + " ; delete-buffer -b " + buf}
	const historyAt, savedAt = 2, 4
	window := sessions.RowWindow{Start: -max(1, above)}
	r.rows = func(done []replyBlock) int {
		if len(done) == 0 {
			return 1
		}
		if len(done) != historyAt && len(done) != savedAt {
			return -1
		}
		s, err := parseSaved(strings.Join(done[0].lines, ""))
		if err != nil || !s.Alternate && len(done) == savedAt {
			return -1
		}
		if _, n := windowRows(s, window); len(done) == historyAt {
			return n + l.enc.extra
		}
		return s.Height + l.enc.extra
	}
	reply, err := l.runCommand(ctx, r)
	if len(reply) > 0 && len(reply[0].lines) == 1 && !strings.HasPrefix(reply[0].lines[0], pane+",") {
		return sessions.Snapshot{}, ErrNoPane
	}
	s := sessions.Snapshot{}
	if len(reply) > 0 {
		var bad error
		if s, bad = parseSaved(strings.Join(reply[0].lines, "")); bad != nil && err == nil {
			err = bad
		}
	}
	if !s.Alternate && s.Pane != "" {
		return s, l.discardBuffer(buf)
	}
	if err != nil {
		return s, err
	}
	s.At, s.Server = time.Now(), l.identity
	history := l.enc.decode(reply[historyAt].lines)
	s.First, _ = windowRows(s, window)
	s.Rows = append(history[:min(len(history), s.HistorySize-s.First)], l.enc.decode(reply[savedAt].lines)...)
	s.Wrapped = make([]bool, len(s.Rows))
	s.Marks = cutMarks(s.Rows)
	return s, nil
}

// parseSaved reads a line of savedFormat. Without an alternate screen there's no
// saved cursor.
func parseSaved(line string) (sessions.Snapshot, error) {
	f := strings.SplitN(line, ",", stateFields)
	if len(f) == stateFields {
		for _, at := range []int{6, 7} {
			if n, err := strconv.Atoi(f[at]); err != nil || n < 0 || n > 1<<16 { // tmux gives 2³²-1
				f[at] = "0"
			}
		}
	}
	return parseState(strings.Join(f, ","))
}

// selfContained makes each row start from default attributes. tmux carries the
// attributes of a row's end over to the next row, so that a row alone would
// have the wrong colours: what is in force at a row's end is put before the
// next one.
func selfContained(rows []string) []string {
	carry := ""
	for i, row := range rows {
		rows[i] = carry + row
		carry = sgrInForce(carry, row)
	}
	return rows
}

// sgrInForce returns the SGR sequences in force behind row, given those before
// it. A reset empties them.
func sgrInForce(carry, row string) string {
	for {
		i := strings.Index(row, "\x1b[")
		if i < 0 {
			return carry
		}
		row = row[i+2:]
		end := strings.IndexFunc(row, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return carry
		}
		if row[end] == 'm' {
			params := row[:end]
			if params == "" || params == "0" {
				carry = ""
			} else {
				if strings.HasPrefix(params, "0;") {
					carry = ""
				}
				carry += "\x1b[" + params + "m"
			}
		}
		row = row[end+1:]
	}
}
