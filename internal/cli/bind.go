package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newBind(p *program) *cobra.Command {
	var asJSON bool
	var b api.Bind
	cmd := &cobra.Command{
		Use:   "bind SESSION ADAPTER:CHAT[/THREAD]",
		Short: "Have a chat mirror a session",
		Long: `Have a chat mirror a session, from its newest line on. Where it does already, the
view and whether input is taken are changed. Rules for many sessions belong into
mirrors: in the configuration.`,
		Example:           "  panebridge bind agent-1 telegram:-1001234567890 --input\n  panebridge bind agent-1 discord:112233/445566 --view final",
		Args:              takes(2, 2),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			b.To = args[1]
			bound, err := c.Bind(ctx, string(s.ID), b)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(bound)
			}
			return p.printf("%s %s → %s (%s)\n", bound.ID, s.Name, bound.To, bound.View)
		}),
	}
	cmd.Flags().StringVar(&b.View, "view", "stream", "what it shows: stream, final or screen")
	cmd.Flags().BoolVar(&b.Input, "input", false, "what is written there goes to the session")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newUnbind(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "unbind SESSION [ADAPTER:CHAT[/THREAD]]",
		Short: "End what bind or a rule has begun",
		Long: `End the mirroring of a session to a chat; without a chat, to all of them. What
hasn't been sent yet isn't sent any more. A rule doesn't bring it back.`,
		Args:              takes(1, 2),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := c.Session(ctx, args[0])
			if err != nil {
				return err
			}
			chosen := s.Bindings
			if len(args) == 2 {
				chosen = boundTo(s.Bindings, args[1])
			}
			if len(chosen) == 0 {
				return fmt.Errorf("%s isn't bound %s", s.Name, boundPlaces(s.Bindings))
			}
			for _, b := range chosen {
				if err := c.Unbind(ctx, b.ID); err != nil {
					return err
				}
				if err := p.printf("%s %s → %s ended\n", b.ID, s.Name, b.To); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func boundTo(all []api.Binding, to string) []api.Binding {
	var out []api.Binding
	for _, b := range all {
		if b.To == to || b.ID == to {
			out = append(out, b)
		}
	}
	return out
}

// boundPlaces is the rest of a sentence that begins with "isn't bound".
func boundPlaces(all []api.Binding) string {
	if len(all) == 0 {
		return "to any chat"
	}
	var to []string
	for _, b := range all {
		to = append(to, b.To)
	}
	return "there; it is to " + strings.Join(to, ", ")
}
