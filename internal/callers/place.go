package callers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// panesTime bounds how long a caller waits until tmux has said which panes there are.
const panesTime = 5 * time.Second

// Finder finds out where calls come from. All of its fields are needed.
type Finder struct {
	Manager   *sessions.Manager
	Clients   []*tmux.Client
	Processes *agent.Processes
	StateDir  string
	Logger    *slog.Logger
}

// Place finds out where the program at the other end of a connection was begun. What can't
// be told counts as a session's pane: an outsider loses a moment, an insider gains nothing. It waits 5 s at most for tmux.
func (f *Finder) Place(ctx context.Context, c net.Conn) api.CallerPlace {
	if !tells(c) {
		return api.CallerPlace{} // see docs/platforms.md
	}
	place, err := f.findPlace(ctx, c)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		return api.CallerPlace{Inside: true, Why: err.Error(), Ending: true}
	}
	if err != nil {
		f.Logger.Warn("nobody can tell where a call comes from, so it counts as one from a session's pane", "err", err)
		return api.CallerPlace{Inside: true, Why: err.Error()}
	}
	return place
}

// tells reports whether this system tells of such a connection which process has it, and of
// processes where they were begun.
func tells(c net.Conn) bool {
	if _, ok := c.(*net.UnixConn); ok {
		return host.Knows(host.SocketPeers) && host.Knows(host.ProcessStates)
	}
	return host.Knows(host.ConnectionUsers) && host.Knows(host.ProcessSockets)
}

func (f *Finder) findPlace(ctx context.Context, c net.Conn) (api.CallerPlace, error) {
	ctx, cancel := context.WithTimeout(ctx, panesTime)
	defer cancel()
	if unix, ok := c.(*net.UnixConn); ok {
		pid, err := host.SocketProcess(unix)
		if err != nil {
			return api.CallerPlace{}, err
		}
		origins, err := f.origins(ctx)
		if err != nil {
			return api.CallerPlace{}, err
		}
		id, err := origins.Of(pid)
		if err != nil {
			return api.CallerPlace{}, err
		}
		place := api.CallerPlace{Inside: id != "", Session: id}
		if caller, ok := f.Processes.Get(pid); ok {
			place.Program = commandLine(caller.Args)
		}
		return place, nil
	}
	inode, err := host.ConnectionSocket(c)
	if err != nil {
		return api.CallerPlace{}, err
	}
	origins, err := f.origins(ctx)
	if err != nil {
		return api.CallerPlace{}, err
	}
	id, err := origins.Holding(inode, os.Geteuid())
	if err != nil {
		return api.CallerPlace{}, err
	}
	// If it was closed meanwhile, who had it can't be found any more.
	if again, err := host.ConnectionSocket(c); err != nil || again != inode {
		return api.CallerPlace{}, errors.Join(errors.New("the connection was closed"), err)
	}
	return api.CallerPlace{Inside: id != "", Session: id}, nil
}

// origins looks which panes there are, and whose. All panes of a tmux session that
// panebridge made are that session's, so that a window that an agent opens beside its own
// is no way out; other panes are their user's. Of sessions that have ended only what they
// left is looked for, if their pane is gone too.
func (f *Finder) origins(ctx context.Context) (*agent.Origins, error) {
	type spot struct {
		server int
		pane   string
	}
	all := f.Manager.List()
	there := map[spot]*agent.SessionPane{}
	beside := map[string][]*agent.SessionPane{} // by tmux server and session
	names := map[*agent.SessionPane]string{}
	var panes []agent.SessionPane
	for _, c := range f.Clients {
		identity, up := c.Identity()
		if !up {
			continue // its sessions' panes can't be told from others; their marks can
		}
		list, err := c.Panes(ctx)
		if err != nil {
			if lives(all, c.Name()) {
				return nil, err
			}
			continue
		}
		for _, p := range list {
			one := &agent.SessionPane{Server: identity.PID, Pane: p.ID, PID: p.PID}
			there[spot{identity.PID, p.ID}] = one
			home := c.Name() + "\n" + p.Session
			beside[home] = append(beside[home], one)
			names[one] = home
		}
	}
	for _, s := range all {
		p := there[spot{s.Pane.Identity.PID, s.Pane.ID}]
		switch {
		case p != nil && s.State != sessions.StateEnded:
			p.Session = s.ID
			if s.Owned {
				for _, other := range beside[names[p]] {
					other.Session = cmp.Or(other.Session, s.ID)
				}
			}
		case p == nil:
			panes = append(panes, agent.SessionPane{Session: s.ID, Server: s.Pane.Identity.PID, Pane: s.Pane.ID})
		}
	}
	for _, p := range there {
		panes = append(panes, *p)
	}
	return f.Processes.Origins(panes, f.StateDir), nil
}

// lives says whether a session lives on a tmux server.
func lives(all []sessions.Session, server string) bool {
	for _, s := range all {
		if s.Pane.Server == server && s.State != sessions.StateEnded {
			return true
		}
	}
	return false
}

// maxProgramRunes bounds what's shown of a caller's command line.
const maxProgramRunes = 300

// commandLine is a command line as people read it.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`'"\$&|;<>()*?#`+"`", r) }) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	line := []rune(visible(strings.Join(words, " ")))
	if len(line) > maxProgramRunes {
		return fmt.Sprintf("%s… (%d characters more)", string(line[:maxProgramRunes]), len(line)-maxProgramRunes)
	}
	return string(line)
}

// visible is a text on one line in which everything can be seen: what isn't drawn, or is
// drawn elsewhere than it stands, is written as its number.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
