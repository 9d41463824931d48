package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/metrics"
	"github.com/panebridge/panebridge/internal/probes"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// watching is what others see of the daemon from before its start until after its end, whatever becomes of that.
type watching struct {
	board *probes.Board
	port  *probes.Port
	end   func() // closes the port
}

// openWatching opens the port for monitoring, if it's on.
func openWatching(ctx context.Context, opt Options) (*watching, error) {
	c := opt.Config.Monitoring
	w := &watching{board: probes.NewBoard(), end: func() {}}
	w.port = &probes.Port{Board: w.board, Hosts: c.AllowedHosts}
	if !c.Enabled {
		return w, nil
	}
	log := opt.Log.With("component", "monitoring")
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("open the port for monitoring: %w; choose another in monitoring.listen", err)
	}
	if host, _, err := net.SplitHostPort(c.Listen); err == nil && !config.IsLoopback(host) {
		log.Warn("the port for monitoring is open to other machines", "listen", l.Addr().String())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it says that the daemon is ending
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.port.Run(ctx, l); err != nil {
			log.Error("the port for monitoring is closed", "err", err)
		}
	}()
	w.end = func() { cancel(); <-ended }
	log.Info("the port for monitoring is open", "listen", l.Addr().String())
	return w, nil
}

func (w *watching) close() { w.end() }

// checks are what /healthz and /readyz are about.
func (d *daemon) checks() []probes.Check {
	all := []probes.Check{
		{Part: "sessions", Vital: true, Ask: func(context.Context) probes.Reason { d.manager.List(); return "" }},
		{Part: "polling", Vital: true, Ask: func(context.Context) probes.Reason { d.coord.CountPollers(); return "" }},
		{Part: "store", Ask: func(ctx context.Context) probes.Reason { return storeReason(d.health.askStore(ctx)) }},
	}
	for _, name := range d.outlets {
		all = append(all, probes.Check{Part: "scheduler:" + name, Vital: true, Ask: func(ctx context.Context) probes.Reason {
			if _, err := d.hub.Scheduler(name).Status(ctx); err != nil {
				return probes.ReasonSilent
			}
			return ""
		}})
	}
	for _, c := range d.clients {
		all = append(all, probes.Check{Part: "tmux:" + filepath.Base(c.Name()), Ask: func(context.Context) probes.Reason { return d.health.tmuxReason(c) }})
	}
	for _, p := range d.platforms {
		if t, ok := p.Platform.(platform.HealthTeller); ok {
			all = append(all, probes.Check{Part: p.Name, Ask: func(context.Context) probes.Reason {
				if t.Health().Condition == intake.Down {
					return probes.ReasonUnreachable
				}
				return ""
			}})
		}
	}
	return all
}

// askStore asks whether the store can be read and written; nil: it can.
func (h *healthWatch) askStore(ctx context.Context) error {
	if err := h.store.Failing(); err != nil {
		return err
	}
	if err := h.store.Health(ctx); err != nil {
		return err
	}
	_, err := h.store.ClosedPanes(ctx)
	return err
}

// tmuxReason says why a tmux server isn't ready. One that isn't running is: it's started with its first session.
func (h *healthWatch) tmuxReason(c *tmux.Client) probes.Reason {
	switch s := c.Status(); {
	case s.Connected && s.Silent > h.silence():
		return probes.ReasonSilent
	case s.Connected || s.Absent:
		return ""
	default:
		return probes.ReasonUnreachable
	}
}

// storeReason says by one of the reasons what's wrong with the store; "": nothing that keeps it from working.
func storeReason(err error) probes.Reason {
	is := func(all ...error) bool {
		return slices.ContainsFunc(all, func(one error) bool { return errors.Is(err, one) })
	}
	switch {
	case err == nil, is(store.ErrLittleRoom):
		return ""
	case is(context.DeadlineExceeded):
		return probes.ReasonSilent
	case is(store.ErrFull, unix.ENOSPC, unix.EDQUOT):
		return probes.ReasonFull
	case is(store.ErrLocked):
		return probes.ReasonLocked
	case is(store.ErrReadOnly, unix.EROFS):
		return probes.ReasonReadOnly
	case is(store.ErrDamaged, store.ErrCut, store.ErrIndexCut, store.ErrStrange):
		return probes.ReasonDamaged
	case is(store.ErrMissing, store.ErrReplaced):
		return probes.ReasonGone
	default:
		return probes.ReasonFails
	}
}

// stateSources tell the metrics how the daemon is.
func (d *daemon) stateSources() metrics.StateSources {
	return metrics.StateSources{
		Sessions: d.manager.List, Parts: d.partStates, Disk: d.diskUse, Pollers: d.coord.CountPollers, Connections: d.countConnections,
		Healthy: func() bool { return len(d.watching.board.ListUnhealthy(time.Now())) == 0 },
		Ready:   func() bool { return len(d.watching.board.ListUnready(time.Now())) == 0 },
	}
}

// countConnections is how many tmux servers are connected and answer.
func (d *daemon) countConnections() (n int) {
	for _, c := range d.clients {
		if c.Status().Connected && d.health.tmuxReason(c) == "" {
			n++
		}
	}
	return n
}

// partStates are the states of all parts, for the metrics.
func (d *daemon) partStates() []metrics.PartState {
	var all []metrics.PartState
	for _, p := range d.health.document().Parts {
		all = append(all, metrics.PartState{Name: p.Name, State: string(p.State)})
	}
	return all
}

// diskUse is how much the database and the index take, and how much room there is beside them.
func (d *daemon) diskUse() (use metrics.DiskUse, err error) {
	for _, name := range slices.Concat(store.FileNames(statedir.DatabaseFile), search.FileNames(search.File)) {
		if info, err := os.Stat(filepath.Join(d.opt.StateDir, name)); err == nil { // else it isn't there at the moment
			use.Database += info.Size()
		}
	}
	left, err := store.Room(d.opt.StateDir)
	use.Left = int64(min(left, math.MaxInt64))
	return use, err
}
