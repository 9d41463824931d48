package agent

import (
	"slices"

	"github.com/panebridge/panebridge/sessions/transcript"
)

// toldCall is a call that was asked about, and by what its end is known: agents tell of that without
// all of the call.
type toldCall struct {
	sum, tool, text string
}

// maxTold is how many are remembered.
const maxTold = 32

// noteTold remembers a call that a hook tells of; k.mu is held.
func (k *observerNews) noteTold(h Hook) {
	if h.Signal != Asking || len(h.Input) == 0 || h.Text == "" {
		return
	}
	one := toldCall{sumOf(h), h.Tool, h.Text}
	k.lately = append(slices.DeleteFunc(k.lately, func(was toldCall) bool { return was == one }), one)
	k.lately = k.lately[max(0, len(k.lately)-maxTold):]
}

// callMade is the record of the call of which a hook tells that it was carried out; "": none is known.
// Claude Code and Qwen Code tell so of what wasn't refused alone.
func (o *Observer) callMade(h Hook) (sum string) {
	if h.Signal != ToolEnd || h.Event != "PostToolUse" || h.Text == "" || h.Agent != string(transcript.Claude) && h.Agent != string(transcript.Qwen) {
		return ""
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	for _, one := range o.known.lately {
		if one.tool == h.Tool && one.text == h.Text {
			sum = one.sum
		}
	}
	return sum
}
