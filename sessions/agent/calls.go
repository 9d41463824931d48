package agent

import "slices"

// Bounds of the calls that an agent asks about at once.
const (
	maxCalls      = 32
	maxCallsBytes = 4 << 20
	// leastDrawn is how many letters of a call must be drawn so that it's known by them,
	// where not all of it is.
	leastDrawn = 8
	// maxGone is how many are kept of those whose dialogs have gone.
	maxGone = 8
)

// calls are those that wait for an answer, the oldest first.
type calls []call

// noteHook takes in a hook.
func (c *calls) noteHook(h Hook) {
	switch {
	case h.Signal == PromptSent || h.Signal == SessionStart || h.Signal == SessionEnd:
		c.forgetBefore(h)
		return
	case h.Request != "" && (h.Signal == Answered || h.Signal == Replied && (h.Text == replyGiven || h.Text == replyLate)):
		c.replied(h.Request)
		return
	case h.Signal == Answered && h.Request == "" && h.Tool == geminiQuestion:
		c.forgetList()
		return
	case h.tellsTool() && h.Signal == ToolEnd:
		sum := sumOf(h)
		c.dropAsked(func(one *call) bool { return one.sum == sum })
		return
	case h.tellsTool() && (len(h.Input) > 0 || h.Lost):
	case h.Signal != Asking || len(h.Input) == 0 && !h.Lost:
		return
	}
	one := newCall(h)
	if i := slices.IndexFunc(*c, func(was call) bool { return was.served && !was.hooked && was.isSame(&one) }); i >= 0 {
		(*c)[i].hooked = true
		return
	}
	if i := slices.IndexFunc(*c, func(was call) bool { return was.sum == one.sum && !was.served }); i >= 0 {
		was := &(*c)[i]
		if h.Request != "" && slices.Contains(was.requests, h.Request) { // it's told again
			return
		}
		was.times++
		if was.stale = false; was.gone {
			was.gone, was.times, was.told = false, 1, one.told
		}
		was.requests = append(was.requests, one.requests...)
		return
	}
	c.addCall(one)
}

// forgetBefore takes in that a turn or a conversation begins or ends: nothing of what was asked before
// is waited for. What an agent asks by a request stands until that's answered, whatever another
// of its conversations does. A dialog that stands there as a turn begins may yet be of a call of
// before.
func (c *calls) forgetBefore(h Hook) {
	over := func(one call) bool {
		return !one.served && (len(one.requests) == 0 && one.over == 0 || h.Signal == SessionEnd || one.conversation == h.Conversation)
	}
	if h.Signal != PromptSent {
		*c = slices.DeleteFunc(*c, over)
		return
	}
	*c = slices.DeleteFunc(*c, func(one call) bool { return one.gone }) // nobody begins a turn beside a dialog
	for i := range *c {
		(*c)[i].stale = (*c)[i].stale || over((*c)[i])
	}
}

// endStale takes in that no dialog is there any more of those of turns before.
func (c *calls) endStale() {
	for i := range *c {
		if one := &(*c)[i]; one.stale {
			one.stale, one.gone = false, true
		}
	}
	c.boundGone()
}

// addCall keeps one more, within their bounds: what's gone gives way first.
func (c *calls) addCall(one call) {
	*c = append(*c, one)
	for len(*c) > maxCalls || c.bytes() > maxCallsBytes {
		i := slices.IndexFunc(*c, func(one call) bool { return one.gone })
		if i < 0 {
			break
		}
		*c = slices.Delete(*c, i, i+1)
	}
	for size := c.bytes(); len(*c) > maxCalls || size > maxCallsBytes; size = c.bytes() {
		first := (*c)[0]
		(*c)[0] = call{sum: first.sum, lost: true, times: 1, told: first.told, requests: first.requests, conversation: first.conversation, served: first.served, stale: first.stale}
		*c = append((*c)[1:], (*c)[0])
		if len(*c) > maxCalls {
			c.forgetOldest()
		}
	}
}

