package app

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/config"
)

// ReloadResult is what became of a reload.
type ReloadResult struct {
	Applied     []string // keys whose new values are in force
	NeedRestart []string // keys whose new values are in force after a restart
	Err         error    // nothing was applied; the old configuration stays
}

// reloads answers requests to read the configuration again.
func (d *daemon) reloads(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case answer := <-d.opt.Reload:
			answer <- d.reload()
		}
	}
}

func (d *daemon) reload() (r ReloadResult) {
	if d.opt.ConfigPath == "" {
		r.Err = errors.New("reload the configuration: the daemon was started without a file")
		return r
	}
	next, err := config.Load(d.opt.ConfigPath, d.opt.Env)
	if err != nil {
		r.Err = err
		return r
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range config.Diff(d.config, next) {
		if c.Reload {
			r.Applied = append(r.Applied, c.Path)
		} else {
			r.NeedRestart = append(r.NeedRestart, c.Path)
		}
	}
	d.store.SetLogMaxLines(int64(next.Sessions.LogMaxLines))
	d.manager.SetAdopt(next.Sessions.Adopt)
	d.manager.SetAgents(agents(next))
	if d.opt.LogLevel != nil {
		d.opt.LogLevel.Set(next.Log.SlogLevel())
	}
	d.config = next
	d.opt.Log.Info("configuration reloaded", "applied", r.Applied, "need_restart", r.NeedRestart)
	return r
}
