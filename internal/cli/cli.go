package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/config"
)

// Stdio is where a command reads and writes.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the command that args (without the program's name) ask for, and
// returns the exit code. The version is that of the build, "" when unknown. It
// handles signals itself, so ctx need not.
func Main(ctx context.Context, version string, args []string, stdio Stdio, env func(string) (string, bool)) int {
	p := &program{version: version, stdio: stdio, env: env}
	if len(args) > 0 && args[0] == hookCommand && !wantsHelp(args) {
		return p.hook(ctx, args[1:]) // an agent waits: no time for what the others need
	}
	root := newRoot(p) //nolint:contextcheck // commands have their context from cobra when they run
	root.SetArgs(args)
	return p.finish(root.ExecuteContext(ctx))
}

// program is what all commands share.
type program struct {
	version string
	stdio   Stdio
	env     config.Env

	configFlag   string
	stateDirFlag string
}

func newRoot(p *program) *cobra.Command {
	root := newGroup("panebridge", "Mirror agent sessions that run in tmux, and write back to them",
		newInit(p), newRun(p), newDemo(p), newDemoAgent(p), newDoctor(p), newConfig(p),
		newSessions(p), newInput(p), newKeys(p), newPrompts(p), newAnswer(p), newTail(p), newScreen(p), newWait(p),
		newBind(p), newUnbind(p), newPair(p), newAccess(p), newPage(p), newStatus(p), newRedis(p), newHook(p), newHooks(p),
		newFleet(p), newMembers(p), newSend(p), newBroadcast(p), newPoll(p), newAck(p), newCancel(p), newPing(p), newNotify(p), newListen(p), newSubscribe(p), newSkill(p),
		newVersion(p),
	)
	root.Long = `panebridge mirrors agent sessions that run in tmux, line by line, to a local page
and carries what's written there back into the pane.

"panebridge demo" shows it without any configuration, "panebridge init" sets up a bot
on Telegram.`
	root.Version = p.versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(p.stdio.In)
	root.SetOut(p.stdio.Out)
	root.SetErr(p.stdio.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	flags := root.PersistentFlags()
	flags.StringVar(&p.configFlag, "config", "", "configuration `FILE` (else PANEBRIDGE_CONFIG, else panebridge/config.yaml in your configuration folder)")
	flags.StringVar(&p.stateDirFlag, "state-dir", "", "`FOLDER` for database and socket (else PANEBRIDGE_STATE_DIR, else panebridge in your state folder)")
	_ = root.MarkPersistentFlagFilename("config", "yaml", "yml") // fails only for a flag that isn't there
	_ = root.MarkPersistentFlagDirname("state-dir")
	return root
}
