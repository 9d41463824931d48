package agent

import (
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Insight is what's known of the program in a session's pane, and how.
type Insight struct {
	Session sessions.ID `json:"session"`
	// Program names its profile; "": no agent program is known to run.
	Program  string   `json:"program,omitempty"`
	PID      int      `json:"pid,omitempty"`       // 0: its process isn't known
	Version  string   `json:"version,omitempty"`   // "": unknown
	MadeFrom []string `json:"made_from,omitempty"` // versions from which the profile was made
	// Text says whose lines count.
	Text         sessions.LinesFrom `json:"text"`
	Transcript   string             `json:"transcript,omitempty"`   // its path; "": none is bound
	Conversation string             `json:"conversation,omitempty"` // the program's own id of it
	// Unbound is why no transcript is, as a sentence; "": one is, or there's none to read.
	Unbound string `json:"unbound,omitempty"`
	Skipped int64  `json:"skipped"` // records of the transcript that weren't understood
	// Hook is the last one that came; nil: none since the daemon was started.
	Hook *HookSeen `json:"hook,omitempty"`
}

// HookSeen is a hook that came.
type HookSeen struct {
	Agent string    `json:"agent"`
	Event string    `json:"event"`
	At    time.Time `json:"at"`
}

// Insight returns what's known of the program in a session's pane. It reads some small
// files to find the version.
func (w *Watchers) Insight(id sessions.ID) Insight {
	w.mu.Lock()
	o := w.observers[id]
	w.mu.Unlock()
	if o == nil {
		return Insight{Session: id, Text: sessions.TextPane}
	}
	o.known.mu.Lock()
	in, process := o.known.insight, o.known.process
	in.Session, in.Hook = id, o.known.heard
	o.known.mu.Unlock()
	in.Version = process.Version()
	return in
}

// FolderOf returns the folder in which the program in a session's pane works, as the kernel says; "": it isn't known.
func (w *Watchers) FolderOf(id sessions.ID) string {
	w.mu.Lock()
	o := w.observers[id]
	w.mu.Unlock()
	if o == nil {
		return ""
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	return o.known.process.Cwd
}

// heard notes that a hook came.
func (k *observerNews) noteHook(h Hook) { k.heard = &HookSeen{h.Agent, h.Event, h.At} }

// insight is what's known but for the hooks and the version.
func (o *Observer) insight() (Insight, Process) {
	p := o.program
	if p == nil {
		return Insight{Text: sessions.TextPane}, Process{}
	}
	in := Insight{Program: p.profile.Name(), PID: p.process.PID, MadeFrom: p.profile.MadeFrom(), Text: p.told, Unbound: p.unbound()}
	if p.reader != nil {
		ref := p.reader.Ref()
		in.Transcript, in.Conversation, in.Skipped = ref.Path, ref.Session, p.reader.Skipped()
	}
	if in.Text == "" { // it wasn't looked at yet
		in.Text = sessions.TextHeld
	}
	return in, p.process
}

// transcriptSearch is how it came out that a transcript was looked for.
type transcriptSearch struct {
	done        bool
	found, fits int
	only        string // path of the only one that fits, "" if there's none
	refused     string // why one that is the program's can't be read
}

// unbound says why no transcript is the program's.
func (p *agentRun) unbound() string {
	s := p.search
	switch {
	case p.reader != nil || p.profile.Format() == "":
		return ""
	case s.refused != "":
		return s.refused
	case p.announced != nil:
		return "a hook told of " + p.announced.Path + ", which isn't there yet"
	case p.process.PID == 0:
		return "its process isn't known, and no hook told of its transcript"
	case !s.done:
		return "it wasn't looked for yet"
	case s.found == 0:
		return "there's none of its folder yet: programs write it with the first prompt"
	case s.fits > 1:
		return fmt.Sprintf("%d transcripts may be its: a prompt that only it was asked decides, or its hooks do", s.fits)
	default:
		return fmt.Sprintf("%d of its folder, but none has what was asked last on this screen, and no hook told which it is", s.found)
	}
}

// refuse notes that a transcript is known but can't be read.
func (p *agentRun) refuse(ref transcript.Ref, why string) {
	p.search.refused = ref.Path + " " + why
}
