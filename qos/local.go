package qos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// penaltyKept is for how long a penalty is kept after it has lifted, so that the
// reduced pace outlives a restart.
const penaltyKept = penaltyMemory

// LocalBudget is the Budget of a single process: windows in memory, and in a
// Ledger before a call goes out. See Budget for what it guarantees. Beside that, a
// chat gets no slot while a call of it may still arrive that was given up, or that
// a crash left behind.
type LocalBudget struct {
	ledger Ledger
	wake   chan struct{} // the writer has something to do

	mu        sync.Mutex
	limits    Limits
	loaded    bool
	permits   map[PermitID]*takenSlot
	chats     map[ChatKey]*usage
	bot       usage
	penalties map[Scope]Penalty
	learned   map[Scope]Learned
	lastID    PermitID

	entries []LedgerEntry     // to be written
	grants  []waitingQuestion // grants that are among them
	early   []waitingQuestion // questions that came before the ledger was read
}

// usage is what's taken in one scope.
type usage struct {
	slots []*takenSlot
	began map[Family]time.Time // when the last call of a family began
}

// waitingQuestion is a question whose reply is owed.
type waitingQuestion struct {
	ask    SlotQuestion
	reply  func(SlotAnswer)
	permit PermitID
}

// NewLocalBudget returns a budget that's kept in ledger. Nil: it's kept nowhere,
// every answer is immediate, and a restart forgets everything; that's for tests
// and simulations.
func NewLocalBudget(ledger Ledger) *LocalBudget {
	return &LocalBudget{
		ledger: ledger, loaded: ledger == nil, wake: make(chan struct{}, 1),
		permits: map[PermitID]*takenSlot{}, chats: map[ChatKey]*usage{},
		bot:       usage{began: map[Family]time.Time{}},
		penalties: map[Scope]Penalty{}, learned: map[Scope]Learned{},
	}
}

// Configure implements Budget.
func (b *LocalBudget) Configure(limits Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limits = limits
}

// AskSlot implements Budget.
func (b *LocalBudget) AskSlot(now time.Time, ask SlotQuestion, reply func(SlotAnswer)) SlotAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.loaded {
		b.early = append(b.early, waitingQuestion{ask: ask, reply: reply})
		return SlotAnswer{State: Pending}
	}
	return b.decideSlot(now, ask, reply)
}

// decideSlot answers a question; b.mu is held.
func (b *LocalBudget) decideSlot(now time.Time, ask SlotQuestion, reply func(SlotAnswer)) SlotAnswer {
	b.prune(now, ask.Chat)
	if at := b.notBefore(now, ask); at.After(now) {
		return SlotAnswer{State: NotBefore, At: at}
	}
	id := b.takeSlot(now, ask)
	if b.ledger == nil {
		return SlotAnswer{State: Granted, Permit: id}
	}
	b.entries = append(b.entries, LedgerEntry{Kind: EntryTake, Slot: b.permits[id].Slot})
	b.grants = append(b.grants, waitingQuestion{ask: ask, reply: reply, permit: id})
	b.wakeWriter()
	return SlotAnswer{State: Pending}
}

// notBefore is when a question can be answered with yes, as far as is known.
func (b *LocalBudget) notBefore(now time.Time, ask SlotQuestion) time.Time {
	at := now
	b.eachHold(now, ask, func(_ HoldKind, until time.Time) { at = later(at, until) })
	return at
}

// eachHold tells why a question can't be answered with yes before a time. b.mu is held.
func (b *LocalBudget) eachHold(now time.Time, ask SlotQuestion, tell func(HoldKind, time.Time)) {
	limit, family := b.limits.LimitOf(ask.Chat, ask.Family)
	for _, s := range ScopesOf(ask.Chat, family) {
		tell(HoldPenalty, b.penalties[s].Until)
	}
	u := b.chats[ask.Chat]
	if u != nil {
		tell(HoldMayArrive, u.mayArrive())
	}
	if ask.Unguarded {
		return
	}
	for _, s := range ScopesOf(ask.Chat, family) {
		if l, ok := b.learned[s]; ok && l.Remaining <= 0 {
			tell(HoldLearned, l.Reset)
		}
	}
	tell(HoldBotWindow, b.bot.freeAt(now, b.bot.slots, b.limits.Bot, 0, FamilyMessage))
	if u == nil {
		return
	}
	slots := b.countedSlots(u, ask.Chat, family)
	tell(HoldWindow, u.freeAt(now, slots, limit, 0, family))
	if family == FamilyMessage && ask.Spare > 0 {
		tell(HoldReserve, u.freeAt(now, slots, limit, ask.Spare, family))
	}
}

