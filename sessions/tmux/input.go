package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/sessions"
)

// guardedLine is a command line that tmux runs only if the pane is as it was seen.
// All of it is one line, so nothing the program prints can come in between.
type guardedLine struct {
	*liveConn
	guard sessions.PaneGuard
}

// Paste puts text into a pane as one bracketed paste, if the guard holds. It's
// set-buffer and not load-buffer, which would wait for a file and break the
// line's atomicity; -r keeps line ends as they are, -p brackets the paste where
// the program asked for it and edits its line itself. paste-buffer into a dead pane
// ends the whole server on tmux 3.3a, hence the test for it.
func (c *Client) Paste(ctx context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	if strings.Contains(text, "\x00") {
		return "", fmt.Errorf("paste into pane %s: %w text: it has a NUL byte, which tmux can't take", g.Pane, sessions.ErrInvalid)
	}
	l, err := c.current()
	if err != nil {
		return "", err
	}
	buf := bufferPrefix + strconv.FormatUint(l.buffers.Add(1), 10)
	before := "set-buffer -b " + buf + " -- " + quote(text) + " ; "
	brackets := "-p "
	if g.Lines {
		brackets = ""
	}
	out, err := guardedLine{l, g}.runGuarded(ctx, before, "paste-buffer -d "+brackets+"-r -b "+buf+" -t "+g.Pane)
	if err != nil || out != sessions.Done {
		_ = l.discardBuffer(buf)
	}
	if err != nil {
		return "", fmt.Errorf("paste into pane %s: %w", g.Pane, err)
	}
	return out, nil
}

// Press sends keys by tmux's names for them, if the guard holds.
func (c *Client) Press(ctx context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	l, err := c.current()
	if err != nil {
		return "", err
	}
	cmd := "send-keys -t " + g.Pane + " --" + quoteAll(keys)
	out, err := guardedLine{l, g}.runGuarded(ctx, "", cmd)
	if err != nil {
		return "", fmt.Errorf("send keys to pane %s: %w", g.Pane, err)
	}
	return out, nil
}

// sharedOutcome is what a guarded line says of a pane whose keys tmux would copy to the other panes
// of its window; nothing was done. Those who use a guard don't hear it.
const sharedOutcome sessions.GuardOutcome = "shared"

// runGuarded sends `before ; if dead … else if held … else if moved … else command`
// and reads which branch was taken from the token that each prints. Copy mode
// and other modes are left first, because they swallow keys. Only copy mode knows
// `send-keys -X cancel`.
func (g guardedLine) runGuarded(ctx context.Context, before, command string) (sessions.GuardOutcome, error) {
	out, err := g.tryOnce(ctx, before, command, false)
	if err != nil || out != sharedOutcome {
		return out, err
	}
	// `synchronize-panes` of the pane itself, if it has one, and not what it has from its
	// window: a format can't tell them apart, and one that's unset by us would be lost.
	option := " synchronize-panes"
	was, err := g.runCommand(ctx, &commandLine{line: "show-options -pqv -t " + g.guard.Pane + option})
	if err != nil {
		return "", err
	}
	set := "set-option -p -t " + g.guard.Pane + option
	back := "set-option -pu -t " + g.guard.Pane + option
	if lines := was[0].lines; len(lines) > 0 {
		back = set + " " + quote(lines[0])
	}
	return g.tryOnce(ctx, before, set+" off ; "+command+" ; "+back, true)
}

