package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// paneFormat's texts are anybody's, so what would end a field or a line is written as in
// a URL, and other control characters as "%?". Newer versions of tmux write what isn't
// UTF-8 as \377, so backslashes are written as in a URL too; see safeText.
const paneFormat = `#{pane_id}|#{pane_pid}|#{pane_dead}|` + safeField + `@panebridge_id}|` + safeField + `session_name}|` +
	safeField + `pane_current_command}|` + safeField + `pane_current_path}`

const safeField = `#{s/%/%25/;s/[\\]/%5C/;s/[|]/%7C/;s/\012/%0A/;s/[\001-\011\013-\037\177]/%?/:`

// Panes lists all panes with what's needed to recognise them, those of the
// hidden session apart. It looks at the process of each, so it's for when panes came or
// went, not for every tick.
func (c *Client) Panes(ctx context.Context) ([]sessions.PaneInfo, error) {
	reply, err := c.runCommand(ctx, &commandLine{line: "list-panes -a -F " + formatArg(paneFormat), blocks: 1})
	if err != nil {
		return nil, fmt.Errorf("list panes: %w", err)
	}
	out := make([]sessions.PaneInfo, 0, len(reply[0].lines))
	for _, line := range reply[0].lines {
		p, err := parsePane(line)
		if err != nil {
			return nil, fmt.Errorf("list panes: %w", err)
		}
		if p.Session != HiddenSession {
			out = append(out, p)
		}
	}
	return out, nil
}

// parsePane reads a line of paneFormat. A folder whose name isn't known to the letter is
// none: there may be another that's called so.
func parsePane(line string) (sessions.PaneInfo, error) {
	f := strings.Split(line, "|")
	if len(f) != 7 {
		return sessions.PaneInfo{}, fmt.Errorf("%w: %.80q", errProtocol, line)
	}
	pid, _ := strconv.Atoi(f[1])
	p := sessions.PaneInfo{ID: f[0], PID: pid, Dead: f[2] == "1", Mark: sessions.ID(f[3])}
	if !p.Mark.Valid() {
		p.Mark = ""
	}
	p.Session, _ = safeText(f[4])
	p.Command, _ = safeText(f[5])
	if folder, whole := safeText(f[6]); whole {
		p.Cwd = folder
	}
	return p, nil
}

// safeText is what a field of paneFormat stands for, with ? for characters that are lost;
// whole: there are none.
func safeText(field string) (text string, whole bool) {
	whole = !strings.Contains(field, "%?")
	return strings.NewReplacer("%25", "%", "%5C", "\\", "%7C", "|", "%0A", "\n", "%?", "?").Replace(decodeVis(field)), whole
}

// formatArg quotes a format of ours for tmux's double quotes, in which octal
// escapes are wanted.
func formatArg(f string) string { return `"` + f + `"` }

// Mark sets the pane's option @panebridge_id, or unsets it where id is "".
func (c *Client) Mark(ctx context.Context, pane string, id sessions.ID) error {
	if err := checkPane(pane); err != nil {
		return fmt.Errorf("mark pane: %w", err)
	}
	line := "set-option -p -t " + pane + " -- @panebridge_id " + quote(string(id))
	if id == "" {
		line = "set-option -pu -t " + pane + " @panebridge_id"
	}
	_, err := c.runCommand(ctx, &commandLine{line: line, blocks: 1})
	if _, refused := errors.AsType[*CommandError](err); refused {
		err = ErrNoPane
	}
	if err != nil {
		return fmt.Errorf("mark pane %s: %w", pane, err)
	}
	return nil
}

// Create makes a tmux session with one pane that keeps HistoryLimit rows and
// remains when its program ends, and marks it with id. It starts a server if
// none is running. It returns when the program is in its folder; if it can't be
// entered, that's an error with sessions.ErrInvalid, and nothing is left.
//
// A pane's history limit is fixed when it's made, so the session is made with a
// placeholder first, gets its limit, and then its real window, all in one
// command line.
func (c *Client) Create(ctx context.Context, id sessions.ID, req sessions.PaneRequest) (sessions.PaneInfo, error) {
	if err := checkCreate(id, req); err != nil {
		return sessions.PaneInfo{}, fmt.Errorf("create tmux session: %w", err)
	}
	l, info, err := c.makeSession(ctx, id, req)
	if err != nil {
		return info, err
	}
	if err := l.awaitEntered(ctx, info.ID, info.PID, req.Cwd); err != nil {
		_ = c.Kill(context.WithoutCancel(ctx), info.ID)
		return sessions.PaneInfo{}, fmt.Errorf("create tmux session %s: %w", req.Session, err)
	}
	return info, nil
}

