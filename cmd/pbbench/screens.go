package main

import (
	"context"
	"slices"
	"strings"
	"time"
)

// followScreen reads a session the other way, once a second: it captures the
// visible screen and takes as new what doesn't overlap with the screen before.
// It ends with the session or with ctx.
func (b *bed) followScreen(ctx context.Context, session string) []got {
	var all []got
	var last []string
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		l, err := b.lookByProcesses(ctx, session)
		if err != nil {
			return all // the session has ended
		}
		now := strings.Split(strings.TrimRight(l.screen, "\n"), "\n")
		if i := slices.IndexFunc(now, isDead); i >= 0 {
			now = now[:i] // tmux says so, not the program
		}
		for _, text := range now[overlap(last, now):] {
			all = append(all, got{text: text})
		}
		last = now
		select {
		case <-ctx.Done():
			return all
		case <-tick.C:
		}
	}
}

func isDead(row string) bool { return strings.HasPrefix(row, "Pane is dead") }

// overlap is how many of the first rows of a screen are the last of the one
// before.
func overlap(last, now []string) int {
	for n := min(len(last), len(now)); n > 0; n-- {
		if slices.Equal(last[len(last)-n:], now[:n]) {
			return n
		}
	}
	return 0
}
