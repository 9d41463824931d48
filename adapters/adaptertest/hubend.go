package adaptertest

import (
	"cmp"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// end lets the faults cease, ends all sessions, waits until everything is sent, and
// looks.
func (l *hubLife) end() {
	l.faulty.Store(false)
	for _, s := range l.house.List() {
		if s.State == sessions.StateEnded {
			continue
		}
		synctest.Wait() // who reads the log as its last line is written doesn't know that it's the last
		if err := l.house.End(s.ID, "session ended"); err != nil {
			l.wrong = append(l.wrong, err.Error())
		}
	}
	synctest.Wait()
	for hours := 0; hours < 48 && len(l.hub.Status("")) > 0; hours++ {
		time.Sleep(time.Hour)
		synctest.Wait()
	}
	if left := l.hub.Status(""); len(left) > 0 {
		l.wrong = append(l.wrong, fmt.Sprintf("2 days after all sessions have ended, bindings are left: %+v", left))
	}
	if err := l.exit(false); err != nil {
		l.wrong = append(l.wrong, fmt.Sprintf("the hub ended with %v", err))
	}
	l.compare()
	l.judge()
}

// compare holds each chat against its session.
func (l *hubLife) compare() {
	for i, s := range l.house.List() {
		chat, threads := chatOf(i), []string{""}
		if l.threads {
			chat, threads = theChat, l.platform.Threads(theChat, s.Name)
		}
		var seen []Message
		for _, thread := range threads {
			seen = append(seen, l.platform.Seen(chat, thread)...)
		}
		slices.SortFunc(seen, func(a, b Message) int {
			return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
		})
		for _, w := range l.house.Compare(seen, Want{Session: s.ID, To: s.Lines, Oldest: 1, Doubts: l.doubts[s.ID]}) {
			l.wrong = append(l.wrong, fmt.Sprintf("%s: %s", s.Name, w))
		}
	}
}

// judge holds the platform's log against its rules.
func (l *hubLife) judge() {
	for _, a := range l.platform.Arrivals() {
		if a.Banned {
			l.wrong = append(l.wrong, fmt.Sprintf("at %v a call came to chat %s during a penalty", a.At, a.Call.Chat))
		}
	}
	perThread := l.daemon.Platform.PerThread // then each thread has a budget of its own
	places := map[[2]string]bool{}
	for _, a := range l.platform.Arrivals() {
		place := [2]string{a.Call.Chat, a.Call.Thread}
		if !perThread {
			place[1] = ""
		}
		places[place] = true
	}
	for place := range places {
		in := func(c Call) bool { return c.Chat == place[0] && (!perThread || c.Thread == place[1]) }
		if n := l.platform.Worst(time.Minute, in); n > 20 {
			l.wrong = append(l.wrong, fmt.Sprintf("%d calls came to chat %s, thread %q, within a minute", n, place[0], place[1]))
		}
	}
}
