package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// examineAgents looks at the agents' hooks, and, with a daemon, at the programs that run
// in its sessions.
func (p *invocation) examineAgents(ctx context.Context, dir string, running bool) []finding {
	var list []api.Session
	var known []agent.Insight
	if running {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		c := client.New(statedir.SocketPath(dir))
		defer c.Close()
		var err error
		if list, err = c.Sessions(ctx); err == nil {
			known, err = c.Programs(ctx)
		}
		if err != nil {
			return []finding{{"agents", verdictWarning, "the daemon doesn't tell of its sessions: " + err.Error(), "Start the daemon anew, if it's of an older version than this."}}
		}
	}
	all := p.examineHooks(known)
	for _, s := range living(list) {
		if i := slices.IndexFunc(known, func(in agent.Insight) bool { return in.Session == s.ID }); i >= 0 {
			all = append(all, examineProgram(s, known[i])...)
		}
	}
	return all
}

// examineHooks looks at the hooks of agents that are there: their programs can be found,
// or run in a session.
func (p *invocation) examineHooks(known []agent.Insight) []finding {
	list, err := p.hooksOf(hooksFlags{scope: scopeUser}, agent.HookAgents())
	if err != nil {
		return []finding{{"hooks", verdictWarning, err.Error(), "`panebridge hooks status` says more."}}
	}
	var all []finding
	for _, to := range list {
		runs := slices.ContainsFunc(known, func(in agent.Insight) bool { return in.Program == to.Agent })
		status, err := to.Status()
		if _, missing := exec.LookPath(to.Agent); missing != nil && !runs && status == agent.HooksNotInstalled {
			continue // nobody has it here
		}
		all = append(all, hooksFinding(to, status, err))
	}
	return all
}

func hooksFinding(to agent.Install, status agent.InstallStatus, err error) finding {
	f := finding{Check: "hooks of " + to.Agent, State: verdictWarning, Fix: "`panebridge hooks install " + to.Agent + "` shows what it changes, and asks."}
	switch {
	case err != nil:
		f.Detail, f.Fix = err.Error(), "Correct the file: nothing is installed in one that can't be read."
	case status == agent.HooksInstalled:
		f.State, f.Detail, f.Fix = verdictOK, "installed", ""
	case status == agent.HooksOutdated:
		f.Detail = "outdated: another panebridge, state folder or version wrote them"
	default:
		f.Detail = "not installed: what it's doing is read from its screen, later and less surely"
	}
	return f
}

// examineProgram looks at an agent program that runs in a session.
func examineProgram(s api.Session, in agent.Insight) []finding {
	if in.Program == "" {
		return nil
	}
	name := "session " + s.Name
	var all []finding
	// Before it's asked something, a program may have none.
	if in.Unbound != "" && s.Turn.Number > 0 {
		fix := "With its hooks it's sure which is its."
		if slices.Contains(agent.HookAgents(), in.Program) {
			fix = "`panebridge hooks install " + in.Program + "`, and start the program anew: then it's sure which is its."
		}
		text := "its text is that of its pane"
		if in.Text == sessions.TextHeld {
			text = "its text is held back"
		}
		all = append(all, finding{name, verdictWarning, fmt.Sprintf("no transcript of %s is bound, so %s: %s", in.Program, text, in.Unbound), fix})
	}
	if agent.Untried(in.Version, in.MadeFrom) {
		all = append(all, finding{
			name, verdictWarning,
			fmt.Sprintf("%s %s runs, and its profile was tried with %s: questions and state may be misread", in.Program, in.Version, strings.Join(in.MadeFrom, ", ")),
			"A newer panebridge may know it. If something is wrong, `panebridge doctor record " + s.Name + "` makes a recording for a report;\n" +
				"profiles." + in.Program + " in the configuration can correct the profile, and with made_from say that it's right.",
		})
	}
	if in.Skipped > 0 {
		all = append(all, finding{
			name, verdictWarning, count(in.Skipped, "record", "records") + " of " + in.Transcript + " not understood, and left out",
			"A newer panebridge may know them; if answers are missing, `panebridge doctor record " + s.Name + "` makes a recording for a report.",
		})
	}
	if len(all) == 0 {
		f := finding{Check: name, State: verdictOK, Detail: programOf(in) + "; text " + textOf(in)}
		if s.Turn.Number == 0 {
			f.Detail = programOf(in) + "; nothing was asked of it yet"
		}
		all = []finding{f}
	}
	return all
}

// recordFlags are those of `doctor record`.
type recordFlags struct {
	length  time.Duration
	out     string
	private bool
	asJSON  bool
}

