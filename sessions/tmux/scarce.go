package tmux

import (
	"errors"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// explainScarce says what of the machine is used up where tmux refuses a pane for that: it
// tells of a terminal that can't be had as of a disk that's full ("No space left on device").
func explainScarce(err error) error {
	refused, ok := errors.AsType[*CommandError](err)
	if !ok {
		return err
	}
	why := ""
	switch m := refused.Message; {
	case strings.Contains(m, "fork failed: No space left on device"):
		why = "no pseudo-terminal is left: close panes that nobody needs, or have more (sysctl kernel.pty.max; of a container, the option max of its devpts)"
	case strings.Contains(m, "Resource temporarily unavailable"):
		why = "this user may begin no more processes: end some, or raise the limit (ulimit -u; TasksMax of a systemd unit)"
	case strings.Contains(m, "Too many open files"):
		why = "the tmux server may open no more files: close panes that nobody needs, or start it with a higher limit (ulimit -n)"
	case strings.Contains(m, "Cannot allocate memory"):
		why = "this machine has no memory left for another process: end some"
	default:
		return err
	}
	return fmt.Errorf("%w: %s (%w)", sessions.ErrUnavailable, why, err)
}
