package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/panebridge/panebridge/internal/api/client"
)

// systemd tells the service manager how the daemon is, if it was started by one
// that wants to know (Type=notify or notify-reload).
type systemd struct{ log *slog.Logger }

func (s systemd) ready()    { s.notify(daemon.SdNotifyReady) }
func (s systemd) stopping() { s.notify(daemon.SdNotifyStopping) }

// waiting has systemd wait for a start that waits, which it would end after TimeoutStartSec.
func (s systemd) waiting() {
	s.notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendStart.Microseconds()))
}

// extendStart is longer than a start takes to be tried again.
const extendStart = 2 * time.Minute

// reloading is followed by ready.
func (s systemd) reloading() {
	s.notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

func (s systemd) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.log.Warn("tell systemd", "state", state, "error", err)
	}
}

// watchdog tells systemd that the daemon is alive for as long as its API
// answers, until ctx ends. It returns at once if systemd doesn't ask for it.
func (s systemd) watchdog(ctx context.Context, socket string) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		s.log.Warn("read systemd's watchdog interval", "error", err)
	}
	if within <= 0 {
		return
	}
	c := client.New(socket)
	defer c.Close()
	tick := time.NewTicker(within / 3) // systemd asks for twice within the interval, and one may be slow
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		callCtx, cancel := context.WithTimeout(ctx, within/3)
		if _, err := c.Health(callCtx); err == nil {
			s.notify(daemon.SdNotifyWatchdog)
		}
		cancel()
	}
}
