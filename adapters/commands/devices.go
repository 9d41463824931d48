package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/wording"
)

// Device is a browser that may use the page, or waits to be let in.
type Device struct {
	ID    string
	Name  string // what people call it
	Label string // what it calls itself, such as "Safari on iPhone"
	Roles string // what it may do, with spaces between
	Used  time.Time
	// Number is what a device that waits shows, too, and From its network address; "": it's in.
	Number, From string
}

// Devices are those of the page. Errors are sentences for people.
type Devices interface {
	// ListDevices returns those that are let in, and behind them those that wait. It does no I/O.
	ListDevices(now time.Time) []Device
	// ConfirmDevice lets one in that waits; by is a Person.ID. It does disk I/O.
	ConfirmDevice(ctx context.Context, id, by string) (Device, error)
	// RevokeDevice lets one do nothing any more, or refuses one that waits. It does disk I/O.
	RevokeDevice(ctx context.Context, id, by string) error
}

func runDevices(a *Invocation) error {
	devices := a.runner.Devices
	if devices == nil {
		return a.replyText("The page is off.")
	}
	words := strings.Fields(a.args)
	switch {
	case len(words) == 0:
		return a.replyText(devicesText(devices.ListDevices(time.Now()), time.Now()))
	case words[0] == "confirm" && len(words) == 2:
		d, err := devices.ConfirmDevice(a.Ctx, words[1], a.Event.Person.ID)
		if err != nil {
			return err
		}
		return a.replyText(wording.Plain(fmt.Sprintf("%s is let in (%s). /devices revoke %s ends that.", d.Name, d.Roles, d.ID)))
	case words[0] == "revoke" && len(words) == 2:
		if err := devices.RevokeDevice(a.Ctx, words[1], a.Event.Person.ID); err != nil {
			return err
		}
		return a.replyText(wording.Plain(words[1] + " may use the page no longer."))
	}
	return errors.New("write /devices, /devices confirm ID, or /devices revoke ID")
}

// maxDeviceRows bounds what's listed in a chat: `panebridge page list` has all.
const maxDeviceRows = 30

// devicesText lists the page's devices, in Markdown.
func devicesText(all []Device, now time.Time) string {
	var b strings.Builder
	for i, d := range all {
		if i == maxDeviceRows {
			fmt.Fprintf(&b, "and %d more: `panebridge page list` has all\n", len(all)-i)
			break
		}
		who := d.Label
		if d.Name != "" && d.Name != d.Label {
			who = d.Name + " (" + d.Label + ")"
		}
		if d.Number != "" {
			fmt.Fprintf(&b, "%s at %s waits to be let in: **%s**. If it shows the number **%s**: `/devices confirm %s`\n", wording.Plain(who), d.From, d.Roles, d.Number, d.ID)
			continue
		}
		fmt.Fprintf(&b, "%s: **%s**, here %s ago, `%s`\n", wording.Plain(who), d.Roles, wording.Age(now.Sub(d.Used)), d.ID)
	}
	if b.Len() == 0 {
		return "No browser may use the page. `panebridge page share` in a terminal lets one in."
	}
	return b.String()
}
