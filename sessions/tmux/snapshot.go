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

// Snapshot takes a pane's state and rows at one instant, by one command line.
//
// Which rows are wrapped is told by a second capture in the same line, with
// -J, whose text differs from the first only by the missing line ends: its
// size alone says whether there are any, and only then it's fetched. Styles are a
// third. On tmux before 3.6 captures go through a buffer, because capture-pane -p leaks its
// whole reply there (4 KB per 50 rows, measured on 3.3a).
func (c *Client) Snapshot(ctx context.Context, pane string, w sessions.Window) (sessions.Snapshot, error) {
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
			if err := c.asItIs(pane, changes); err != nil {
				return sessions.Snapshot{}, err
			}
		}
		if !s.Dead || s.DeadStatus >= 0 || s.DeadSignal != "" || tries == deadTries {
			return s, nil
		}
		if !rest(ctx, deadPause) {
			return s, nil
		}
	}
}

const (
	deadTries = 25
	deadPause = 20 * time.Millisecond
)

func (l *live) snapshot(ctx context.Context, pane string, w sessions.Window) (sessions.Snapshot, error) {
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
	r := &request{line: line, blocks: sizeAt + 1}
	r.rows = func(done []block) int {
		if len(done) == styledAt {
			return l.expected(done, w, styledAt, true)
		}
		return l.expected(done, w, rowsAt, !l.leakFree)
	}
	reply, err := l.do(ctx, r)
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
	s.First, _ = extent(s, w)
	s.Rows = reply[rowsAt].lines
	if !l.leakFree {
		s.Rows = l.enc.decode(s.Rows)
	}
	if styledAt > 0 {
		s.Styled = l.styled(reply[styledAt].lines)
	}
	if err := l.wraps(ctx, &s, buf, reply[sizeAt].lines); err != nil {
		return s, err
	}
	s.Marks = sessions.CutMarks(s.Rows)
	return s, nil
}

// exactFlags are those with which capture-pane shows rows as they were written: with the
// blanks at their ends, and without cells that nothing was written to. tmux 3.4 and newer
// pad rows to their full width unless -T is given (-J implies it); 3.3a has no -T and
// doesn't pad.
func exactFlags(v Version) string {
	if v.AtLeast(3, 4) {
		return "NT"
	}
	return "N"
}

// styled are the rows of a capture with styles.
func (l *live) styled(rows []string) []string {
	rows = l.enc.decode(rows)
	sessions.CutMarks(rows)
	return selfContained(rows)
}

// captureRange is a window as options of capture-pane.
func captureRange(w sessions.Window) string {
	rng := " -S " + strconv.Itoa(min(0, w.Start))
	if w.Rows > 0 {
		rng += " -E " + strconv.Itoa(w.Start+w.Rows-1)
	}
	return rng
}

// extent says which grid rows a window covers: the first, and how many.
func extent(s sessions.Snapshot, w sessions.Window) (first, n int) {
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

// expected is how many lines the next block's body has. shown: the rows there come out
// of a buffer.
func (l *live) expected(done []block, w sessions.Window, rowsAt int, shown bool) int {
	switch len(done) {
	case 0:
		return 1
	case rowsAt:
		s, err := parseState(strings.Join(done[0].lines, ""))
		if err != nil {
			return -1 // the pane is gone: this block is tmux's error
		}
		_, n := extent(s, w)
		if shown {
			n += l.enc.extra
		}
		return n
	}
	return -1 // empty, or a number of ours
}

// wraps fills s.Wrapped. Total size of the joined capture = bytes of all rows +
// one line end per row that isn't wrapped.
func (l *live) wraps(ctx context.Context, s *sessions.Snapshot, buf string, size []string) error {
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
		return l.discard(buf)
	}
	r := &request{line: "show-buffer -b " + buf + " ; delete-buffer -b " + buf, blocks: 2}
	r.rows = func(done []block) int {
		if len(done) == 0 {
			return lines + l.enc.extra
		}
		return -1
	}
	reply, err := l.do(ctx, r)
	if err != nil {
		return err
	}
	markWrapped(s, l.enc.decode(reply[0].lines))
	return nil
}

// discard deletes a buffer with the next command: there's one each tick.
func (l *live) discard(buf string) error {
	return l.addQuietly(&request{line: "delete-buffer -b " + buf, blocks: 1, done: make(chan struct{})})
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
