package redisbucket

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// BucketMember is one process that shares the bot.
type BucketMember struct {
	ID       string
	Silent   time.Duration // since it last confirmed an answer
	Left     bool          // it signed off
	Vanished bool          // its share is held back
}

func readMembers(r *replyReader) []BucketMember {
	var list []BucketMember
	for r.more() {
		m := BucketMember{ID: r.text(), Silent: r.duration(), Left: r.text() == "left"}
		m.Vanished = !m.Left && m.Silent > vanishes
		list = append(list, m)
	}
	return list
}

// MemberStatus is how a process stands with Redis, for the status page.
type MemberStatus struct {
	// State is "joining", "shared", "learning" (within the safe share, because the
	// server was found empty), "silent", "share" (within the safe share, because
	// there's no answer), or "refused" (never admitted).
	State string
	// Member is this process's own id.
	Member       string
	Answered     time.Time // when Redis last answered to a member
	Members      []BucketMember
	MaxProcesses int
	Err          error // why it isn't shared
}

// MemberStates are all that MemberStatus.State can be.
func MemberStates() []string {
	return []string{"joining", "shared", "learning", "silent", "share", "refused"}
}

// Status returns how it is now. What's said of silence and share is about the
// chats' own windows.
func (b *Budget) Status(now time.Time) MemberStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := MemberStatus{
		Member: b.note.Member, Answered: b.link.last, MaxProcesses: b.opt.MaxProcesses, Err: b.link.err,
	}
	for _, m := range b.link.members {
		if !m.Left {
			s.Members = append(s.Members, m)
		}
	}
	q := &slotQuestion{limit: b.limits.Group}
	switch {
	case b.link.state == linking:
		s.State = "joining"
	case b.link.state == linked && b.learning(q).After(now):
		s.State = "learning"
	case b.link.state == linked:
		s.State = "shared"
	case b.link.last.IsZero():
		s.State = "refused"
	default:
		s.State = "share"
		if at, _ := b.shareFrom(now, q); at.After(now) {
			s.State = "silent"
		}
	}
	return s
}

// Members lists the processes that share a bot, and their maximum. It may take a second.
func Members(ctx context.Context, client Client, bot string) ([]BucketMember, int, error) {
	members, most, _, err := administer(ctx, client, bot, "")
	return members, most, err
}

// Forget gives the share of a member back that vanished and won't come back. It mustn't
// be running: cut off from Redis it would go on sending within that share.
func Forget(ctx context.Context, client Client, bot, member string) error {
	members, _, done, err := administer(ctx, client, bot, member)
	switch {
	case err != nil:
		return err
	case done == "forgotten":
		return nil
	case done == "there":
		return fmt.Errorf("forget member %s: it's running; stop it and it signs off by itself", member)
	default:
		ids := make([]string, 0, len(members))
		for _, m := range members {
			ids = append(ids, m.ID)
		}
		return fmt.Errorf("forget member %s: there's none with this id; there are %v", member, ids)
	}
}

// administer lists the members, and forgets one if it's named. A server that hasn't been
// asked anything for a while can't know at once who is there, so it's asked for as long
// as that takes.
func administer(ctx context.Context, client Client, bot, member string) ([]BucketMember, int, string, error) {
	k := keysOf(bot)
	for {
		reply, err := adminScript.Run(ctx, client, []string{k.state(), k.members(), k.penalties()},
			"", "", 0, 0, 0, 0, k.channel(), member).Slice()
		r := &replyReader{values: reply, err: err}
		most, done, served := r.number(), r.text(), r.duration()
		members := readMembers(r.list())
		if r.err != nil {
			return nil, 0, "", fmt.Errorf("ask redis for the members: %w", r.err)
		}
		if done == "forgotten" || served > vanishes+late || len(members) == 0 {
			return members, int(most), done, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, "", fmt.Errorf("ask redis for the members: %w", ctx.Err())
		case <-time.After(vanishes / 4):
		}
	}
}

// ringStatus is how a chat's ring stood in Redis.
type ringStatus struct {
	asked  time.Time
	stamps []time.Time // oldest first
}

const (
	// sightEvery is how often Redis is asked how a chat stands, while somebody looks.
	sightEvery = time.Second
	// sightKept is for how long an answer is good.
	sightKept = 5 * time.Second
)

// Use implements qos.Budget. It says what this process has taken, and, if it was asked
// before, what all have.
func (b *Budget) Use(now time.Time, chat qos.ChatKey) []qos.WindowUse {
	uses := b.local.Use(now, chat)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link.state != linked {
		return uses
	}
	s := b.rings[chat]
	if s == nil || now.Sub(s.asked) >= sightEvery {
		b.askRing(now, chat)
	}
	if s == nil || now.Sub(s.asked) > sightKept {
		return uses
	}
	limit, _ := limitOf(b.limits, chat, qos.FamilyMessage)
	if uses == nil && len(s.stamps) > 0 {
		for _, w := range limit.Windows {
			uses = append(uses, qos.WindowUse{Window: w})
		}
	}
	for i, w := range limit.Windows {
		if i < len(uses) {
			s.widenUse(now, &uses[i], w)
		}
	}
	return uses
}

// widenUse takes in what others have taken of a window.
func (s *ringStatus) widenUse(now time.Time, use *qos.WindowUse, w qos.Window) {
	var held []time.Time
	for _, at := range s.stamps {
		if at.Add(w.Per).After(now) {
			held = append(held, at)
		}
	}
	if len(held) <= use.Used {
		return
	}
	use.Used = len(held)
	if len(held) >= w.Calls {
		first := held[len(held)-w.Calls]
		if first.After(now) {
			first = now
		}
		use.Free = first.Add(w.Per)
	}
}

// askRing asks Redis how a chat stands. b.mu is held.
func (b *Budget) askRing(now time.Time, chat qos.ChatKey) {
	limit, l := limitOf(b.limits, chat, qos.FamilyMessage)
	old := b.rings[chat]
	s := &ringStatus{asked: now}
	if old != nil {
		s.stamps = old.stamps
	}
	for c, o := range b.rings {
		if now.Sub(o.asked) > sightKept {
			delete(b.rings, c)
		}
	}
	b.rings[chat] = s
	p := b.preamble(now, longest(limit.Windows), b.opt.Timeout)
	p.key(b.keys.ring(l))
	b.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), b.opt.Timeout)
		defer cancel()
		reply, err := lookScript.Run(ctx, b.opt.Client, p.keys, p.args...).Slice()
		received := time.Now()
		r := &replyReader{values: reply, err: err}
		var stamps []time.Time
		for r.more() {
			stamps = append(stamps, received.Add(-r.duration()))
		}
		if r.err != nil {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		s.stamps = stamps
	})
}
