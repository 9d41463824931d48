package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
)

// Stdio is where a command reads and writes.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the command that args (without the program's name) ask for, and
// returns the exit code. It handles signals itself, so ctx need not.
func Main(ctx context.Context, build Build, args []string, stdio Stdio, env func(string) (string, bool)) int {
	p := &invocation{build: build, stdio: stdio, env: env}
	if len(args) > 0 && args[0] == hookCommand && !wantsHelp(args) {
		return p.hook(ctx, args[1:]) // an agent waits: no time for what the others need
	}
	root := newRoot(p) //nolint:contextcheck // commands have their context from cobra when they run
	root.SetArgs(args)
	return p.finish(root.ExecuteContext(ctx))
}

// invocation is what all commands share.
type invocation struct {
	build Build
	stdio Stdio
	env   config.Env

	configFlag   string
	stateDirFlag string
}

func newRoot(p *invocation) *cobra.Command {
	root := newGroup("panebridge", "Mirror agent sessions that run in tmux, and write back to them", newVersion(p))
	addGroup(root, "To begin with", newDemo(p), newInit(p), newRun(p), newService(p), newDemoAgent(p), newDoctor(p), newConfig(p), newHook(p), newHooks(p), newStatus(p), newBackup(p), newRestore(p))
	addGroup(root, "Sessions", newSessions(p), newInput(p), newReceipts(p), newKeys(p), newPrompts(p), newAnswer(p), newTail(p), newSearch(p), newDiff(p), newUsage(p), newContinue(p), newScreen(p), newWait(p))
	addGroup(root, "Chats, the page, and who may use them", newBind(p), newUnbind(p), newPair(p), newAccess(p), newPage(p), newQoS(p), newRedis(p))
	addGroup(root, "Agents among themselves, and to people",
		newFleet(p), newMembers(p), newSend(p), newBroadcast(p), newPoll(p), newAck(p), newCancel(p), newPing(p), newNotify(p), newListen(p), newSubscribe(p), newAsk(p), newShow(p), newSkill(p),
	)
	root.Long = `panebridge mirrors agent sessions that run in tmux, line by line, to chat platforms and
a local page, and carries what's written there back into the pane.

"panebridge demo" shows it without any configuration, "panebridge init" sets up a bot
on Telegram or Discord.`
	root.Version = p.versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(p.stdio.In)
	root.SetOut(p.stdio.Out)
	root.SetErr(p.stdio.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetHelpFunc(p.filledHelp(root.HelpFunc()))
	flags := root.PersistentFlags()
	flags.StringVar(&p.configFlag, "config", "", "configuration `FILE` (else PANEBRIDGE_CONFIG, else panebridge/config.yaml in your configuration folder)")
	flags.StringVar(&p.stateDirFlag, "state-dir", "", "`FOLDER` for database and socket (else PANEBRIDGE_STATE_DIR, else panebridge in your state folder)")
	_ = root.MarkPersistentFlagFilename("config", "yaml", "yml") // fails only for a flag that isn't there
	_ = root.MarkPersistentFlagDirname("state-dir")
	return root
}

// Tree returns all commands, for documents that are made of them. None of them may be run.
func Tree() *cobra.Command { return newRoot(&invocation{}) }

// IsGroup reports whether a command only has others below it.
func IsGroup(cmd *cobra.Command) bool { return cmd.Annotations[groupMark] != "" }

// groupMark is the annotation of a command that only has others below it.
const groupMark = "group"

// newGroup returns a command that only has others below it.
func newGroup(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: unknownCommand, ValidArgsFunction: cobra.NoFileCompletions,
		Annotations: map[string]string{groupMark: "yes"},
	}
	cmd.AddCommand(below...)
	return cmd
}

// addGroup adds commands that the help of root lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	root.AddCommand(commands...)
}

// usageTemplate changes cobra's so that a group isn't said to run by itself.
func usageTemplate(text string) string {
	return strings.NewReplacer(
		"{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}",
		"[command]", "COMMAND", "Available Commands", "Commands", "Additional Commands", "Other",
	).Replace(text)
}

