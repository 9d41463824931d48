package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/recording/format"
)

// recordFlags are those of `doctor record`.
type recordFlags struct {
	length  time.Duration
	out     string
	private bool
	asJSON  bool
}

func newDoctorRecord(p *program) *cobra.Command {
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

func (p *program) record(ctx context.Context, c *client.Client, session string, f recordFlags) error {
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

func (p *program) printRecorded(r recorded) error {
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
