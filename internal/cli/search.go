package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newSearch(p *invocation) *cobra.Command {
	var session string
	var limit, skip int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search TEXT…",
		Short: "Find lines of all sessions, the newest first",
		Long: `Find lines that have each of the words, whatever the case of letters, and print the newest
first: when it came, its session, its number, what it is if no program printed it, and the line.
"panebridge tail SESSION --from N --no-follow" shows what stands around it.

A word is found from its beginning on, also within one as in OutputPoller: "poller" finds that,
"oller" doesn't. One or two letters are found as whole words. What stands between quotation
marks is found with its spaces: panebridge search '"exit status 1"'.`,
		Example:           "  panebridge search FAIL poller_test.go\n  panebridge search --session web '\"connection refused\"'",
		Args:              takes(1, -1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			found, err := c.Search(ctx, strings.Join(args, " "), session, limit, skip)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(found)
			}
			now := time.Now()
			for _, h := range found.Hits {
				if err := p.printf("%s  %s:%d  %s\n", clock(h.At, now), h.Name, h.N, foundText(h.Line)); err != nil {
					return err
				}
			}
			switch {
			case len(found.Hits) == 0:
				p.notef("Nothing has that.")
			case found.More:
				p.notef("There may be older ones: --skip %d shows them.", skip+len(found.Hits))
			}
			if found.Behind > 0 {
				p.notef("%d lines can't be found yet; that takes a while after the first start.", found.Behind)
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&session, "session", "s", "", "look in one `SESSION`")
	flags.IntVarP(&limit, "limit", "n", 50, "print `N` lines at most, up to 200")
	flags.IntVar(&skip, "skip", 0, "leave out the newest `N`, as many as 1000 less the limit")
	_ = cmd.RegisterFlagCompletionFunc("session", p.completeSession) // the flag is there
	jsonFlag(cmd, &asJSON)
	return cmd
}

// foundText is a line that was found, behind what it is.
func foundText(l sessions.Line) string {
	switch kind := l.Kind.NameKind(); l.Kind {
	case sessions.KindAnswer, sessions.KindTool, sessions.KindThought:
		return kind + ": " + l.Text
	default: // what's written, and what panebridge says, is told by its signs
		return lineText(l)
	}
}
