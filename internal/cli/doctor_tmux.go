package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// controlTimeout is longer than the client's own, so that its error is the one
// that is shown.
const controlTimeout = 8 * time.Second

// examineTmux looks at the tmux program; false: it's of no use.
func examineTmux(ctx context.Context) (finding, bool) {
	v, err := tmux.ProgramVersion(ctx, tmuxProgram)
	if err != nil {
		fix := fmt.Sprintf("Install tmux %s or newer: apt-get install tmux, or brew install tmux.", tmux.MinVersion)
		return finding{"tmux", verdictBroken, err.Error(), fix}, false
	}
	return finding{Check: "tmux", State: verdictOK, Detail: "version " + v.String()}, true
}

func examineServers(ctx context.Context, cfg *config.Config) []finding {
	secret := app.IsOwn(cfg)
	var all []finding
	for _, s := range cfg.Tmux.Servers {
		all = append(all, examineServer(ctx, tmux.New(tmux.Options{SocketName: s.SocketName, SocketPath: s.SocketPath, Program: tmuxProgram, Secret: secret}))...)
	}
	return all
}

// examineServer looks whether a tmux server's socket can be reached, and then
// whether control mode works.
func examineServer(ctx context.Context, c *tmux.Client) []finding {
	name, path := "tmux server "+c.Name(), c.SocketPath()
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		asked, cancel := context.WithTimeout(ctx, controlTimeout)
		defer cancel()
		if c.AwaitAnswer(asked) != nil && asked.Err() != nil { // a control client would be left at a server that's stopped
			return []finding{controlModeBroken(name, path, errServerSilent)}
		}
		return examineControlMode(ctx, name, path, c)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return []finding{{Check: name, State: verdictOK, Detail: "none is running on " + path + "; it's started when a session is made"}}
	case errors.Is(err, fs.ErrPermission):
		return []finding{{name, verdictBroken, "no permission on its socket " + path, "Run panebridge as the user who owns the socket, or configure another in tmux.servers."}}
	}
	return []finding{{name, verdictBroken, err.Error(), "Correct the server's socket in tmux.servers."}}
}

// examineControlMode connects as the daemon does.
func examineControlMode(ctx context.Context, name, path string, c *tmux.Client) []finding {
	var variables []string
	s := whileConnected(ctx, c, func(ctx context.Context) {
		variables, _ = c.SecretVariables(ctx) // without an answer nothing is known of them
	})
	switch {
	case s.Connected:
		all := []finding{{Check: name, State: verdictOK, Detail: fmt.Sprintf("version %s, process %d; control mode works", s.Version, s.Identity.PID)}}
		if len(variables) > 0 {
			all = append(all, exposedFinding(name, path, variables))
		}
		return all
	case s.Absent:
		return []finding{{Check: name, State: verdictOK, Detail: "it has just ended"}}
	}
	return []finding{controlModeBroken(name, path, s.Err)}
}

// errServerSilent says that a tmux server hasn't answered for long enough.
var errServerSilent = fmt.Errorf("no answer within %s", controlTimeout)

// controlModeBroken is of a server to which panebridge can't connect.
func controlModeBroken(name, path string, why error) finding {
	return finding{
		name, verdictBroken, "control mode doesn't work: " + why.Error(),
		"Look whether `tmux -S " + path + " list-sessions` answers: if it hangs, the server is stopped (kill -CONT its process)\n" +
			"or stuck; if it doesn't, the server may be of another version than the program, and must be started anew.",
	}
}

// exposedFinding is of a server that somebody has started with panebridge's secrets.
func exposedFinding(name, path string, variables []string) finding {
	var commands []string
	for _, v := range variables {
		commands = append(commands, "tmux -S "+path+" set-environment -g -u "+v)
	}
	return finding{
		name, verdictWarning,
		"its environment has secrets of panebridge's in " + strings.Join(variables, ", ") + ": sessions that panebridge makes don't get them, others do",
		strings.Join(commands, "\n") + "\nkeeps them from new panes. What runs there has them until the server is started anew, from a shell without them.",
	}
}

// whileConnected connects to a tmux server, calls use if that's possible, and ends the connection. All of it is over
// within controlTimeout.
func whileConnected(ctx context.Context, c *tmux.Client, use func(ctx context.Context)) tmux.ConnStatus {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	before := c.Status().Err
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Run(ctx) // its status says why
	}()
	defer func() { cancel(); <-ended }()
	status := awaitStatus(ctx, c, before)
	if status.Connected {
		use(ctx)
	}
	return status
}

// awaitStatus waits until a client that runs is connected or has another error
// than before.
func awaitStatus(ctx context.Context, c *tmux.Client, before error) tmux.ConnStatus {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if s := c.Status(); s.Connected || s.Err != nil && !errors.Is(s.Err, before) {
			return s
		}
		select {
		case <-ctx.Done():
			return tmux.ConnStatus{Err: errServerSilent}
		case <-tick.C:
		}
	}
}