// forgetOldest makes one of all that aren't known any more: what it was about may be asked still.
func (c *calls) forgetOldest() {
	last := len(*c) - 1
	if i := slices.IndexFunc((*c)[:last], func(one call) bool { return one.lost && one.sum == "" }); i >= 0 {
		(*c)[i].times += (*c)[last].times
		(*c)[i].stale = (*c)[i].stale && (*c)[last].stale
		*c = (*c)[:last]
		return
	}
	(*c)[last] = call{lost: true, times: (*c)[last].times, stale: (*c)[last].stale}
}

func (c calls) bytes() (n int) {
	for _, one := range c {
		n += len(one.said)
	}
	return n
}

// answered takes one away whose dialog has gone, unless its agent says by itself when it
// was answered.
func (c *calls) answered(sum string) {
	for i := range *c {
		one := &(*c)[i]
		if one.sum != sum || len(one.requests) > 0 || one.over > 0 || one.lists != nil || one.gone {
			continue
		}
		if one.times--; one.times <= 0 {
			one.gone, one.times = true, 1
		}
	}
	c.boundGone()
}

// boundGone forgets the oldest of those that have gone, if they're too many.
func (c *calls) boundGone() {
	n := 0
	for _, one := range *c {
		if one.gone {
			n++
		}
	}
	for ; n > maxGone; n-- {
		i := slices.IndexFunc(*c, func(one call) bool { return one.gone })
		*c = slices.Delete(*c, i, i+1)
	}
}

// forgetList takes away the call of a list that was answered, if it's clear which that is.
func (c *calls) forgetList() {
	n := 0
	for _, one := range *c {
		if one.lists != nil {
			n++
		}
	}
	if n == 1 {
		*c = slices.DeleteFunc(*c, func(one call) bool { return one.lists != nil })
	}
}

// replied notes that one was answered, as its agent says. It's taken away when its dialog
// isn't shown: see shows.
func (c *calls) replied(request string) {
	for i := range *c {
		one := &(*c)[i]
		if n := slices.Index(one.requests, request); n >= 0 && !one.served {
			one.requests = slices.Delete(one.requests, n, n+1)
			one.over++
		}
	}
}

// dropAnswered takes those away that were answered, but for the one whose dialog still stands there.
func (c *calls) dropAnswered(sum string) {
	*c = slices.DeleteFunc(*c, func(one call) bool { return one.sum != sum && one.over >= one.times })
	for i := range *c {
		if one := &(*c)[i]; one.sum != sum {
			one.times, one.over = one.times-one.over, 0
		}
	}
}

// isOver reports whether a call was answered, as often as it was asked about.
func (c calls) isOver(sum string) bool {
	return slices.ContainsFunc(c, func(one call) bool { return one.sum == sum && one.over >= one.times })
}

// dropAsked takes those away that were asked about for the last time.
func (c *calls) dropAsked(is func(one *call) bool) {
	kept := (*c)[:0]
	for _, one := range *c {
		if is(&one) {
			one.times--
		}
		if one.times > 0 {
			kept = append(kept, one)
		}
	}
	clear((*c)[len(kept):])
	*c = kept
}

// addServed takes in a call about which the agent's server asks, by its id, and returns its sum;
// "": it isn't known what it's about. One that a hook has told of is the same.
func (c *calls) addServed(h Hook, id string) (sum string) {
	if len(h.Input) == 0 {
		return ""
	}
	one := newCall(h)
	if i := slices.IndexFunc(*c, func(was call) bool { return len(was.requests) == 0 && !was.lost && was.isSame(&one) }); i >= 0 {
		(*c)[i].requests, (*c)[i].served, (*c)[i].hooked, (*c)[i].mcp = []string{id}, true, true, one.mcp
		return (*c)[i].sum
	}
	one.requests, one.served = []string{id}, true
	c.addCall(one)
	return one.sum
}

// dropServed takes in that the server asks about a call no longer: answered, or it can't be
// heard any more.
func (c *calls) dropServed(id string, answered bool) {
	i := slices.IndexFunc(*c, func(one call) bool { return one.served && slices.Contains(one.requests, id) })
	if i < 0 {
		return
	}
	one := &(*c)[i]
	one.requests, one.served, one.hooked = nil, false, false
	if answered {
		if one.times--; one.times <= 0 {
			*c = slices.Delete(*c, i, i+1)
		}
	}
}
