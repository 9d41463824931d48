package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions/agent"
)

// newInit is the command that sets up a platform, with one below it for each. Without one of these, a person is asked; else it's
// the first.
func newInit(p *invocation) *cobra.Command {
	var below []*cobra.Command
	for _, d := range platforms() {
		cmd := newInitOf(p, d)
		cmd.Use = d.Name
		below = append(below, cmd)
	}
	below = append(below, newInitPage(p))
	cmd := newInitOf(p, platforms()[0])
	of := cmd.RunE
	cmd.Use, cmd.Short = "init", "Set panebridge up, question by question"
	cmd.Long = `Set panebridge up: with a bot, or the page alone. If there's a terminal and no flag is given you're asked which;
the commands below say what's asked then, and do it without that question. Without a
terminal, or with flags, it's the first platform's:

` + cmd.Long
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ask := newAsker(p)
		if !ask.HasPerson() || cmd.Flags().NFlag() > 0 {
			return of(cmd, args)
		}
		chosen, err := p.askPlatform(cmd.Context(), ask)
		if err != nil {
			return err
		}
		one := below[slices.IndexFunc(below, func(c *cobra.Command) bool { return c.Use == chosen })]
		one.SetContext(cmd.Context())
		return one.RunE(one, args)
	}
	cmd.AddCommand(below...)
	return cmd
}

// platforms are those that have a setup.
func platforms() []platform.Descriptor {
	return slices.DeleteFunc(all.Platforms(), func(d platform.Descriptor) bool { return d.Setup == nil })
}