// mayArrive is until when a call that was given up, or that a crash left behind,
// may still reach the platform. Another one before that could overtake it: a
// partial text would replace its final.
func (u *usage) mayArrive() time.Time {
	var at time.Time
	for _, t := range u.slots {
		if !t.inFlight {
			at = later(at, t.Stamp)
		}
	}
	return at
}

// countedSlots are the slots of a chat that count in a family's windows.
func (b *LocalBudget) countedSlots(u *usage, chat ChatKey, family Family) []*takenSlot {
	var slots []*takenSlot
	for _, t := range u.slots {
		if _, counts := b.limits.LimitOf(chat, t.Family); counts == family {
			slots = append(slots, t)
		}
	}
	return slots
}

// freeAt is when a limit's gap, and its windows in which slots count, allow one more call.
func (u *usage) freeAt(now time.Time, slots []*takenSlot, limit Limit, spare int, family Family) time.Time {
	at := now
	if began, ok := u.began[family]; ok {
		at = later(at, began.Add(limit.Gap))
	}
	for i, w := range limit.Windows {
		free := 1
		if i == 0 {
			free += min(spare, w.Calls-1)
		}
		at = later(at, freeAt(now, slots, w, free))
	}
	return at
}

// takeSlot grants a slot.
func (b *LocalBudget) takeSlot(now time.Time, ask SlotQuestion) PermitID {
	// The wall clock keeps permits of different runs apart.
	b.lastID = max(b.lastID+1, PermitID(now.UnixNano()))
	t := &takenSlot{
		Slot:     Slot{Permit: b.lastID, Chat: ask.Chat, Family: ask.Family, Stamp: ask.Deadline.Add(answerGrace)},
		inFlight: true,
	}
	b.keepSlot(t)
	_, family := b.limits.LimitOf(ask.Chat, ask.Family)
	u := b.chats[ask.Chat]
	t.began, t.chat, t.bot = now, u.began[family], b.bot.began[FamilyMessage]
	u.began[family], b.bot.began[FamilyMessage] = now, now
	for _, s := range ScopesOf(ask.Chat, family) {
		if l, ok := b.learned[s]; ok {
			l.Remaining--
			b.learned[s] = l
		}
	}
	return t.Permit
}

// undoBegan restores when the last call of a family began, if that was the one that
// isn't made.
func (u *usage) undoBegan(family Family, began, before time.Time) {
	if u.began[family].Equal(began) {
		u.began[family] = before
	}
}

func (b *LocalBudget) keepSlot(t *takenSlot) {
	b.permits[t.Permit] = t
	b.usageOf(t.Chat).slots = append(b.usageOf(t.Chat).slots, t)
	b.bot.slots = append(b.bot.slots, t)
}

func (b *LocalBudget) usageOf(chat ChatKey) *usage {
	u := b.chats[chat]
	if u == nil {
		u = &usage{began: map[Family]time.Time{}}
		b.chats[chat] = u
	}
	return u
}

// copyFor implements shadowBudget.
func (b *LocalBudget) copyFor(chat ChatKey) *LocalBudget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.loaded {
		return nil
	}
	out := NewLocalBudget(nil)
	out.limits, out.lastID = b.limits, b.lastID
	out.penalties, out.learned = maps.Clone(b.penalties), maps.Clone(b.learned)
	out.bot.began = maps.Clone(b.bot.began)
	copySlot := func(t *takenSlot) *takenSlot {
		kept := out.permits[t.Permit]
		if kept == nil {
			kept = new(takenSlot)
			*kept = *t
			out.permits[t.Permit] = kept
		}
		return kept
	}
	for _, t := range b.bot.slots { // of other chats only these matter
		out.bot.slots = append(out.bot.slots, copySlot(t))
	}
	if u := b.chats[chat]; u != nil {
		v := out.usageOf(chat)
		v.began = maps.Clone(u.began)
		for _, t := range u.slots {
			v.slots = append(v.slots, copySlot(t))
		}
	}
	for _, g := range b.grants { // of what's being written it isn't known whether it's granted
		if t := out.permits[g.permit]; t != nil && g.ask.Chat == chat {
			out.giveSlotBack(time.Time{}, t)
		}
	}
	return out
}

