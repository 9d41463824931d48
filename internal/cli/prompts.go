package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// answerTimeout bounds answering: other input may have to go first, then come the looks
// at the session.
const answerTimeout = 30 * time.Second

func newPrompts(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prompts",
		Short: "List the questions that agents ask",
		Long: `List the questions that agents ask in their sessions, oldest first, with the options
that there are. "panebridge answer" answers one.`,
		Args: takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := c.Prompts(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(list)
			}
			if len(list) == 0 {
				p.notef("No question is open.")
				return nil
			}
			names, err := sessionNames(ctx, c)
			if err != nil {
				return err
			}
			for i, one := range list {
				if i > 0 {
					if err := p.printf("\n"); err != nil {
						return err
					}
				}
				if err := p.printf("%s", promptText(one, names[string(one.Session)], time.Now())); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func sessionNames(ctx context.Context, c *client.Client) (map[string]string, error) {
	list, err := c.Sessions(ctx)
	names := map[string]string{}
	for _, s := range list {
		names[string(s.ID)] = s.Name
	}
	return names, err
}

// promptText is a question as `prompts` shows it.
func promptText(one api.Prompt, session string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", one.ID, session, now.Sub(one.OpenedAt).Round(time.Second))
	if one.Answer != nil {
		fmt.Fprintf(&b, "  (%s is answering: %s)", one.Answer.Author, one.Answer.Chosen)
	}
	fmt.Fprintf(&b, "\n%s\n", one.Title)
	if one.Folder != "" {
		fmt.Fprintf(&b, "  In %s\n", one.Folder)
	}
	if one.Note != "" {
		fmt.Fprintf(&b, "  %s\n", one.Note)
	}
	if one.Cut {
		b.WriteString("    …\n")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(one.Body, "\n"), "\n") {
		if one.Body != "" {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if one.Disputed {
		b.WriteString("  The dialog shows what isn't in the agent's record of the call: only what refuses can be chosen here.\n")
	} else if one.Unseen {
		b.WriteString("  Not all of it can be seen: only what refuses can be chosen here.\n")
	}
	for _, o := range one.Options {
		if o.Offered {
			fmt.Fprintf(&b, "  %d. %s\n", o.N, o.Label)
		}
	}
	if one.Kind == sessions.PromptLine {
		fmt.Fprintf(&b, "  panebridge input %s TEXT\n", session)
	}
	if one.Text != "" && !one.Unseen {
		fmt.Fprintf(&b, "  --text: %s\n", one.Text)
	}
	return b.String()
}

func newAnswer(p *invocation) *cobra.Command {
	var asJSON bool
	var text string
	cmd := &cobra.Command{
		Use:   "answer PROMPT {OPTION… | --text TEXT}",
		Short: "Answer a question that an agent asks",
		Long: `Answer a question that an agent asks, as "panebridge prompts" lists them. An option is
given by its number or its label; several where any number may be chosen. Nothing is
pressed unless the very same question is still there. Exit code 1 if somebody else
answered first, or the question is gone.`,
		Example: "  panebridge answer pr_0123456789ab 1\n  panebridge answer pr_0123456789ab \"Allow once\"\n  panebridge answer pr_0123456789ab --text \"the second folder\"",
		Args:    takes(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := answerRequest(args[1:], text, cmd.Flags().Changed("text"))
			if err != nil {
				return err
			}
			c, err := p.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			ctx, cancel := p.callContext(cmd.Context(), c, answerTimeout)
			defer cancel()
			done, err := c.Answer(ctx, args[0], r)
			if err != nil {
				return calling(err)
			}
			if asJSON {
				return p.printJSON(done)
			}
			return p.printf("%s: %s\n", done.State, done.Answer.Chosen)
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "answer with a text, where the question takes one")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func answerRequest(options []string, text string, isText bool) (api.AnswerRequest, error) {
	if isText == (len(options) > 0) {
		return api.AnswerRequest{}, usageErrorf("give one or more options, or --text")
	}
	if isText {
		return api.AnswerRequest{Text: text}, nil
	}
	var all []api.PromptChoice
	for _, o := range options {
		c := api.PromptChoice{Label: o}
		if n, err := strconv.Atoi(o); err == nil && n > 0 {
			c = api.PromptChoice{N: n}
		}
		all = append(all, c)
	}
	return api.AnswerRequest{Options: all}, nil
}
