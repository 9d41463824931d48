package agent

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// spec is a profile as it's written in YAML. All patterns are regular expressions of
// Go's syntax, in which ^ and $ mean the beginning and the end of a row. Rows are
// without the blanks at their ends.
type spec struct {
	// MadeFrom are the versions of the program that were looked at.
	MadeFrom   []string          `yaml:"made_from"`
	Program    recognition       `yaml:"program"`
	Transcript transcript.Format `yaml:"transcript"`
	// Shell says that it starts other programs, which then have the screen.
	Shell bool `yaml:"shell"`
	// Dialogs are phrases that stand on the screen while a dialog is open, in lower
	// case. AllDialogs adds those of all other profiles.
	Dialogs    []string `yaml:"dialogs"`
	AllDialogs bool     `yaml:"all_dialogs"`
	// Prompts are the forms of dialogs that can be read and answered. AllDialogs adds
	// those of all other profiles.
	Prompts []dialogForm `yaml:"prompts"`
	Screen  furniture    `yaml:"screen"`
	Input   boxSpec      `yaml:"input"`
	// Signs are asked one after the other; the first that's found is believed.
	Signs []screenMark `yaml:"signs"`
	// Interrupted are rows at the end of a conversation that was interrupted.
	Interrupted []pattern `yaml:"interrupted"`
	// Interrupt are the keys that end a turn.
	Interrupt []string `yaml:"interrupt"`
	// Resume are arguments with which the program goes on with a conversation; "{id}"
	// stands for the program's own id of it.
	Resume []string `yaml:"resume"`
	Quiet  quiet    `yaml:"quiet"`
}

// recognition says how a process is recognised.
type recognition struct {
	// Names are patterns of the program's name without its folder.
	Names []pattern `yaml:"names"`
	// Scripts are patterns of the path that node, bun or deno run.
	Scripts []pattern `yaml:"scripts"`
	// Only are first arguments of which the program has one; none: it has any.
	Only []pattern `yaml:"only"`
	// Except are first arguments with which the program draws nothing.
	Except []pattern `yaml:"except"`
}

// furniture says which rows of the screen aren't the conversation.
type furniture struct {
	// Header are the rows at the top that stay or aren't text. Each pattern stands for
	// one row; those that match in succession from the top are the header.
	Header []pattern `yaml:"header"`
	// Foot says where the lower part begins, which has the input box. A pattern is
	// matched at the beginning of a row and may go on over the rows below; the lowest
	// match counts.
	Foot []pattern `yaml:"foot"`
	// Menu is what stands where a foot begins and isn't one: a dialog in the place of the
	// input box. It's matched as Foot is.
	Menu []pattern `yaml:"menu"`
	// Above are rows directly above the foot, or at the screen's end where there is no
	// foot, that belong to it: spinner, tips. Blank rows do in any case. A pattern may
	// stand for up to eight rows, all of which it must match.
	Above []pattern `yaml:"above"`
	// Dialog says where an open dialog begins, as Foot does.
	Dialog []pattern `yaml:"dialog"`
	// Inside are the rows that a dialog may have below its first: the first row above it
	// that's none of them isn't its. Where what a dialog is about can look like a dialog's
	// first row, that tells which of several is. None: nothing in a dialog looks like its
	// first row.
	Inside []pattern `yaml:"inside"`
	// Behind are the rows with which calls begin that wait behind the one that a dialog asks
	// about. They stand below its options, with rows as Inside has them.
	Behind []pattern `yaml:"behind"`
	// Asked are such rows of the call that it asks about.
	Asked []pattern `yaml:"asked"`
	// Rows are rows anywhere that say something about the conversation without being
	// it: how long an answer took, say. Patterns may go on over several rows.
	Rows []pattern `yaml:"rows"`
	// Prompt is what the person wrote, as it stands in the conversation. It may go on
	// over several rows. What's above the last one was seen before.
	Prompt []pattern `yaml:"prompt"`
	// Scrollbar is what a scroll bar looks like at the right end of a row. It's cut off
	// there.
	Scrollbar []pattern `yaml:"scrollbar"`
	// Track is what the rest of a scroll bar is drawn with, in the pane's last column. "":
	// nothing.
	Track string `yaml:"track"`
}

// where is a part of the screen.
type where string

const (
	inTitle  where = "title"
	inDialog where = "dialog" // an open dialog: it has one of the profile's phrases
	inFoot   where = "foot"   // the input box and what belongs to it
	inEnd    where = "end"    // the last three rows of the conversation that aren't blank
	inCursor where = "cursor" // the row of the cursor, up to it
	inScreen where = "screen" // all visible rows
)

// screenMark is something that can be seen and tells a state.
type screenMark struct {
	// State is starting, idle, working, waiting, error, or unsure: it says nothing,
	// and neither do the signs after it.
	State sessions.State `yaml:"state"`
	In    where          `yaml:"in"`
	// Match must be found there, Without must not. No Match: there is such a part.
	Match   *pattern `yaml:"match"`
	Without *pattern `yaml:"without"`
	// Sure says that the sign is never drawn in passing.
	Sure bool `yaml:"sure"`
}

// unsure is the state of a sign that says nothing.
const unsure sessions.State = "unsure"

// quiet says for how long a program is left to make itself clear.
type quiet struct {
	// Confirm is how long a screen must say "idle" before it's believed.
	Confirm duration `yaml:"confirm"`
	// Behind is how long a screen may be behind what a hook told.
	Behind duration `yaml:"behind"`
	// Begin is how long a turn may take to show on the screen.
	Begin duration `yaml:"begin"`
	// Block is how long the end of a turn waits for the transcript's last block.
	Block duration `yaml:"block"`
	// Change is how long a program without signs of its own counts as working after its
	// screen changed.
	Change duration `yaml:"change"`
}

// standardQuiet has what a profile leaves out. Screens were seen up to 0.6 s behind a
// hook (Gemini CLI), blocks up to 0.3 s.
var standardQuiet = quiet{ //nolint:gochecknoglobals // a constant table
	Confirm: duration(300 * time.Millisecond),
	Behind:  duration(time.Second),
	Begin:   duration(5 * time.Second),
	Block:   duration(time.Second),
	Change:  duration(3 * time.Second),
}

func (q quiet) orStandard() quiet {
	or := func(d *duration, standard duration) {
		if *d == 0 {
			*d = standard
		}
	}
	or(&q.Confirm, standardQuiet.Confirm)
	or(&q.Behind, standardQuiet.Behind)
	or(&q.Begin, standardQuiet.Begin)
	or(&q.Block, standardQuiet.Block)
	or(&q.Change, standardQuiet.Change)
	return q
}

// pattern is a regular expression that's compiled while it's read, so that an error
// has its line.
type pattern struct {
	*regexp.Regexp
	row   *regexp.Regexp // the same at the beginning of a text only
	whole *regexp.Regexp // the same for all of a text
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *pattern) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("must be a regular expression")
	}
	if _, err := regexp.Compile(n.Value); err != nil {
		return fmt.Errorf("must be a regular expression of Go's syntax: %w", err)
	}
	re, err := regexp.Compile("(?m:" + n.Value + ")") // which is longer, and may be too long
	if err != nil {
		return fmt.Errorf("must be a regular expression of Go's syntax: %w", err)
	}
	p.Regexp, p.row = re, regexp.MustCompile(`\A(?m:`+n.Value+")")
	p.whole = regexp.MustCompile(`\A(?m:` + n.Value + `)\z`)
	return nil
}

// duration is written as "300ms".
type duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("must be a length of time above 0, such as 300ms, not %q", n.Value)
	}
	*d = duration(v)
	return nil
}