// Settle implements Budget.
func (b *LocalBudget) Settle(now time.Time, id PermitID, answered time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.permits[id]
	if t == nil || !t.inFlight {
		return
	}
	t.Stamp, t.inFlight = answered, false
	b.writeEntry(LedgerEntry{Kind: EntryStamp, Slot: t.Slot})
	b.prune(now, t.Chat)
}

// Refund implements Budget.
func (b *LocalBudget) Refund(now time.Time, id PermitID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.permits[id]; t != nil && t.inFlight {
		b.giveSlotBack(now, t)
		b.writeEntry(LedgerEntry{Kind: EntryRefund, Slot: t.Slot})
	}
}

// giveSlotBack forgets a slot: no call began.
func (b *LocalBudget) giveSlotBack(now time.Time, t *takenSlot) {
	t.inFlight, t.Stamp = false, time.Time{}
	_, family := b.limits.LimitOf(t.Chat, t.Family)
	b.chats[t.Chat].undoBegan(family, t.began, t.chat)
	b.bot.undoBegan(FamilyMessage, t.began, t.bot)
	b.prune(now, t.Chat)
}

// Penalize implements Budget.
func (b *LocalBudget) Penalize(now time.Time, p Penalty) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.penalize(p)
	b.writeEntry(LedgerEntry{Kind: EntryPenalty, Penalty: b.penalties[p.Scope]})
	b.prune(now, p.Scope.Chat)
}

func (b *LocalBudget) penalize(p Penalty) {
	p.Until = later(p.Until, b.penalties[p.Scope].Until)
	b.penalties[p.Scope] = p
}

// Learn implements Budget.
func (b *LocalBudget) Learn(now time.Time, scope Scope, learned Learned) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if learned.Reset.After(now) {
		b.learned[scope] = learned
	} else {
		delete(b.learned, scope)
	}
}

// Rekey implements Budget.
func (b *LocalBudget) Rekey(now time.Time, from, to ChatKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if from == to {
		return
	}
	if u := b.chats[from]; u != nil {
		v := b.usageOf(to)
		for _, t := range u.slots {
			t.Chat = to
			v.slots = append(v.slots, t)
		}
		for f, at := range u.began {
			v.began[f] = later(v.began[f], at)
		}
		delete(b.chats, from)
	}
	for s, p := range b.penalties {
		if s.Chat == from {
			delete(b.penalties, s)
			p.Scope.Chat = to
			if q, ok := b.penalties[p.Scope]; ok && q.Multiplier > 0 {
				p.Multiplier = min(p.Multiplier, q.Multiplier)
			}
			b.penalize(p)
		}
	}
	for s, l := range b.learned {
		if s.Chat == from {
			delete(b.learned, s)
			s.Chat = to
			b.learned[s] = l
		}
	}
	b.writeEntry(LedgerEntry{Kind: EntryRekey, From: from, To: to})
	b.prune(now, to)
}

// Use implements Budget.
func (b *LocalBudget) Use(now time.Time, chat ChatKey) []WindowUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.chats[chat]
	if u == nil {
		return nil
	}
	uses := b.useOf(now, u, chat, FamilyMessage)
	for _, family := range slices.Sorted(maps.Keys(b.limits.Families)) {
		for _, use := range b.useOf(now, u, chat, family) {
			if use.Used > 0 {
				uses = append(uses, use)
			}
		}
	}
	return uses
}

func (b *LocalBudget) useOf(now time.Time, u *usage, chat ChatKey, family Family) []WindowUse {
	limit, family := b.limits.LimitOf(chat, family)
	slots := b.countedSlots(u, chat, family)
	var uses []WindowUse
	for _, w := range limit.Windows {
		use := WindowUse{Family: family, Window: w, Used: used(now, slots, w)}
		if at := freeAt(now, slots, w, 1); at.After(now) {
			use.Free = at
		}
		uses = append(uses, use)
	}
	return uses
}

