package tmux

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// A pane is made taller for a moment so that its program draws all of what's cut off on its
// screen. How its window was before stands in the window's option, and tmux itself makes it
// so again after some time, whatever becomes of this process.
const tallOption = "@panebridge_tall"

// errTall says that a pane isn't shown as it is, because it's taller for a moment.
var errTall = fmt.Errorf("%w: its pane is taller for a moment, so that a question can be read whole", sessions.ErrUnavailable)

// tallMark is how a window was before it was made taller: its size, and its own value of the
// option window-size, "" for none. It's what tallOption says, with a number that tells it
// from others.
type tallMark struct {
	mark          string
	width, height int
	own           string
}

var tallMarks = regexp.MustCompile(`^[0-9a-f]{16} ([0-9]{1,5}) ([0-9]{1,5}) (none|largest|smallest|latest|manual)$`)

// parseTall reads a tallOption. Anybody who may use the server may have written it.
func parseTall(mark string) (tallMark, bool) {
	f := tallMarks.FindStringSubmatch(mark)
	if f == nil {
		return tallMark{}, false
	}
	t := tallMark{mark: mark, own: strings.TrimSuffix(f[3], "none")}
	t.width, _ = strconv.Atoi(f[1])
	t.height, _ = strconv.Atoi(f[2])
	return t, t.width > 0 && t.height > 0 && t.width <= maxWindow && t.height <= maxWindow
}

// maxWindow is how many cells a window is wide or high at most, by tmux.
const maxWindow = 10000

// undoCommand is a command that makes a window as it was, if the option still says that it was made
// taller then. hash is "#", or what becomes of it where the command is expanded once more.
func (t *tallMark) undoCommand(window, hash string) string {
	size := "set-option -wu -t " + window + " window-size"
	if t.own != "" {
		size = "set-option -w -t " + window + " window-size " + t.own
	}
	return fmt.Sprintf("if-shell -F -t %[1]s '%[7]s{==:%[7]s{%[2]s},%[3]s}' 'resize-window -t %[1]s -x %[4]d -y %[5]d ; %[6]s ; set-option -wu -t %[1]s %[2]s'",
		window, tallOption, t.mark, t.width, t.height, size, hash)
}

// Grow makes a pane so many rows high, if nobody is attached to its session, it's alone in
// its window, and the window in one session only; ErrConflict says that it isn't so. Until
// Settle only looks with RowWindow.Tall see it. tmux undoes it after most. before is the screen as
// tmux has made it of the old one, before its program can have drawn anything.
func (c *Client) Grow(ctx context.Context, pane string, server sessions.ServerIdentity, rows int, most time.Duration) (before sessions.Snapshot, err error) {
	if err := checkPane(pane); err != nil {
		return before, fmt.Errorf("make pane taller: %w", err)
	}
	l, err := c.current()
	if err != nil {
		return before, err
	}
	if l.identity != server {
		return before, fmt.Errorf("make pane %s taller: %w", pane, ErrNoPane)
	}
	c.markTall(pane, true)
	defer func() {
		if err != nil {
			c.markTall(pane, false)
		}
	}()
	if before, err = l.growPane(ctx, pane, rows, most); err != nil {
		return before, fmt.Errorf("make pane %s taller: %w", pane, err)
	}
	return before, nil
}

// aloneFormat is true in tmux where a pane's window is seen by nobody, and has it alone.
const aloneFormat = "#{&&:#{&&:#{==:#{session_attached},0},#{==:#{window_linked_sessions},1}}," +
	"#{&&:#{==:#{window_panes},1},#{==:#{pane_in_mode}#{pane_dead}#{window_zoomed_flag}" + "#{" + tallOption + "},000}}}"

func (l *liveConn) growPane(ctx context.Context, pane string, rows int, most time.Duration) (before sessions.Snapshot, err error) {
	reply, err := l.runCommand(ctx, &commandLine{blocks: 2, line: "display-message -p -t " + pane + " '#{pane_id} #{window_id} #{window_width} #{window_height}' ; show-options -wqv -t " + pane + " window-size"})
	if err != nil {
		return before, noPane(err)
	}
	t := tallMark{own: strings.Join(reply[1].lines, " ")}
	own := t.own
	if own == "" {
		own = "none"
	}
	var id, window string
	if _, err := fmt.Sscan(strings.Join(reply[0].lines, ""), &id, &window, &t.width, &t.height); err != nil || id != pane || !windowIDs.MatchString(window) {
		return before, ErrNoPane
	}
	t, ok := parseTall(fmt.Sprintf("%016x %d %d %s", rand.Uint64(), t.width, t.height, own))
	if !ok || t.height >= rows || rows > maxWindow {
		return before, fmt.Errorf("%w: a window of %d by %d can't be made %d rows high", sessions.ErrConflict, t.width, t.height, rows)
	}
	const token = "panebridge-tall"
	buf := bufferPrefix + strconv.FormatUint(l.buffers.Add(1), 10)
	same := fmt.Sprintf("#{==:#{window_id} #{window_width} #{window_height},%s %d %d}", window, t.width, t.height)
	line := "if-shell -F -t " + pane + " " + quote("#{&&:"+aloneFormat+","+same+"}") + " { set-option -w -t " + window + " " + tallOption + " '" + t.mark + "'" +
		" ; run-shell -b -d " + strconv.FormatFloat(most.Seconds(), 'f', 1, 64) + " -C " + quote(t.undoCommand(window, "##")) +
		" ; resize-window -t " + window + " -y " + strconv.Itoa(rows) +
		" ; capture-pane -" + l.exact + " -t " + pane + " -b " + buf +
		" ; display-message -p -t " + pane + " '" + token + " " + stateFormat + "' } { display-message -p '" + token + " held' }"
	if reply, err = l.runCommand(ctx, &commandLine{line: line, token: token}); err != nil {
		return before, noPane(err)
	}
	state := strings.TrimPrefix(reply[len(reply)-1].lines[0], token+" ")
	if state == "held" {
		return before, fmt.Errorf("%w: somebody is at the terminal, or the pane shares its window; look at it there", sessions.ErrConflict)
	}
	if before, err = l.readGrown(ctx, state, buf); err != nil {
		return before, errors.Join(err, l.shrinkPane(context.WithoutCancel(ctx), pane))
	}
	return before, nil
}

