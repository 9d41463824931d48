package discord

import (
	"errors"
	"sync"
	"time"
)

const (
	// oldAfter is from which age on a message is old to Discord, an hour
	// (error 30046), less what clocks may differ.
	oldAfter = time.Hour - 2*time.Minute
	// Of edits of old messages it takes some three in 20 s in a channel
	// (github.com/discord-net/Discord.Net/issues/2375).
	oldEdits  = 2
	oldWindow = 20 * time.Second
)

// errTooOld is why a message isn't edited.
var errTooOld = errors.New("the message is more than an hour old, and Discord takes few edits of those")

// oldOnes remembers the edits of old messages, by channel.
type oldOnes struct {
	mu   sync.Mutex
	past map[string][]time.Time
}

// take says whether one more may be made in a channel, and counts it.
func (o *oldOnes) take(channel string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c, list := range o.past {
		if now.Sub(list[len(list)-1]) >= oldWindow {
			delete(o.past, c)
		}
	}
	list := o.past[channel]
	for len(list) > 0 && now.Sub(list[0]) >= oldWindow {
		list = list[1:]
	}
	if len(list) >= oldEdits {
		return false
	}
	if o.past == nil {
		o.past = map[string][]time.Time{}
	}
	o.past[channel] = append(list, now)
	return true
}

// mayEdit says whether Discord would take an edit. What's to be said goes into a new
// message otherwise.
func (a *Adapter) mayEdit(m message) bool {
	now := time.Now()
	return now.Sub(madeAt(m.id)) < oldAfter || a.old.take(channelOf(m.at), now)
}