// prune forgets what no window counts any more, of one chat and the bot.
func (b *LocalBudget) prune(now time.Time, chat ChatKey) {
	longest := Window{Per: b.limits.longest()}
	if u := b.chats[chat]; u != nil {
		b.pruneUsage(now, u, longest, true)
		if len(u.slots) == 0 {
			delete(b.chats, chat)
			b.chats = shrunk(b.chats)
		}
	}
	b.pruneUsage(now, &b.bot, Window{Per: b.limits.Bot.longest()}, false)
}

// pruneUsage drops slots that are free in a window; forget says that nothing
// else holds them.
func (b *LocalBudget) pruneUsage(now time.Time, u *usage, w Window, forget bool) {
	kept := u.slots[:0]
	for _, t := range u.slots {
		switch {
		case t.holds(now, w):
			kept = append(kept, t)
		case forget:
			delete(b.permits, t.Permit)
		}
	}
	clear(u.slots[len(kept):])
	u.slots = kept
}

// pruneAll forgets what doesn't matter any more, of everything.
func (b *LocalBudget) pruneAll(now time.Time) {
	for chat := range b.chats {
		b.prune(now, chat)
	}
	for s, p := range b.penalties {
		if !p.Until.After(now) { // the ledger keeps it, for its pace
			delete(b.penalties, s)
		}
	}
	for s, l := range b.learned {
		if !l.Reset.After(now) {
			delete(b.learned, s)
		}
	}
	b.permits, b.penalties, b.learned = shrunk(b.permits), shrunk(b.penalties), shrunk(b.learned)
}

const (
	// ledgerRetry is how long after an error the ledger is tried again; until then
	// nothing is granted.
	ledgerRetry = time.Second
	// ledgerLast is how long the last write may take when the process ends.
	ledgerLast = 2 * time.Second
	// ledgerLastRetry is how long after an error that's tried again: what passes is tried often
	// within so short a time.
	ledgerLastRetry = 200 * time.Millisecond
	// slowWrite is how long a write takes at least that's slow. The next one then waits
	// for a part of that time, so that what comes of the answers goes with it: where a
	// grant came too late, the refund would otherwise be written alone, and the next question
	// would come too late again.
	slowWrite, slowWriteRest = 100 * time.Millisecond, 20
	// pruneEvery is how often what doesn't matter any more is forgotten.
	pruneEvery = time.Minute
)

// Run implements Budget: it reads the ledger, then writes what's to be written,
// all that came during one write in the next.
func (b *LocalBudget) Run(ctx context.Context, hear func(Penalty), _ func(ChatKey)) error {
	if b.ledger != nil {
		if err := b.readLedger(ctx, hear); err != nil {
			b.refuseEarly(time.Now(), err)
			return nil // ended before it could be read: there's nothing to write
		}
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return b.writeLast(context.WithoutCancel(ctx))
		case <-tick.C:
			b.forgetOld(time.Now())
		case <-b.wake:
		}
		began := time.Now()
		if err := b.writeEntries(ctx); err != nil {
			b.pauseFor(ctx, ledgerRetry)
		} else if took := time.Since(began); took >= slowWrite {
			b.pauseFor(ctx, took/slowWriteRest)
		}
	}
}

// writeLast writes what's left when the process ends: a penalty may be among it.
func (b *LocalBudget) writeLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerLast)
	defer cancel()
	for {
		err := b.writeEntries(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		b.pauseFor(ctx, ledgerLastRetry)
	}
}

// readLedger reads the ledger until that works or ctx ends.
func (b *LocalBudget) readLedger(ctx context.Context, hear func(Penalty)) error {
	for {
		now := time.Now()
		kept, err := b.ledger.Load(ctx, now.Add(-b.keptSpan()))
		if err == nil {
			b.restore(now, kept, hear)
			return nil
		}
		b.refuseEarly(now, fmt.Errorf("read the kept budget: %w", err))
		if b.pauseFor(ctx, ledgerRetry); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (b *LocalBudget) keptSpan() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.limits.longest(), b.limits.Bot.longest())
}

