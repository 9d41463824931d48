package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/events"
)

// tmuxProgram is the tmux that is used, from PATH.
const tmuxProgram = "tmux"

// serve runs the daemon until ctx ends, with what surrounds it: its log,
// reloads by signal, and systemd.
func (p *invocation) serve(ctx context.Context, opt app.Options) error {
	opt.LogLevel = new(slog.LevelVar)
	opt.LogLevel.Set(opt.Config.Log.SlogLevel())
	log := events.NewHandler(newLogger(p.stdio.Err, opt.Config.Log.Format, opt.LogLevel, p.colour()).Handler())
	opt.Log, opt.LogCounts = slog.New(log), log.Count
	opt.Version, opt.Env = p.versionText(), p.env
	opt.Executable, _ = ownPath()                            // without it, it's called by its name
	_, opt.ConfigNamed, _ = config.Path(p.configFlag, p.env) // which was found before
	reload := make(chan chan<- struct{})
	opt.Reload = reload
	sd := systemd{opt.Log}

	// The helpers end with the daemon, whatever ended it.
	around, end := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer end()

	opt.Waiting = sd.waiting
	ready := opt.Ready
	opt.Ready = func(info app.Info) {
		sd.ready()
		ready(info)
		helpers.Go(func() { sd.watchdog(around, info.Socket) })
	}
	hangUp := make(chan os.Signal, 1)
	if opt.ConfigPath != "" {
		signal.Notify(hangUp, syscall.SIGHUP)
		defer signal.Stop(hangUp)
	}
	helpers.Go(func() { reloadOn(around, hangUp, reload, sd) })
	helpers.Go(func() {
		<-around.Done()
		sd.stopping()
	})
	return app.Run(ctx, opt)
}

// reloadOn has the daemon read its configuration again at each signal, until
// ctx ends.
func reloadOn(ctx context.Context, signals <-chan os.Signal, reload chan<- chan<- struct{}, sd systemd) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		sd.reloading()
		answer := make(chan struct{}, 1)
		select {
		case <-ctx.Done():
			return
		case reload <- answer:
		}
		select {
		case <-ctx.Done():
			return
		case <-answer: // what became of it is in the log
		}
		sd.ready()
	}
}

// absoluteFile returns the path from the root, for the log and for reloads.
func absoluteFile(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the configuration file: %w", err)
	}
	return path, nil
}
