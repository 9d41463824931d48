package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

const (
	tailLines = 20   // that a tail which follows begins with, unless told otherwise
	tailPage  = 1000 // lines read at once

	// How often a daemon that has gone is looked for.
	reconnectMin = 200 * time.Millisecond
	reconnectMax = 2 * time.Second
)

// tailFlags are the flags of `tail`.
type tailFlags struct {
	from     int64
	lines    int64
	follow   bool
	noFollow bool
	asJSON   bool
	tools    string // all, brief or none
	thinking string
}

func newTail(p *invocation) *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use:   "tail SESSION",
		Short: "Print a session's output as it comes",
		Long: `Print a session's output, line by line, until the session ends or Ctrl-C. Where
lines are missing, a line says so: "-- at least N lines missing: reason --". When
the daemon is started anew it goes on where it was.

--tools brief counts an agent's calls of tools in a line for each stretch of them, and
--tools none leaves them out; --thinking all prints what the agent thinks, too.

With --json it prints every event of the session, one JSON object a line: its key
"event" is output, gap, turn, state, live, prompt or exit.`,
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.from < 0 || f.lines < 0 {
				return usageErrorf("--from and --lines are numbers from 0")
			}
			given := cmd.Flags().Changed
			if given("from") && given("lines") {
				return usageErrorf("--from and --lines both say where to begin: give one of them")
			}
			for flag, extent := range map[string]string{"tools": f.tools, "thinking": f.thinking} {
				if !slices.Contains([]string{"all", "brief", "none"}, extent) {
					return usageErrorf("--%s is all, brief or none", flag)
				}
			}
			f.follow = f.follow && !f.noFollow
			if !f.follow && !given("from") && !given("lines") {
				f.lines = -1
			}
			if given("from") {
				f.lines = -1
			}
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			err := p.tail(ctx, args[0], f)
			if ctx.Err() != nil {
				return nil // interrupted, which is how it's meant to end
			}
			return calling(err)
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.from, "from", 0, "begin with line `N` (0: the oldest kept)")
	flags.Int64VarP(&f.lines, "lines", "n", tailLines, "begin with the last `N` lines (with --no-follow all, unless given)")
	flags.BoolVarP(&f.follow, "follow", "f", true, "go on with what comes")
	flags.BoolVar(&f.noFollow, "no-follow", false, "print what's there and end")
	flags.StringVar(&f.tools, "tools", "all", "how much of an agent's calls of tools is printed: all, brief or none")
	flags.StringVar(&f.thinking, "thinking", "none", "the same of what the agent thinks")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (p *invocation) tail(ctx context.Context, name string, f tailFlags) (err error) {
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	callCtx, cancel := context.WithTimeout(ctx, callTimeout)
	s, err := find(callCtx, c, name)
	cancel()
	if err != nil {
		return err
	}
	from := f.from
	if f.lines >= 0 {
		from = max(s.Lines-f.lines+1, 1)
	}
	t := &tailPrinter{invocation: p, client: c, id: string(s.ID), asJSON: f.asJSON, next: from, extents: map[sessions.LineKind]string{sessions.KindTool: f.tools, sessions.KindThought: f.thinking}}
	defer func() { err = errors.Join(err, t.countWork()) }()
	if !f.follow || s.State == sessions.StateEnded {
		return t.rest(ctx)
	}
	return t.follow(ctx)
}

// tailPrinter prints one session's events.
type tailPrinter struct {
	*invocation
	client *client.Client
	id     string
	asJSON bool
	// extents are how much is printed of lines, by kind: all, which "" is too, brief or none.
	extents map[sessions.LineKind]string
	work    sessions.WorkTally // what wasn't printed since the last line that was

	at   string         // id of the newest event that has one
	next int64          // number of the line to come
	gaps []sessions.Gap // printed since the line before next
}

// errEnded says that the session has ended, so that nothing more will come.
var errEnded = errors.New("the session has ended")

// rest prints what's in the log from the next line on.
func (t *tailPrinter) rest(ctx context.Context) error {
	for {
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		out, err := t.client.Output(callCtx, t.id, t.next, tailPage)
		cancel()
		if err != nil {
			return err
		}
		if err := t.page(out); err != nil {
			return err
		}
		if len(out.Lines) == 0 {
			return nil
		}
	}
}