// restore takes in what was kept, and answers the questions that came before.
func (b *LocalBudget) restore(now time.Time, kept KeptBudget, hear func(Penalty)) {
	for _, p := range kept.Penalties {
		p.Until = monotonic(now, p.Until)
		b.mu.Lock()
		b.penalize(p)
		p = b.penalties[p.Scope]
		b.mu.Unlock()
		hear(p)
	}
	for _, answer := range b.restoreSlots(now, kept.Slots) {
		answer()
	}
}

// restoreSlots also returns the answers to the early questions that are known at
// once.
func (b *LocalBudget) restoreSlots(now time.Time, slots []Slot) (answers []func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		b.lastID = max(b.lastID, s.Permit)
		if b.permits[s.Permit] != nil {
			continue
		}
		s.Stamp = monotonic(now, s.Stamp)
		// A clock that was set back since would keep the slot for as long as that.
		// A stamp is never further ahead than a call's time, so this is late enough.
		if latest := now.Add(maxCallTimeout + answerGrace); s.Stamp.After(latest) {
			s.Stamp = latest
		}
		b.keepSlot(&takenSlot{Slot: s})
	}
	b.loaded = true
	early := b.early
	b.early = nil
	for _, w := range early {
		if a := b.decideSlot(now, w.ask, w.reply); a.State != Pending {
			answers = append(answers, func() { w.reply(a) })
		}
	}
	return answers
}

// monotonic gives a wall clock time the monotonic reading it would have had.
func monotonic(now, wall time.Time) time.Time { return now.Add(wall.Sub(now)) }

// refuseEarly answers the early questions with an error.
func (b *LocalBudget) refuseEarly(now time.Time, err error) {
	b.mu.Lock()
	early := b.early
	b.early = nil
	b.mu.Unlock()
	for _, w := range early {
		w.reply(SlotAnswer{State: NotBefore, At: now.Add(ledgerRetry), Err: err})
	}
}

// writeEntries makes durable what has gathered, and answers the grants among it.
func (b *LocalBudget) writeEntries(ctx context.Context) error {
	b.mu.Lock()
	entries, grants := b.entries, b.grants
	b.entries, b.grants = nil, nil
	b.mu.Unlock()
	if len(entries) == 0 || b.ledger == nil {
		return nil
	}
	err := b.ledger.Write(ctx, entries)
	if err != nil {
		err = fmt.Errorf("keep the budget: %w", err)
		b.undoWrite(time.Now(), entries, grants, err)
		return err
	}
	for _, g := range grants {
		g.reply(SlotAnswer{State: Granted, Permit: g.permit})
	}
	return nil
}

// undoWrite takes back grants that couldn't be made durable, and keeps the rest for
// the next write. (A refund follows each, should the row be there after all.)
func (b *LocalBudget) undoWrite(now time.Time, entries []LedgerEntry, grants []waitingQuestion, err error) {
	b.mu.Lock()
	again := make([]LedgerEntry, 0, len(entries))
	for _, e := range entries {
		if e.Kind == EntryTake {
			e.Kind = EntryRefund
		}
		again = append(again, e)
	}
	b.entries = append(again, b.entries...)
	for _, g := range grants {
		if t := b.permits[g.permit]; t != nil {
			b.giveSlotBack(now, t)
		}
	}
	b.wakeWriter()
	b.mu.Unlock()
	for _, g := range grants {
		g.reply(SlotAnswer{State: NotBefore, At: now.Add(ledgerRetry), Err: err})
	}
}

// forgetOld drops what doesn't matter any more, here and in the ledger.
func (b *LocalBudget) forgetOld(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pruneAll(now)
	b.writeEntry(LedgerEntry{Kind: EntryForget, Before: now.Add(-max(penaltyKept, b.limits.longest()))})
}

// writeEntry queues an entry for the ledger; b.mu is held.
func (b *LocalBudget) writeEntry(e LedgerEntry) {
	if b.ledger != nil {
		b.entries = append(b.entries, e)
		b.wakeWriter()
	}
}

func (b *LocalBudget) wakeWriter() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// pauseFor waits so long after an error, or until ctx ends.
func (b *LocalBudget) pauseFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