// tryOnce is one try of runGuarded. Where tmux copies what's typed to other panes it does nothing and
// says shared, unless alone says that the command sees to that.
func (g guardedLine) tryOnce(ctx context.Context, before, command string, alone bool) (sessions.GuardOutcome, error) {
	if g.guard.Server != (sessions.ServerIdentity{}) && g.guard.Server != g.identity {
		return "", ErrNoPane // the pane of that id is another one's by now
	}
	if err := checkPane(g.guard.Pane); err != nil {
		return "", err
	}
	const token = "panebridge-outcome"
	say := func(o sessions.GuardOutcome) string { return "display-message -p '" + token + " " + string(o) + "'" }
	t := " -t " + g.guard.Pane + " "
	line := before + "if-shell -F" + t + "'#{pane_dead}' { " + say(sessions.Dead) + " } { "
	closing := " }"
	if front := g.guard.Front; front != "" {
		line += "if-shell -F" + t + quote("#{!=:"+frontFormat+","+front+"}") + " { " + say(sessions.Moved) + " } { "
		closing += " }"
	}
	if len(g.guard.Phrases) > 0 {
		// What tmux can't look for (a format may become too long for it) counts as seen.
		line += "if-shell -F" + t + quote("#{==:#{C/ri:"+literalPattern(strings.Join(g.guard.Phrases, "|"))+"},0}") + " { "
		closing = " } { " + say(sessions.Held) + " }" + closing
	}
	if saw := g.guard.Saw; saw != nil {
		seen := sameScreen(saw)
		if g.guard.Still { // all that comes out of a pane moves this on
			seen = "#{&&:" + seen + ",#{==:#{window_activity}," + strconv.FormatInt(saw.Activity, 10) + "}}"
		}
		line += "if-shell -F" + t + quote(seen) + " { "
		closing = " } { " + say(sessions.Moved) + " }" + closing
	}
	var same strings.Builder
	for _, row := range g.guard.Rows {
		same.WriteString("if-shell -F" + t + quote(stillThere(g.guard.Saw.Rows, row)) + " { ")
	}
	line += same.String()
	closing = strings.Repeat(" } { "+say(sessions.Moved)+" }", len(g.guard.Rows)) + closing
	if !alone {
		line += "if-shell -F" + t + "'#{pane_synchronized}' { " + say(sharedOutcome) + " } { "
		closing = " }" + closing
	}
	line += "if-shell -F" + t + "'#{pane_in_mode}' { copy-mode -q" + t + "} ; " + command + " ; " + say(sessions.Done) + closing
	reply, err := g.runCommand(ctx, &commandLine{line: line, token: token})
	if err != nil {
		var refused *CommandError
		if errors.As(err, &refused) && strings.Contains(refused.Message, "can't find pane") {
			return "", ErrNoPane
		}
		return "", err
	}
	last := reply[len(reply)-1].lines[0]
	return sessions.GuardOutcome(strings.TrimPrefix(last, token+" ")), nil
}

// sameScreen is true in tmux while cursor, history and title are as seen. Of
// the title only ASCII letters, digits and blanks count: other characters have
// a meaning in formats, and are what agents animate.
func sameScreen(s *sessions.Snapshot) string {
	place := fmt.Sprintf("%d %d %d", s.CursorX, s.CursorY, s.HistorySize)
	return "#{&&:#{==:#{cursor_x} #{cursor_y} #{history_size}," + place + "}," +
		"#{==:#{s/[^A-Za-z0-9 ]/?/:pane_title}," + plainTitle(s.Title) + "}}"
}

func plainTitle(title string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == ' ' {
			return r
		}
		return '?'
	}, title)
}

// stillThere is true in tmux while a row of the screen has the text it was seen with, to
// the letter. tmux's search #{C/r:…} gives the number of the first row that matches, from
// 1, or 0; so no row above it may have the same text. Like the search, it doesn't see
// blanks at a row's end.
func stillThere(rows []string, row int) string {
	text := strings.TrimRight(rows[row], " \t")
	return "#{==:#{C/r:^" + literalRow(text) + "$}," + strconv.Itoa(row+1) + "}"
}

// Terminal asks the kernel about a pane's terminal. The device is opened
// only for the question, so that its hang-up isn't delayed.
func (*Client) Terminal(tty string) (sessions.Terminal, error) {
	f, err := os.OpenFile(tty, os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return sessions.Terminal{}, fmt.Errorf("look at terminal: %w", err)
	}
	defer f.Close()
	fd := int(f.Fd())
	t, err := host.ReadTermios(fd)
	if err != nil {
		return sessions.Terminal{}, fmt.Errorf("look at terminal %s: %w", tty, err)
	}
	n, err := host.CountUnread(fd)
	if err != nil {
		return sessions.Terminal{}, fmt.Errorf("look at terminal %s: %w", tty, err)
	}
	return sessions.Terminal{MaxLine: host.MaxLineBytes, Canonical: t.Lflag&unix.ICANON != 0, Echo: t.Lflag&unix.ECHO != 0, Unread: n}, nil
}