// page prints a page of the log. Its gaps stand before, between and, on the
// last one, behind its lines; that behind the line before may be known.
func (t *tailPrinter) page(out api.Output) error {
	lines := out.Lines
	for _, g := range out.Gaps {
		if g.After < t.next && slices.Contains(t.gaps, g) {
			continue
		}
		n := 0
		for n < len(lines) && lines[n].N <= g.After {
			n++
		}
		if err := t.output(lines[:n]); err != nil {
			return err
		}
		if err := t.gap(g); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return t.output(lines)
}

func (t *tailPrinter) output(lines []sessions.Line) error {
	if len(lines) == 0 {
		return nil
	}
	t.next, t.gaps = lines[len(lines)-1].N+1, nil
	if t.asJSON {
		return t.printEvent(api.EventOutput, api.OutputEvent{Session: sessions.ID(t.id), First: lines[0].N, Lines: lines})
	}
	for _, line := range lines {
		switch t.extents[line.Kind] {
		case "none":
			continue
		case "brief":
			t.work.Add(sessions.TallyOf(line))
			continue
		}
		if err := t.countWork(); err != nil {
			return err
		}
		if err := t.printf("%s\n", lineText(line)); err != nil {
			return err
		}
	}
	return nil
}

// countWork prints how much work there was that wasn't printed.
func (t *tailPrinter) countWork() error {
	text := t.work.String()
	if t.work = (sessions.WorkTally{}); text == "" {
		return nil
	}
	return t.printf("%s\n", sessions.WorkMark+text)
}

// lineText is a line as it's printed: what didn't come from the pane is marked.
func lineText(l sessions.Line) string {
	switch l.Kind {
	case sessions.KindNotice:
		return "-- " + l.Text + " --"
	case sessions.KindUser:
		if l.Author != "" && l.Begins {
			return "> " + l.Author + ": " + l.Text
		}
		return "> " + l.Text
	default:
		return l.Text
	}
}

func (t *tailPrinter) gap(g sessions.Gap) error {
	t.gaps = append(t.gaps, g)
	if t.asJSON {
		return t.printEvent(api.EventGap, api.GapEvent{Session: sessions.ID(t.id), Gap: g})
	}
	if err := t.countWork(); err != nil {
		return err
	}
	return t.printf("%s\n", gapText(g))
}

func gapText(g sessions.Gap) string {
	switch g.AtLeast {
	case 0:
		return fmt.Sprintf("-- lines may be missing: %s --", g.Reason)
	case 1:
		return fmt.Sprintf("-- at least 1 line missing: %s --", g.Reason)
	default:
		return fmt.Sprintf("-- at least %d lines missing: %s --", g.AtLeast, g.Reason)
	}
}

// printEvent prints an event as one JSON object: its name, and its data.
func (t *tailPrinter) printEvent(name string, data any) error {
	var text bytes.Buffer
	if err := encode(&text, data, ""); err != nil {
		return err
	}
	return t.printRaw(name, bytes.TrimSpace(text.Bytes()))
}

func (t *tailPrinter) printRaw(name string, data []byte) error {
	sep := ","
	if string(data) == "{}" {
		sep = ""
	}
	return t.printf("{%q:%q%s%s\n", "event", name, sep, data[1:])
}

// follow prints events until the session or ctx ends. It waits for a daemon
// that is being restarted.
func (t *tailPrinter) follow(ctx context.Context) error {
	t.at = strconv.FormatInt(t.next, 10)
	lost, pause := false, reconnectMin
	for {
		err := t.client.Events(ctx, t.id, t.at, func(e client.Event) error {
			if lost {
				t.notef("panebridge: connected again")
			}
			lost, pause = false, reconnectMin
			return t.event(e)
		})
		switch {
		case errors.Is(err, errEnded):
			return t.rest(ctx)
		case ctx.Err() != nil:
			return ctx.Err()
		case !comesBack(err):
			return err
		}
		if !lost {
			t.notef("panebridge: the daemon is gone; waiting for it to come back (Ctrl-C ends this)")
		}
		lost = true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, reconnectMax)
	}
}

// comesBack reports whether a stream that ended so may be had again: the
// connection broke, or the daemon is stopping or starting.
func comesBack(err error) bool {
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return refused.Status >= http.StatusInternalServerError
	}
	_, broken := errors.AsType[*url.Error](err)
	return broken || errors.Is(err, client.ErrStreamEnded) || errors.Is(err, client.ErrNotRunning)
}

func decodeEvent(e client.Event, into any) error {
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("read event %s of the daemon: %w; is it of another version?", e.Name, err)
	}
	return nil
}

// event prints one event of the stream.
func (t *tailPrinter) event(e client.Event) error {
	if e.ID != "" {
		t.at = e.ID
	}
	switch e.Name {
	case api.EventOutput:
		var out api.OutputEvent
		if err := decodeEvent(e, &out); err != nil {
			return err
		}
		return t.output(out.Lines)
	case api.EventGap:
		var g api.GapEvent
		if err := decodeEvent(e, &g); err != nil {
			return err
		}
		return t.gap(g.Gap)
	case api.EventState:
		return t.state(e)
	}
	if t.asJSON {
		return t.printRaw(e.Name, e.Data)
	}
	return nil
}

// state ends the tail when the session has ended. That's the last thing of a
// session that ends; of one that had, it's the first, and lines may follow: so
// the rest is read from the log in either case.
func (t *tailPrinter) state(e client.Event) error {
	var s api.StateEvent
	if err := decodeEvent(e, &s); err != nil {
		return err
	}
	if t.asJSON {
		if err := t.printRaw(e.Name, e.Data); err != nil {
			return err
		}
	}
	if s.State == sessions.StateEnded {
		return errEnded
	}
	return nil
}

func newScreen(p *invocation) *cobra.Command {
	var format string
	var asJSON bool
	formats := []cobra.Completion{"text", "ansi", "html"}
	cmd := &cobra.Command{
		Use:               "screen SESSION",
		Short:             "Print a session's pane as it looks now",
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			if !slices.Contains(formats, format) {
				return usageErrorf("--format is one of %s, not %q", strings.Join(formats, ", "), format)
			}
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			text, err := c.Screen(ctx, string(s.ID), format)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]any{"session": s.ID, "format": format, "screen": text})
			}
			return p.printf("%s", text)
		}),
	}
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, ansi (with colours) or html")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	jsonFlag(cmd, &asJSON)
	return cmd
}