// askPlatform asks for which platform the bot is, and returns its name.
func (p *invocation) askPlatform(ctx context.Context, ask *asker) (string, error) {
	ctx, stop := untilSignal(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var names []string
	for _, d := range platforms() {
		names = append(names, d.Name)
	}
	for {
		text, err := ask.Ask(ctx, fmt.Sprintf("Where do you want to have your sessions, on %s, or on the page alone? [%s]", strings.Join(names, " or "), names[0]), "say which: panebridge init "+names[0])
		if err != nil {
			if s, ok := errors.AsType[*stopSignal](context.Cause(ctx)); ok {
				p.notef("\npanebridge: stopped (%v); nothing was written", s.sig)
				return "", silently(exitFailed)
			}
			return "", err
		}
		for _, name := range append(names, pageOnly) {
			if text == "" || strings.HasPrefix(name, strings.ToLower(text)) {
				return name, nil
			}
		}
	}
}

// pageOnly is the name of the setup that's of no chat.
const pageOnly = "page"

// newInitPage is the command that sets panebridge up without a chat.
func newInitPage(p *invocation) *cobra.Command {
	var of initStepFlags
	cmd := &cobra.Command{
		Use:   pageOnly,
		Short: "Set up the page alone, without a bot",
		Long: `Set up the page alone, without a bot. That takes no configuration: it's asked whether to install
the hooks of the agents that are found, whether to run the daemon as a service, and which tmux sessions to mirror.
Each of these has a command of its own, too.`,
		Example: "  panebridge init page\n  panebridge init page --hooks all --service --adopt work",
		Args:    takes(0, 0),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := untilSignal(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		if err := p.sayWithoutTmux(ctx); err != nil {
			return err
		}
		if err := p.sayAgents(); err != nil {
			return err
		}
		err := initSteps{invocation: p, ask: newAsker(p), flags: cmd.Flags(), of: of}.ofPage().run(ctx)
		if s, ok := errors.AsType[*stopSignal](context.Cause(ctx)); ok && err != nil {
			p.notef("\npanebridge: stopped (%v)", s.sig)
			return silently(exitFailed)
		}
		return err
	}
	of.add(cmd.Flags())
	return cmd
}

// newInitOf is the command that sets up one platform.
func newInitOf(p *invocation, d platform.Descriptor) *cobra.Command {
	setup := d.Setup()
	var steps initStepFlags
	cmd := &cobra.Command{
		Short:   setup.Short,
		Long:    setup.Long,
		Example: setup.Example,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, f := range setup.Flags {
				if f.Given != nil {
					*f.Given = cmd.Flags().Changed(f.Name)
				}
			}
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			err := p.init(ctx, d, setup, cmd.Flags(), steps)
			if s, ok := errors.AsType[*stopSignal](context.Cause(ctx)); ok && err != nil {
				written := "nothing was written"
				if errors.Is(err, errConfigured) {
					written = "the configuration is there, and `panebridge run` starts the daemon"
				}
				if errors.Is(err, platform.ErrPartlyKept) {
					written = "nothing was written but the oldest messages that waited for the bot, into the daemon's database"
				}
				p.notef("\npanebridge: stopped (%v); %s", s.sig, written)
				return silently(exitFailed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&steps.test, "test-message", false, "send a message to the chat, to see that it comes")
	steps.add(cmd.Flags())
	for _, f := range setup.Flags {
		switch value := f.Value.(type) {
		case *string:
			cmd.Flags().StringVar(value, f.Name, "", f.Help)
		case *int64:
			cmd.Flags().Int64Var(value, f.Name, 0, f.Help)
		}
		if strings.HasSuffix(f.Name, "-file") {
			_ = cmd.MarkFlagFilename(f.Name) // fails only for a flag that isn't there
		}
	}
	return cmd
}

func (p *invocation) init(ctx context.Context, d platform.Descriptor, setup platform.Setup, flags *pflag.FlagSet, of initStepFlags) error {
	if err := closeMemory(); err != nil {
		return err
	}
	if err := p.sayWithoutTmux(ctx); err != nil {
		return err
	}
	path, _, err := config.Path(p.configFlag, p.env)
	if err != nil {
		return usageErrorf("%w", err)
	}
	if path, err = absoluteFile(path); err != nil {
		return err
	}
	stateDir, err := p.stateDir()
	if err != nil {
		return err
	}
	_, missing := os.Lstat(path)
	files := func(c platform.FirstConfig) app.FirstFiles { return app.FirstFiles{File: path, FirstConfig: c} }
	steps := initSteps{invocation: p, ask: newAsker(p), flags: flags, of: of}
	var written *app.FirstFiles
	err = setup.Run(ctx, platform.SetupHost{
		Asker: steps.ask, Printf: p.sayf, UsageErrorf: usageErrorf,
		PrintFinding: func(f findings.Finding) error { return p.printFinding(checksOf([]findings.Finding{f})[0]) },
		Title:        d.Title, Again: "panebridge init " + d.Name, File: path, Exists: missing == nil, StateDir: stateDir,
		KeepUpdates: func(ctx context.Context, updates []intake.Update, handled string) error {
			return app.KeepUpdates(ctx, stateDir, d.Name, updates, handled)
		},
		CheckToken: func(c platform.FirstConfig) error { return files(c).Check() },
		KeepToken:  func(c platform.FirstConfig) error { return files(c).KeepToken() },
		Write: func(ctx context.Context, c platform.FirstConfig) error {
			f := files(c)
			there, err := p.writeFirst(f)
			if err != nil || !there {
				return err
			}
			written = &f
			return steps.greetChat(ctx, f.Greet)
		},
	})
	if err == nil && written != nil {
		err = steps.ofChat(written.Mirrors).run(ctx)
	}
	if err != nil && written != nil {
		return fmt.Errorf("%w: %w", errConfigured, err)
	}
	if err != nil {
		return fmt.Errorf("set up %s: %w", d.Title, err)
	}
	return nil
}

// errConfigured is the error of a setup that ended once its files were there.
var errConfigured = errors.New("the configuration is there, but not all that was to be done behind it")

// writeFirst writes what a setup has found out. written is false if there's a configuration already, to which a person has
// to add it.
func (p *invocation) writeFirst(f app.FirstFiles) (written bool, err error) {
	if written, err = f.Write(p.env); err != nil {
		return false, err
	}
	f.Written()
	if f.Token.Reveal() != "" {
		if err := p.sayf("\nThe token is in %s, which only you can read.\n", f.TokenFile); err != nil {
			return false, err
		}
	}
	if !written {
		return false, p.sayWhatToAdd(f)
	}
	if err := p.sayf("\nThe configuration is in %s.\n", f.File); err != nil {
		return true, err
	}
	if f.Undone {
		if err := p.sayf("What's said above is still to be put right; `panebridge doctor` looks again.\n"); err != nil {
			return true, err
		}
	}
	return true, p.sayAgents()
}

// sayWhatToAdd says what a configuration lacks that's there already.
func (p *invocation) sayWhatToAdd(f app.FirstFiles) error {
	const most = 1 << 20 // bytes
	text, err := regular.Read(f.File, most)
	if err == nil && config.Holds(text, []byte(f.YAML)) {
		return p.sayf("\n%s says all of this already: there's nothing to be added.\nStart the daemon anew if it runs, or else: panebridge run\n", f.File)
	}
	return errors.Join(
		p.sayf("\nKeys that a configuration has already aren't written twice: what's below them here goes below them there.\nAdd to %s:\n\n", f.File),
		p.printf("%s\n", f.YAML),
		p.sayf("Then: panebridge config check, and start the daemon anew.\n"),
	)
}

// sayWithoutTmux says what to do where there's no tmux that can be used.
func (p *invocation) sayWithoutTmux(ctx context.Context) error {
	f, usable := examineTmux(ctx)
	if usable {
		return nil
	}
	return p.printFinding(f)
}

// sayAgents says which agents can be begun without being configured, as the daemon finds them in
// the same PATH.
func (p *invocation) sayAgents() error {
	profiles, err := agent.LoadSet()
	if err != nil {
		return err
	}
	path, _ := p.env("PATH")
	found := app.FindAgents(path, profiles)
	if len(found.Found) == 0 {
		return p.sayf("\nNo agent was found: none of %s is in\n%s. What's elsewhere goes into the configuration, below agents.\n", strings.Join(found.Names, ", "), strings.Join(found.Folders, ", "))
	}
	return p.sayf("\nAgents that were found: %s. /new, written to a bot, and + New on the page begin one.\n", strings.Join(slices.Sorted(maps.Keys(found.Found)), ", "))
}