// makeSession makes the session and its pane, on a server that it starts if there's none. One that
// ends before it was told anything, as it does when it has no session left, is followed by
// another.
func (c *Client) makeSession(ctx context.Context, id sessions.ID, req sessions.PaneRequest) (*liveConn, sessions.PaneInfo, error) {
	c.making.RLock()
	defer c.making.RUnlock()
	for try := 1; ; try++ {
		l, info, err := c.makeSessionOnce(ctx, id, req)
		if !errors.Is(err, errNotSent) || try == serverTries || !sleepFor(ctx, lookEvery) {
			return l, info, err
		}
	}
}

func (c *Client) makeSessionOnce(ctx context.Context, id sessions.ID, req sessions.PaneRequest) (*liveConn, sessions.PaneInfo, error) {
	if _, err := c.current(); err != nil {
		if err := c.startServer(ctx); err != nil {
			return nil, sessions.PaneInfo{}, err
		}
	}
	l, err := c.current()
	if err != nil {
		return nil, sessions.PaneInfo{}, err
	}
	withheld, err := c.withholdSecrets(ctx, "'="+req.Session+":'")
	if err != nil {
		return nil, sessions.PaneInfo{}, fmt.Errorf("create tmux session %s: %w", req.Session, err)
	}
	info, err := l.createPane(ctx, id, req, withheld)
	if err != nil {
		return nil, info, fmt.Errorf("create tmux session %s: %w", req.Session, err)
	}
	return l, info, nil
}

func checkCreate(id sessions.ID, req sessions.PaneRequest) error {
	switch {
	case !id.Valid():
		return fmt.Errorf("%w id %.40q", sessions.ErrInvalid, id)
	case !sessionNames.MatchString(req.Session):
		return fmt.Errorf("%w name %.40q: a tmux session's name has 1 to 200 letters, digits, - and _", sessions.ErrInvalid, req.Session)
	case len(req.Command) == 0:
		return fmt.Errorf("%w: there's no command", sessions.ErrInvalid)
	}
	return checkStart(req)
}

// createPane makes the session and its pane, or nothing. withheld are commands that keep
// variables of the server's from the pane.
func (l *liveConn) createPane(ctx context.Context, id sessions.ID, req sessions.PaneRequest, withheld []string) (sessions.PaneInfo, error) {
	target := "'=" + req.Session + ":^'"
	// A second window takes the place of the first: new-window -k would, too, but tmux 3.3a
	// crashes, and all its sessions with it, where there's no terminal left for that.
	line := fmt.Sprintf("new-session -d -E -s %s -x %d -y %d 'exec cat' ; set-option -t =%s: history-limit %d ; %snew-window -d -a -t %s -P -F '#{pane_id}|#{pane_pid}'",
		req.Session, req.Width, req.Height, req.Session, req.HistoryLimit, strings.Join(withheld, ""), target)
	line += startOptions(req)
	line += " ; kill-window -t " + target + " ; move-window -r -t =" + req.Session + ":"
	line += " ; set-option -p -t " + target + " remain-on-exit on ; set-option -p -t " + target + " @panebridge_id " + quote(string(id))
	reply, err := l.runCommand(ctx, &commandLine{line: line, blocks: 7 + len(withheld)})
	if err != nil {
		refused, _ := errors.AsType[*CommandError](err)
		if refused != nil && strings.Contains(refused.Message, "duplicate session") {
			return sessions.PaneInfo{}, fmt.Errorf("%w: a tmux session of that name exists", sessions.ErrConflict)
		}
		if refused != nil && len(reply) > 1 { // its first command has made the session
			_, _ = l.runCommand(context.WithoutCancel(ctx), &commandLine{line: "kill-session -t =" + req.Session + ":", blocks: 1})
		}
		return sessions.PaneInfo{}, explainScarce(err)
	}
	pane, pid, _ := strings.Cut(strings.Join(reply[2+len(withheld)].lines, ""), "|")
	info := sessions.PaneInfo{ID: pane, Session: req.Session, Mark: id, Cwd: req.Cwd}
	info.PID, _ = strconv.Atoi(pid)
	return info, nil
}

