package agent

import (
	"bytes"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// writing is what a program was seen to write since its transcript went on: rows of its
// screen, of which each look brings the last. Some programs never put into their transcripts
// what they were writing when they were stopped, and one that's killed can't.
type writing struct {
	rows  []string
	width int                   // of the screen; in another the rows are others
	last  transcript.RecordKind // of the turn's last record; "": it has none but what was asked
	fail  bool                  // that's of a tool that failed, or was refused
	asked string                // letters of what the person wrote last
	was   string                // and of what the person had written before that
}

// keptWriting is what's kept of it: of its rows the last, since more stand on the screen still.
type keptWriting struct {
	Rows  []string              `json:"rows,omitempty"`
	Width int                   `json:"width,omitempty"`
	Last  transcript.RecordKind `json:"last,omitempty"`
	Fail  bool                  `json:"fail,omitempty"`
	Asked string                `json:"asked,omitempty"`
	Was   string                `json:"was,omitempty"`
}

func (w *writing) keep() keptWriting {
	from := len(w.rows)
	for size := 0; from > 0 && size+len(w.rows[from-1]) <= maxKeptText; from-- {
		size += len(w.rows[from-1])
	}
	return keptWriting{w.rows[from:], w.width, w.last, w.fail, start(w.asked), start(w.was)}
}

func (k keptWriting) writing() writing {
	return writing{rows: k.Rows, width: k.Width, last: k.Last, fail: k.Fail, asked: k.Asked, was: k.Was}
}

const (
	maxWriting  = 2000 // rows
	anchorShort = 3    // rows by which it's known where a screen goes on
)

// noteRecords takes in what the transcript says: what it has isn't only on the screen any more.
func (w *writing) noteRecords(records []transcript.Record) {
	for _, r := range records {
		switch r.Kind {
		case transcript.User:
			w.last, w.fail = "", false
			w.was, w.asked = w.asked, letters(r.Text)
		case transcript.Answer, transcript.Tool, transcript.ToolResult, transcript.Question:
			w.last, w.fail, w.rows = r.Kind, r.Failed, nil
		default: // nothing that was said
		}
	}
}

// endTurn forgets what was written.
func (w *writing) endTurn() { *w = writing{asked: w.asked} }

// hasTool reports whether the transcript has a tool at work: what's new on the screen is its.
func (w *writing) hasTool() bool { return w.last == transcript.Tool || w.last == transcript.Question }

// noteRows takes in rows of a look at the conversation, behind what the person wrote last.
func (w *writing) noteRows(rows []string, width int) {
	if w.hasTool() || len(rows) == 0 {
		return
	}
	if width != w.width {
		w.rows, w.width = nil, width
	}
	w.rows = joinTexts(w.rows, rows)
	w.rows = w.rows[max(0, len(w.rows)-maxWriting):]
}

// joinTexts puts rows of a screen behind those of looks before: from the first place on at
// which some of them stand in both.
func joinTexts(old, rows []string) []string {
	for i := range rows {
		anchor := rows[i:min(i+anchorShort, len(rows))]
		if len(anchor) < anchorShort || len(letters(strings.Join(anchor, ""))) < minKnown {
			continue
		}
		for at := len(old) - len(anchor); at >= 0; at-- {
			if slices.Equal(old[at:at+len(anchor)], anchor) {
				return slices.Concat(old[:max(0, at-i)], rows)
			}
		}
	}
	was, now := letters(strings.Join(old, "")), letters(strings.Join(rows, ""))
	switch {
	case strings.HasPrefix(now, was):
		return slices.Clone(rows)
	case strings.HasPrefix(was, now):
		return old
	case len(old) > 2*anchorShort:
		return slices.Concat(old, []string{"…"}, rows)
	}
	return slices.Clone(rows) // so few are redrawn rather
}

// followWriting takes in what a look brought of what's being written: rows, if its screen was
// seen and it's at work. The lines are what was cut off if the turn was stopped.
func (o *Observer) followWriting(l sessions.Poll, v Verdict, records []transcript.Record, rows []string) (cutOff []sessions.Line) {
	p := o.program
	if p.reader == nil {
		p.writing = writing{}
		return nil
	}
	p.writing.noteRecords(records)
	switch {
	case v.Ended && v.Interrupted && (p.ending || l.Last):
		cutOff = o.cutOff(nil)
	case v.Ended && v.Interrupted:
		cutOff = o.cutOff(l.Screen)
	case l.Screen != nil && v.State == sessions.StateWorking && !v.Ended && !p.isBehind(l.Screen):
		p.writing.noteRows(rows, l.Screen.Width)
	}
	if v.Ended {
		p.writing.endTurn()
	}
	for i := range cutOff {
		cutOff[i].At = l.Now
	}
	return cutOff
}

// isBehind reports whether a screen is of before the person wrote last: what stands there was
// said to what had been asked before.
func (p *agentRun) isBehind(screen *sessions.Snapshot) bool {
	w := &p.writing
	if w.was == "" {
		return false
	}
	prompt := p.profile.lastPrompt(screen)
	return prompt != "" && strings.HasPrefix(w.was, prompt) && !strings.HasPrefix(w.asked, prompt)
}

// unsaidRows are a screen's rows of the conversation that the transcript doesn't have, above
// what says that the turn was stopped.
func (p *agentRun) unsaidRows(screen *sessions.Snapshot) []string {
	text, _ := p.profile.Fresh(screen)
	end := slices.IndexFunc(text, func(row string) bool {
		return slices.ContainsFunc(p.profile.spec.Interrupted, func(p pattern) bool { return p.MatchString(row) })
	})
	if end >= 0 {
		text = text[:end]
	}
	return p.text.unsaid(trimBlank(text))
}

// interruptedNote stands below what was being written when a turn was stopped.
const interruptedNote = "interrupted: this is what the screen showed of it"

// cutOff are the lines of what was being written when the turn was stopped, as far as the
// transcript doesn't have it. screen is what shows its end; nil: nothing does.
func (o *Observer) cutOff(screen *sessions.Snapshot) []sessions.Line {
	p := o.program
	w := p.writing
	if screen != nil && (len(w.rows) > 0 || !w.fail) {
		w.noteRows(p.unsaidRows(screen), screen.Width)
	}
	rows := trimBlank(p.text.unsaid(w.rows))
	if l := letters(strings.Join(rows, "")); len(l) < minKnown || bytes.Contains(p.text.turn, []byte(l)) {
		return nil
	}
	var lines []sessions.Line
	for i, row := range rows {
		lines = append(lines, sessions.Line{Kind: sessions.KindPane, Text: printable(row), Begins: i == 0})
	}
	return append(lines, sessions.Line{Kind: sessions.KindNotice, Text: interruptedNote})
}
