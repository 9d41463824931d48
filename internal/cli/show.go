package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// showFlags are the flags of `show`.
type showFlags struct {
	session, caption string
	key              string
	timeout          waitSpan
	noWait, asJSON   bool
}

// showTimeout is how long `show` waits for chats unless it's told.
const showTimeout = time.Minute

func newShow(p *invocation) *cobra.Command {
	f := showFlags{timeout: waitSpan(showTimeout)}
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show people a file or picture",
		Long: `Show people a file, as it is now, in the session's chats and on the page: a PNG as a picture,
all else as a file. What /send would send is shown: plain files of at most 20 MB (chats take less,
and say so), without secrets, no keys, links or devices, and nothing that has another name
elsewhere. A file from outside of the session's folder is shown when somebody who approves has
allowed it, in a chat or on the page; they see its path.

It waits until all chats have it, and prints where it stands. What's shown is kept from the moment
at which the command's call is answered: if it's killed, or the daemon is, chats get it all the
same, once, or a second time with a mark where nobody can tell whether they have it. Whoever
repeats a call that was killed gives both the same --key.

Exit codes:
  0  all chats have it, or the page alone shows the session (with --no-wait: it's kept)
  1  failed: it can't be shown, or somebody refused
  2  wrong usage
  3  the daemon isn't running
  4  some chat doesn't have it yet; it's kept, and goes there when that's possible
  6  the session has ended`,
		Example: "  panebridge show build/chart.png --caption \"Latency, before and after\"\n  panebridge show report.pdf --no-wait\n  panebridge show --session api /var/log/api.log",
		Args:    takes(1, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilAbandoned(cmd.Context())
			defer stop()
			return calling(p.show(ctx, args[0], f))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.caption, "caption", "", "a `TEXT` beside it")
	flags.Var(&f.timeout, "timeout", "how long to wait until all chats have it")
	flags.BoolVar(&f.noWait, "no-wait", false, "don't wait for chats")
	flags.StringVar(&f.key, "key", "", "your own name for it, 16 to 64 letters and digits: a `KEY` shows once, however often this is called")
	p.sessionFlag(cmd, &f.session)
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// show shows a file, and waits until it's in chats.
func (p *invocation) show(ctx context.Context, file string, f showFlags) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("find %s: %w", file, err)
	}
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if f.session, err = p.ownSession(ctx, c, f.session); err != nil {
		return err
	}
	t := &tenacious{invocation: p, c: c}
	r := api.ShowRequest{Key: cmp.Or(f.key, rand.Text()), Path: path, Caption: f.caption}
	var e api.Exhibit
	if err := t.do(ctx, func(ctx context.Context) (err error) { e, err = c.Show(ctx, f.session, r); return err }); err != nil {
		return askError(ctx, err)
	}
	for until := time.Now().Add(time.Duration(f.timeout)); !f.noWait && !e.Done && time.Now().Before(until); {
		now := e
		err := t.do(ctx, func(ctx context.Context) (err error) {
			now, err = c.Exhibit(ctx, f.session, e.ID, min(time.Until(until), awaitEach))
			return err
		})
		if err != nil {
			return askError(ctx, err)
		}
		e = now
	}
	return p.printExhibit(e, f)
}

// printExhibit prints where a file is shown and ends with the exit code that says so.
func (p *invocation) printExhibit(e api.Exhibit, f showFlags) error {
	var err error
	if f.asJSON {
		err = p.printJSON(e)
	} else {
		err = p.printf("%s: %s\n", e.ID, exhibitText(e))
	}
	if err != nil || e.Done || f.noWait {
		return err
	}
	p.notef("panebridge: some chat doesn't have it yet; it's kept, and goes there when that's possible")
	return silently(exitTimedOut)
}

// exhibitText says where a file is shown.
func exhibitText(e api.Exhibit) string {
	var parts []string
	for _, place := range e.Places {
		switch place.State {
		case sessions.ExhibitShown:
			parts = append(parts, "shown in "+place.Place)
		case sessions.ExhibitTooLarge:
			parts = append(parts, fmt.Sprintf("too large for %s, which takes %d kB and says so", place.Place, place.Limit/1000))
		case sessions.ExhibitGone:
			parts = append(parts, "not shown in "+place.Place+", which doesn't show the session any more, or has refused it for a day")
		}
	}
	if len(parts) == 0 && e.Done {
		return "shown on the page; no chat shows the session"
	}
	if len(parts) == 0 {
		return "kept"
	}
	return strings.Join(parts, "; ")
}