const (
	serverTries = 15                    // starts of a server that ends at once, within 2 s: a busy machine's takes long to end
	lookEvery   = 20 * time.Millisecond // whether there's a connection
)

// startServer starts a tmux server with our hidden session as its first, and waits until Run
// has connected to it. One that was just about to end is followed by another.
func (c *Client) startServer(ctx context.Context) error {
	if err := c.checkProgram(ctx); err != nil {
		return fmt.Errorf("start a tmux server: %w", err)
	}
	for try := 1; ; try++ {
		out, err := c.startOnce(ctx)
		if err == nil {
			err = c.awaitServer(ctx)
		}
		if err == nil || ctx.Err() != nil || try == serverTries {
			if err != nil {
				err = fmt.Errorf("%w: start a tmux server on %s: %w: %s", sessions.ErrUnavailable, c.SocketPath(), err, out)
			}
			return err
		}
		sleepFor(ctx, time.Duration(try)*lookEvery)
	}
}

// reachWithin is how long Reach waits for Run to connect to a server that answers.
const reachWithin = 3 * time.Second

// Reach has Run connect now, if there's a server to connect to and it isn't: see
// sessions.TmuxServer.
func (c *Client) Reach(ctx context.Context) error {
	if _, err := c.current(); err == nil {
		return nil
	}
	if err := c.probeSocket(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	return c.awaitServer(ctx)
}

// awaitServer waits until Run has connected to a server that was started; errAbsent: it has
// ended before.
func (c *Client) awaitServer(ctx context.Context) error {
	select {
	case c.wanted <- struct{}{}:
	default:
	}
	const probeEvery = 5 // looks
	for n := 1; ; n++ {
		if _, err := c.current(); err == nil {
			return nil
		}
		if !sleepFor(ctx, lookEvery) {
			return fmt.Errorf("connect to it: %w", ctx.Err())
		}
		if n%probeEvery == 0 {
			if err := c.probeSocket(ctx); errors.Is(err, errAbsent) {
				return err
			}
		}
	}
}

// startOnce asks tmux for our hidden session, on a server that it starts if there's none. said
// is what tmux prints.
func (c *Client) startOnce(ctx context.Context) (said string, err error) {
	if c.opt.Starter != "" {
		return c.startElsewhere(ctx)
	}
	return c.startHere(ctx, c.serverEnv())
}

// sleepFor waits; false: ctx has ended.
func sleepFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Kill ends a pane and what runs in it. A pane that's gone is no error.
func (c *Client) Kill(ctx context.Context, pane string) error {
	if checkPane(pane) != nil {
		return nil //nolint:nilerr // there's no such pane
	}
	_, err := c.runCommand(ctx, &commandLine{line: "kill-pane -t " + pane, blocks: 1})
	var refused *CommandError
	if err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("end pane %s: %w", pane, err)
	}
	return nil
}

// Leave gives the hidden session up if it's the server's last, so that a server
// whose user has ended everything can end. Run looks for the server again. It returns when
// the connection has ended, so that who makes a session then asks no server that ends.
func (c *Client) Leave(ctx context.Context) error {
	if !c.making.TryLock() {
		return nil // somebody makes a session
	}
	defer c.making.Unlock()
	l, err := c.current()
	if err != nil {
		return err
	}
	reply, err := l.runCommand(ctx, &commandLine{line: "list-sessions -F '#{exit-empty} #{session_name}'", blocks: 1})
	if err != nil {
		return err
	}
	if len(reply[0].lines) != 1 || reply[0].lines[0] != "1 "+HiddenSession {
		return nil // there are others, or the server stays without any
	}
	c.leaving.Store(true)
	if _, err = l.runCommand(ctx, &commandLine{line: "detach-client", blocks: 1}); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < leftWithin; {
		if now, err := c.current(); err != nil || now != l || !sleepFor(ctx, lookEvery) {
			break
		}
	}
	return nil
}

// leftWithin is how long Leave waits for the end of its connection.
const leftWithin = 2 * time.Second
