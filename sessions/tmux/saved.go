package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

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

func (l *live) savedScreen(ctx context.Context, pane string, above int) (sessions.Snapshot, error) {
	t := " -t " + pane
	buf := bufferPrefix + strconv.FormatUint(l.buffers.Add(1), 10)
	// The rows above the alternate screen are the normal one's history.
	r := &request{blocks: 6, line: "display-message -p" + t + " '" + savedFormat + "'" +
		" ; capture-pane -" + l.exact + " -S -" + strconv.Itoa(max(1, above)) + t + " -b " + buf + " ; show-buffer -b " + buf +
		" ; capture-pane -aq" + l.exact + t + " -b " + buf + " ; show-buffer -b " + buf + " ; delete-buffer -b " + buf}
	const historyAt, savedAt = 2, 4
	window := sessions.Window{Start: -max(1, above)}
	r.rows = func(done []block) int {
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
		if _, n := extent(s, window); len(done) == historyAt {
			return n + l.enc.extra
		}
		return s.Height + l.enc.extra
	}
	reply, err := l.do(ctx, r)
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
		return s, l.discard(buf)
	}
	if err != nil {
		return s, err
	}
	s.At, s.Server = time.Now(), l.identity
	history := l.enc.decode(reply[historyAt].lines)
	s.First, _ = extent(s, window)
	s.Rows = append(history[:min(len(history), s.HistorySize-s.First)], l.enc.decode(reply[savedAt].lines)...)
	s.Wrapped = make([]bool, len(s.Rows))
	s.Marks = sessions.CutMarks(s.Rows)
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