// filledHelp prints a help as wide as the terminal.
func (p *invocation) filledHelp(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		var text strings.Builder
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(p.stdio.Out)
		_ = p.sayf("%s", text.String()) // nobody is left to tell
	}
}

// unknownCommand is what a group runs: nothing below it was meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	path := cmd.CommandPath()
	if len(args) == 0 {
		_ = cmd.Help() // to standard output, which is gone if it fails
		return silently(exitUsage)
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usageErrorf("there is no command `%s %s`: did you mean `%s %s`?", path, args[0], path, near[0])
	}
	return usageErrorf("there is no command `%s %s`: `%s --help` lists those there are", path, args[0], path)
}

// flagError makes a hint of what's wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("invalid argument %q for \"--%s\" flag: %w", wrong.GetValue(), wrong.GetFlag().Name, wanted(wrong))
	}
	return usageErrorf("%w: `%s --help` lists the flags, and what begins with - but is none goes behind --", err, cmd.CommandPath())
}

// wanted says what a flag takes. Flags of our own types say it themselves.
func wanted(wrong *pflag.InvalidValueError) error {
	number, isNumber := errors.AsType[*strconv.NumError](wrong)
	switch {
	case isNumber && errors.Is(number, strconv.ErrRange):
		return errors.New("it takes a smaller number")
	case isNumber:
		return errors.New("it takes a whole number")
	}
	if strings.HasPrefix(wrong.Unwrap().Error(), "time: ") { // of time.ParseDuration
		return errors.New("it takes a span of time, such as 500ms, 30s or 5m")
	}
	return wrong.Unwrap()
}

// takes checks the number of a command's arguments; most < 0 is no limit.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageErrorf("something is missing: %s", useLine(cmd))
		case most >= 0 && len(args) > most:
			return usageErrorf("%q is too much: %s", args[most], useLine(cmd))
		}
		return nil
	}
}

func useLine(cmd *cobra.Command) string {
	return "`" + strings.TrimSuffix(cmd.UseLine(), " [flags]") + "` (--help says more)"
}

// Exit codes.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2 // wrong usage or configuration
	exitNotRunning = 3 // the daemon isn't running, and is needed
	exitTimedOut   = 4
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error // nil: all has been said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErrorf is for what the person who typed the command can correct.
func usageErrorf(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// silently ends with an exit code when a command has printed what's wrong.
func silently(code int) error { return &exitError{code: code} }

// finish prints an error and returns the exit code.
func (p *invocation) finish(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err != nil {
			p.printError(e.err)
		}
		return e.code
	}
	if errors.Is(err, client.ErrNotRunning) {
		dir, _ := p.stateDir() // it was found before
		p.notef("panebridge: the daemon isn't running, as nobody listens on %s: start it with `%s`", statedir.SocketPath(dir), p.starter(dir))
		return exitNotRunning
	}
	p.printError(err)
	if _, wrong := errors.AsType[*config.Errors](err); wrong {
		return exitUsage
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return exitTimedOut
	}
	return exitFailed
}

// printError prints a sentence; problems of a configuration are one a line, as
// editors and people read them.
func (p *invocation) printError(err error) {
	if problems, ok := errors.AsType[*config.Errors](err); ok {
		_, _ = fmt.Fprintln(p.stdio.Err, problems) // one a line, whatever its width: see notef
		return
	}
	switch {
	case errors.Is(err, fs.ErrPermission) && errors.Is(err, errCalling):
		p.notef("panebridge: no permission on the daemon's socket: run this as the user who runs the daemon (%v)", err)
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(err, errCalling):
		p.notef("panebridge: the daemon took too long to answer: `panebridge doctor` says what is wrong with it (%v)", err)
	default:
		p.notef("panebridge: %s", sessions.Legible(err.Error())) // it may have somebody's words
	}
}
