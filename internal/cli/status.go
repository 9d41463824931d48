package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// status is what `status --json` prints.
type status struct {
	State    api.HealthState `json:"state"`
	Parts    []api.Part      `json:"parts"`
	Sessions []api.Session   `json:"sessions"` // those that live
	Adapters []api.Adapter   `json:"adapters"`
	Programs []agent.Insight `json:"programs"` // in the panes of sessions
	Starting bool            `json:"starting,omitempty"`
	URL      string          `json:"url"` // of the page, without its token; "": the page is off
}

func newStatus(p *program) *cobra.Command {
	var asJSON, urlOnly, verbose bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print how the daemon is, its sessions and where its page is",
		Args:  takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			if urlOnly {
				return p.printAddress(ctx, c, asJSON)
			}
			s, err := p.status(ctx, c)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(s)
			}
			return p.printStatus(s, verbose, time.Now())
		}),
	}
	cmd.Flags().BoolVar(&urlOnly, "url", false, "print only an address of the page that lets one browser in, as \"panebridge page\" does")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also what each session's program is, and why its state is believed")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (p *program) status(ctx context.Context, c *client.Client) (status, error) {
	health, err := c.Health(ctx)
	if err != nil || health.Starting {
		return status{State: health.State, Parts: health.Parts, Starting: health.Starting, Sessions: []api.Session{}, Adapters: []api.Adapter{}, Programs: []agent.Insight{}}, err
	}
	list, err := c.Sessions(ctx)
	if err != nil {
		return status{}, err
	}
	adapters, err := c.Adapters(ctx)
	if err != nil {
		return status{}, err
	}
	programs, err := c.Programs(ctx)
	if err != nil {
		return status{}, err
	}
	page, err := c.Page(ctx)
	return status{State: health.State, Parts: health.Parts, Sessions: living(list), Adapters: adapters, Programs: programs, URL: page.URL}, err
}

func (p *program) printStatus(s status, verbose bool, now time.Time) error {
	page := "the page is off"
	switch {
	case s.Starting:
		page = "its start waits, and goes on by itself"
	case s.URL != "":
		page = "page: " + s.URL + " (`panebridge page` lets a browser in)"
	}
	if err := p.printf("panebridge is %s; %s\n\n", s.State, page); err != nil {
		return err
	}
	rows := [][]string{{"PART", "STATE", "LAST SUCCESS", "DETAIL"}}
	for _, part := range s.Parts {
		success := "-" // what chats show, say, is well or isn't: nothing is tried
		if !part.LastSuccess.IsZero() {
			success = ago(part.LastSuccess, now)
		}
		rows = append(rows, []string{part.Name, string(part.State), success, part.Detail})
	}
	if err := p.printTable(rows); err != nil {
		return err
	}
	if s.Starting {
		return nil
	}
	if len(s.Sessions) == 0 {
		if err := p.printf("\nNo session is running; `panebridge sessions new` makes one.\n"); err != nil {
			return err
		}
	} else if err := errors.Join(p.printf("\n"), p.printTable(sessionTable(s.Sessions, now))); err != nil {
		return err
	}
	p.notMirrored(s.Sessions...)
	if verbose {
		if err := p.printPrograms(s, now); err != nil {
			return err
		}
	}
	for _, a := range s.Adapters {
		if err := p.printAdapter(a, now); err != nil {
			return err
		}
	}
	return nil
}

// printPrograms prints what's known of each session, and why it's believed.
func (p *program) printPrograms(s status, now time.Time) error {
	hooks := map[string]agent.Status{}
	if list, err := p.hooksOf(hooksFlags{scope: scopeUser}, agent.HookAgents()); err == nil {
		for _, to := range list {
			hooks[to.Agent], _ = to.Status() // it's broken with an error
		}
	}
	known := map[sessions.ID]agent.Insight{}
	for _, in := range s.Programs {
		known[in.Session] = in
	}
	for _, one := range s.Sessions {
		in := known[one.ID]
		if err := p.printSession(one, in, hooks[in.Program], now); err != nil {
			return err
		}
	}
	return nil
}

// printAddress prints an address that lets one browser in.
func (p *program) printAddress(ctx context.Context, c *client.Client, asJSON bool) error {
	a, err := c.NewAddress(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(a)
	}
	return p.printf("%s\n", a.URL)
}