// readGrown reads what grow has captured.
func (l *liveConn) readGrown(ctx context.Context, state, buf string) (sessions.Snapshot, error) {
	s, err := parseState(state)
	if err != nil {
		return s, err
	}
	r := &commandLine{blocks: 2, line: "show-buffer -b " + buf + " ; delete-buffer -b " + buf}
	r.rows = func(done []replyBlock) int {
		if len(done) == 0 {
			return s.Height + l.enc.extra
		}
		return -1
	}
	reply, err := l.runCommand(ctx, r)
	if err != nil {
		return s, err
	}
	s.At, s.Server, s.First = time.Now(), l.identity, s.HistorySize
	s.Rows = l.enc.decode(reply[0].lines)
	s.Wrapped = make([]bool, len(s.Rows))
	s.Marks = cutMarks(s.Rows)
	return s, nil
}

// noPane is ErrNoPane for tmux's own word for it.
func noPane(err error) error {
	if refused, ok := errors.AsType[*CommandError](err); ok && strings.Contains(refused.Message, "can't find") {
		return ErrNoPane
	}
	return err
}

// Shrink makes a pane as high as it was before Grow.
func (c *Client) Shrink(ctx context.Context, pane string) error {
	if checkPane(pane) != nil {
		return nil //nolint:nilerr // there's no such pane
	}
	l, err := c.current()
	if err != nil {
		return err
	}
	if err := l.shrinkPane(ctx, pane); err != nil {
		return fmt.Errorf("make pane %s as high as it was: %w", pane, err)
	}
	return nil
}

// shrinkPane undoes what the option of a pane's window says.
func (l *liveConn) shrinkPane(ctx context.Context, target string) error {
	reply, err := l.runCommand(ctx, &commandLine{blocks: 1, line: "display-message -p -t " + target + " '#{window_id} #{" + tallOption + "}'"})
	if err != nil {
		return noPane(err)
	}
	window, mark, _ := strings.Cut(strings.Join(reply[0].lines, " "), " ")
	t, ok := parseTall(mark)
	if !ok || !windowIDs.MatchString(window) {
		return nil // it's gone, or tmux itself has made it so
	}
	const token = "panebridge-tall"
	_, err = l.runCommand(ctx, &commandLine{line: t.undoCommand(window, "#") + " ; display-message -p '" + token + " done'", token: token})
	return noPane(err)
}

// Settle ends what Grow began: looks without RowWindow.Tall see the pane again.
func (c *Client) Settle(pane string) { c.markTall(pane, false) }

// shrinkAllPanes makes all windows as high as they were that a client which was killed has left
// taller.
func (l *liveConn) shrinkAllPanes(ctx context.Context) {
	reply, err := l.runCommand(ctx, &commandLine{blocks: 1, line: "list-windows -a -f '#{!=:#{" + tallOption + "},}' -F '#{window_id}'"})
	if err != nil {
		return
	}
	for _, window := range reply[0].lines {
		if windowIDs.MatchString(window) {
			_ = l.shrinkPane(ctx, window) // tmux does it later
		}
	}
}

var windowIDs = regexp.MustCompile(`^@[0-9]{1,10}$`)

// markTall notes that a pane is taller for a moment, or that it's as it was.
func (c *Client) markTall(pane string, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tall == nil {
		c.tall = map[string]int{}
	}
	if c.tall[pane]%2 == 1 != is {
		c.tall[pane]++
	}
}

// tallChanges is how often a pane was made taller, and as it was: odd while it's taller.
func (c *Client) tallChanges(pane string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tall[pane]
}

// checkNotTall returns errTall if a pane is taller than it is, or has been since so many changes.
func (c *Client) checkNotTall(pane string, changes int) error {
	if changes%2 == 1 || c.tallChanges(pane) != changes {
		return fmt.Errorf("look at pane %s: %w", pane, errTall)
	}
	return nil
}
