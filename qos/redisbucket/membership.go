package redisbucket

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// membership is an answer of member.lua.
type membership struct {
	kind      string
	redis     int64
	epoch     string
	version   string
	empty     time.Duration // how long ago; negative: never
	members   []Member
	max       int64
	penalties []qos.Penalty
}

// member runs member.lua.
func (b *Budget) member(ctx context.Context, p *params, timeout time.Duration) (membership, time.Time, error) {
	// What's begun is ended, so that it's known what Redis was told.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	reply, err := memberScript.Run(ctx, b.opt.Client, p.keys, p.args...).Slice()
	received := time.Now()
	r := &reader{values: reply, err: err}
	a := membership{kind: r.text(), redis: r.number()}
	switch a.kind {
	case "ok":
		a.epoch, a.version, a.empty = r.text(), r.text(), r.duration()
		a.members = readMembers(r.list())
		for l := r.list(); l.more(); {
			q := qos.Penalty{Scope: parseScope(l.text()), Until: received.Add(l.duration())}
			q.Multiplier, _ = strconv.ParseFloat(l.text(), 64)
			a.penalties = append(a.penalties, q)
		}
	case "full":
		a.members = readMembers(r.list())
	case "max":
		a.max = r.number()
	}
	if r.err != nil {
		return membership{}, received, fmt.Errorf("%w: %w", errNoAnswer, r.err)
	}
	return a, received, nil
}

// refusal says why a join was refused; nil: it wasn't.
func (b *Budget) refusal(a membership) error {
	switch a.kind {
	case "ok":
		return nil
	case "full":
		return &FullError{MaxProcesses: b.opt.MaxProcesses, Members: a.members}
	case "max":
		return fmt.Errorf("redis.max_processes is %d here and %d in the processes that run; make it the same and restart", b.opt.MaxProcesses, a.max)
	default:
		return fmt.Errorf("%w sensibly: %q", errNoAnswer, a.kind)
	}
}

// FullError says that there are as many members as may be.
type FullError struct {
	MaxProcesses int
	Members      []Member
}

func (e *FullError) Error() string {
	var vanished []string
	for _, m := range e.Members {
		if m.Vanished {
			vanished = append(vanished, m.ID)
		}
	}
	text := fmt.Sprintf("%d processes share this bot already, and redis.max_processes is %d", len(e.Members), e.MaxProcesses)
	if len(vanished) > 0 {
		text += "; of these " + strings.Join(vanished, ", ") + " vanished: if they don't come back, run panebridge redis forget ID"
	}
	return text
}

// epochNumber is the part of an epoch's name that counts them.
func epochNumber(epoch string) int64 {
	number, _, _ := strings.Cut(epoch, ".")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n
}