func newDoctorRecord(p *invocation) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record SESSION",
		Short: "Record what an agent shows and panebridge makes of it, for a bug report",
		Long: `Record a session for a bug report: its pane ten times a second, the hooks that come,
the kinds and times of the transcript's records, and what panebridge believes of it all
and why. Repeat meanwhile what goes wrong; Ctrl-C ends it before its time.

Secrets are masked as in chats. With --private what's on the screen can't be read but
for the program's own signs (a spinner, "esc to interrupt"): of other words only the
length stays. Look through the file before you send it.`,
		Example:           "  panebridge doctor record work --for 2m --private",
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.length <= 0 || f.length > api.MaxRecording {
				return usageErrorf("--for is a length of time up to %s, such as 60s, not %s", api.MaxRecording, f.length)
			}
			c, err := p.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			return calling(p.record(cmd.Context(), c, args[0], f))
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.length, "for", time.Minute, "record for so `LONG`")
	flags.StringVar(&f.out, "out", "", "write to this `FILE` (else panebridge-SESSION-TIME.tar.gz in this folder)")
	flags.BoolVar(&f.private, "private", false, "make unreadable what isn't a sign of the program's")
	jsonFlag(cmd, &f.asJSON)
	_ = cmd.MarkFlagFilename("out", "tar.gz")
	return cmd
}

// recorded is what `doctor record --json` prints.
type recorded struct {
	File    string        `json:"file"`
	Agent   string        `json:"agent"`
	Version string        `json:"version,omitempty"`
	Seconds float64       `json:"seconds"`
	Ended   string        `json:"ended"` // why
	Private bool          `json:"private"`
	Counts  format.Counts `json:"counts"`
}

func (p *invocation) record(ctx context.Context, c *client.Client, session string, f recordFlags) error {
	asked, cancel := context.WithTimeout(ctx, callTimeout)
	s, err := findLiving(asked, c, session)
	cancel()
	if err != nil {
		return err
	}
	if !f.asJSON {
		p.notef("Recording %s for %s; Ctrl-C ends it.", s.Name, f.length)
	}
	ctx, stop := untilSignal(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var a format.Archive
	done := recorded{Private: f.private, Ended: "the daemon ended"}
	err = c.Record(ctx, string(s.ID), f.length, f.private, func(it format.Item) error {
		done.Seconds = it.T
		if it.End != nil {
			done.Ended = it.End.Why
		}
		return a.Add(it)
	})
	switch {
	case a.Counts.Frames == 0 && err != nil:
		return err
	case ctx.Err() != nil:
		done.Ended = "it was stopped"
	case err != nil:
		p.notef("panebridge: the recording ends early: %v", err)
	}
	name := recordingName(s.Name, a.Head.Epoch)
	if done.File = f.out; done.File == "" {
		done.File = "panebridge-" + name + ".tar.gz"
	}
	if err := writeRecording(&a, done.File, name); err != nil {
		return err
	}
	if path, err := filepath.Abs(done.File); err == nil {
		done.File = path
	}
	done.Agent, done.Version, done.Counts = a.Head.Agent, a.Head.Version, a.Counts
	if f.asJSON {
		return p.printJSON(done)
	}
	return p.printRecorded(done)
}

func writeRecording(a *format.Archive, path, name string) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: give another with --out", path)
	}
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return errors.Join(a.WriteTo(file, name), file.Close())
}

var notName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// recordingName is how a recording is called.
func recordingName(session string, at time.Time) string {
	name := strings.Trim(notName.ReplaceAllString(session, "-"), "-")
	if name == "" {
		name = "session"
	}
	return name + "-" + at.UTC().Format("20060102-150405")
}

func (p *invocation) printRecorded(r recorded) error {
	program := r.Agent
	if r.Version != "" {
		program += " " + r.Version
	}
	has := "what was on its screen, the texts and folders that hooks told, kinds and times of the\n" +
		"transcript's records and how answers begin, with secrets masked: all else can be read."
	if r.Private {
		has = "the program's own signs, and of all other words only their length; of hooks and the\n" +
			"transcript kinds, times and the names of tools; no folders."
	}
	return p.printf(`%s

%.0f s of %s (%s): %s of its screen, %s, %s, %s of its transcript.
It has %s
Besides what panebridge believed, and why.
Look through it before you send it: tar -xzf FILE, then gzip -dc on what ends in .gz.
`, r.File, r.Seconds, program, r.Ended, count(r.Counts.Frames, "change", "changes"), count(r.Counts.Hooks, "hook", "hooks"),
		count(r.Counts.Verdicts, "change of what's believed", "changes of what's believed"), count(r.Counts.Records, "record", "records"), has)
}
