package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// callTimeout bounds one call of the API: making a session takes tmux up to 10 s.
const callTimeout = 30 * time.Second

// errCalling marks errors of a call of the API.
var errCalling = errors.New("call the daemon")

// stateDir returns the state folder as an absolute path.
func (p *invocation) stateDir() (string, error) {
	dir, err := config.StateDir(p.stateDirFlag, p.env)
	if err != nil {
		return "", usageErrorf("%w", err)
	}
	return absolute(dir)
}

func absolute(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the state folder: %w", err)
	}
	if path := statedir.SocketPath(dir); len(path) > statedir.MaxSocketPath {
		return "", usageErrorf("the path of the socket, %s, has %d bytes and may have %d: give a shorter --state-dir", path, len(path), statedir.MaxSocketPath)
	}
	return dir, nil
}

// loadConfig loads the configuration from where the flags say, with its secrets, so that
// this process's memory is closed to others before.
func (p *invocation) loadConfig() (*config.Config, string, error) {
	if err := closeMemory(); err != nil {
		return nil, "", err
	}
	cfg, path, err := all.Form().Find(p.configFlag, p.env)
	return cfg, path, explainConfig(path, err)
}

// loadPublic loads the configuration for what needs none of its secrets. In a pane the
// variables that have them aren't set.
func (p *invocation) loadPublic() (*config.Config, error) {
	path, named, err := config.Path(p.configFlag, p.env)
	if err != nil {
		return nil, usageErrorf("%w", err)
	}
	cfg, err := all.Form().Load(path, func(name string) (string, bool) {
		if value, set := p.env(name); set {
			return value, true
		}
		return "unset", true
	})
	if errors.Is(err, fs.ErrNotExist) && !named {
		return all.Form().Default(), nil
	}
	return cfg, explainConfig(path, err)
}

// loadProfiles loads the agents' profiles as the configuration has them.
func (p *invocation) loadProfiles() (*agent.Set, error) {
	cfg, err := p.loadPublic()
	if err != nil {
		return nil, err
	}
	path, _, err := config.Path(p.configFlag, p.env)
	if err != nil {
		return nil, usageErrorf("%w", err)
	}
	return app.LoadProfiles(cfg, path)
}

// explainConfig adds the exit code, and what to do about a file that can't be
// read.
func explainConfig(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return usageErrorf("there is no configuration file %s: make it, or leave it out to have the defaults", path)
	case errors.Is(err, fs.ErrPermission):
		return usageErrorf("the configuration file %s can't be read: give this user the right to (%w)", path, err)
	}
	return usageErrorf("%w", err)
}

// dial returns a client of the daemon. It connects with the first call.
func (p *invocation) dial() (*client.Client, error) {
	dir, err := p.stateDir()
	if err != nil {
		return nil, err
	}
	return client.New(statedir.SocketPath(dir)), nil
}

// withDaemon makes a command's function of one that calls the API, each time
// with a deadline.
func (p *invocation) withDaemon(do func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := p.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		ctx, cancel := p.callContext(cmd.Context(), c, callTimeout)
		defer cancel()
		return calling(do(ctx, c, args))
	}
}

// askedFor is longer than the daemon waits for somebody's word.
const askedFor = 6 * time.Minute

// callContext bounds calls to a time, or, once somebody is asked whether one may be made,
// to what that takes.
func (p *invocation) callContext(ctx context.Context, c *client.Client, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	c.OnAsked(func() {
		if timer.Reset(askedFor + limit) {
			p.notef("This is called in a session's pane, so somebody is asked in a chat or on the page whether it may be done. Ctrl-C ends it.")
		}
	})
	return ctx, func() { timer.Stop(); cancel(nil) }
}

// find returns a session by id or name: a living one, else the last of that
// name that has ended, whose log and end can still be asked for.
func find(ctx context.Context, c *client.Client, idOrName string) (api.Session, error) {
	c = c.Quiet()
	s, err := c.Session(ctx, idOrName)
	if client.Inside(err) { // what's done with it says whether it's there
		return api.Session{ID: sessions.ID(idOrName), Name: idOrName}, nil
	}
	refused, ok := errors.AsType[*api.Error](err)
	if !ok || refused.Status != http.StatusNotFound {
		return s, err
	}
	list, listErr := c.Sessions(ctx)
	if listErr != nil {
		return s, listErr
	}
	found := false
	for _, one := range list {
		if one.Name == idOrName && (!found || one.EndedAt.After(s.EndedAt)) {
			s, found = one, true
		}
	}
	if !found {
		return s, err
	}
	return s, nil
}

// findLiving is find for what needs a session that hasn't ended.
func findLiving(ctx context.Context, c *client.Client, idOrName string) (api.Session, error) {
	s, err := find(ctx, c, idOrName)
	if err == nil && s.State == sessions.StateEnded {
		err = fmt.Errorf("session %s has ended (%s): `panebridge tail %s` shows what it printed, `panebridge sessions new` makes another", s.Name, s.Reason, s.ID)
	}
	return s, err
}

// calling marks an error as one of a call.
func calling(err error) error {
	if err == nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	return fmt.Errorf("%w: %w", errCalling, err)
}

// completeSession completes the first argument with the names of living
// sessions.
func (p *invocation) completeSession(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeNames(cmd, func(s api.Session) bool { return s.State != sessions.StateEnded })
}

// completeEnded completes arguments with the names of ended sessions.
func (p *invocation) completeEnded(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return p.completeNames(cmd, func(s api.Session) bool { return s.State == sessions.StateEnded })
}

func (p *invocation) completeNames(cmd *cobra.Command, wanted func(api.Session) bool) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := p.dial()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer c.Close()
	// A person waits behind the tab key.
	ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
	defer cancel()
	list, err := c.Quiet().Sessions(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, s := range list {
		if wanted(s) {
			names = append(names, cobra.CompletionWithDesc(s.Name, fmt.Sprintf("%s, %s", s.ID, s.State)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
