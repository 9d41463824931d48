package qos

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Mode says how much the scheduler holds back.
type Mode uint8

// The modes. The zero value is the default.
const (
	// Strict guards, paces streams, keeps a reserve and shares fairly.
	Strict Mode = iota
	// CoalesceOnly guards and honours penalties, without pace and reserve: at most
	// one call per document and Options.Rounding.
	CoalesceOnly
	// Off sends straight to the platform. Calls are counted, so that switching
	// back to another mode is safe, and only penalties stop them.
	Off
)

func (m Mode) String() string {
	switch m {
	case Strict:
		return "strict"
	case CoalesceOnly:
		return "coalesce_only"
	case Off:
		return "off"
	default:
		return "invalid"
	}
}

// ParseMode reads the mode's name in the configuration.
func ParseMode(name string) (Mode, error) {
	for _, m := range []Mode{Strict, CoalesceOnly, Off} {
		if name == m.String() {
			return m, nil
		}
	}
	return 0, &OptionError{Knob: "mode", Value: name, Allowed: "off, coalesce_only or strict"}
}

// Options configure a scheduler. The zero value of a field means its default, but
// for Limits, which a platform gives. The names in brackets are those of the
// configuration.
type Options struct {
	Mode Mode // [mode]

	// GroupMPM is how many messages a minute a group chat may get, edits included.
	// [group_mpm] 20, which is the least that a platform is known to allow. Ignored
	// if Limits.Group has windows.
	GroupMPM int
	// OutputBudgetRatio is the share of a chat's budget that streams are paced to
	// while anything interactive or final is about: waiting, or seen within the
	// last minute; with HardReserve always. [output_budget_ratio] 0.8
	OutputBudgetRatio float64
	// ReserveMPM is how many slots a minute are at most left by streams to what matters
	// more: their pace leaves room for what's usual, and one slot is always free for a command.
	// NoReserve leaves none: a command may find the window full. [reserve_mpm] 4, or less if GroupMPM
	// is below 5
	ReserveMPM int
	// HardReserve keeps all of the reserve, always. [lend_reserve: false]
	HardReserve bool
	// Rounding is what the time between two stream calls is rounded up to a
	// multiple of; with CoalesceOnly also the least time between two calls for one
	// document. [rounding_ms] 100 ms
	Rounding time.Duration
	// MinSessionTick is the least time between two stream calls for one document.
	// [min_session_tick_s] 3 s
	MinSessionTick time.Duration
	// ActiveEmitterWindow is for how long a session counts as active after it has
	// printed something. The more sessions of a chat are active, the longer a
	// document rests between two stream calls: their number times the pace.
	// [active_emitter_window_s] 10 s
	ActiveEmitterWindow time.Duration
	// ActiveEmitterEMAAlpha is the weight of the newest count of active sessions in
	// its moving average, above 0 to 1. The average smooths a rise only; a fall
	// counts at once, because resting for sessions that are quiet again would leave
	// slots unused. [active_emitter_ema_alpha] 0.2
	ActiveEmitterEMAAlpha float64

	// Limits are the platform's windows. Bot and Private need some; those of Group
	// are by default GroupMPM calls a minute.
	Limits Limits

	// MaxStale is the age from which a waiting stream gets at least one of eight
	// slots of its chat, whatever else waits. 45 s
	MaxStale time.Duration
	// LiveEvery is the least time between two calls for a document of which only
	// the live region changed. 30 s
	LiveEvery time.Duration
	// CallTimeout is how long a call may take, from the question for its slot. At
	// least 15 s: what's given up earlier may well still arrive. 20 s
	CallTimeout time.Duration
	// MaxInFlight is how many calls the bot makes at a time. 8
	MaxInFlight int
	// FlushLimit is how long a closed document may take to send its rest. 10 min,
	// which is 200 slots of a group
	FlushLimit time.Duration

	// Seed makes back-off and penalty jitter repeatable. 0: random
	Seed uint64
	// OnEvent is told what must not be lost silently. It's called on the
	// scheduler's own goroutine: it must return at once, and not wait for a method
	// of the scheduler. Nil: nobody is told.
	OnEvent func(SchedulerEvent)
	// Meter is told what the scheduler does, for metrics. Nil: nobody is.
	Meter Meter
	// Trace is told all that's needed to replay what the scheduler does. Nil: nobody is.
	Trace  TraceSink
	Logger *slog.Logger
}

// NoReserve is Options.ReserveMPM where streams leave nothing to what matters more: [reserve_mpm: 0].
const NoReserve = -1

// OptionError says which knob has a value that can't be.
type OptionError struct {
	Knob    string // as in the configuration: "group_mpm"
	Value   any
	Allowed string // the range, in words
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %v is not allowed; allowed: %s", e.Knob, e.Value, e.Allowed)
}

// Validate returns all errors of the options, joined; each is an *OptionError.
func (o Options) Validate() error {
	d := o.withDefaults()
	var errs []error
	check := func(ok bool, knob string, value any, allowed string) {
		if !ok {
			errs = append(errs, &OptionError{Knob: knob, Value: value, Allowed: allowed})
		}
	}
	check(d.Mode <= Off, "mode", d.Mode, "off, coalesce_only or strict")
	check(d.GroupMPM >= 2 && d.GroupMPM <= maxMPM, "group_mpm", o.GroupMPM, fmt.Sprintf("2 to %d", maxMPM))
	check(d.OutputBudgetRatio > 0 && d.OutputBudgetRatio <= 1, "output_budget_ratio", o.OutputBudgetRatio, "above 0, to 1")
	check(d.ReserveMPM == NoReserve || d.ReserveMPM >= 1 && d.ReserveMPM < max(d.GroupMPM, 2), "reserve_mpm", o.ReserveMPM,
		fmt.Sprintf("NoReserve, or 1 to group_mpm - 1 = %d", max(d.GroupMPM, 2)-1))
	check(d.ActiveEmitterEMAAlpha > 0 && d.ActiveEmitterEMAAlpha <= 1,
		"active_emitter_ema_alpha", o.ActiveEmitterEMAAlpha, "above 0, to 1")
	checkDuration := func(v, least, most time.Duration, knob string, given time.Duration) {
		check(v >= least && v <= most, knob, given, fmt.Sprintf("%v to %v", least, most))
	}
	checkDuration(d.Rounding, time.Millisecond, time.Minute, "rounding_ms", o.Rounding)
	checkDuration(d.MinSessionTick, time.Millisecond, 10*time.Minute, "min_session_tick_s", o.MinSessionTick)
	checkDuration(d.ActiveEmitterWindow, time.Second, time.Hour, "active_emitter_window_s", o.ActiveEmitterWindow)
	checkDuration(d.MaxStale, time.Second, time.Hour, "max_stale", o.MaxStale)
	checkDuration(d.LiveEvery, time.Second, time.Hour, "live_every", o.LiveEvery)
	checkDuration(d.CallTimeout, 15*time.Second, maxCallTimeout, "call_timeout", o.CallTimeout)
	checkDuration(d.FlushLimit, time.Second, 24*time.Hour, "flush_limit", o.FlushLimit)
	check(d.MaxInFlight >= 1 && d.MaxInFlight <= 1000, "max_in_flight", o.MaxInFlight, "1 to 1000")
	errs = append(errs, d.Limits.validate()...)
	return errors.Join(errs...)
}

const (
	// maxMPM keeps a mistyped number from becoming a flood.
	maxMPM         = 6000
	maxCallTimeout = 5 * time.Minute
)

func (l Limits) validate() []error {
	var errs []error
	check := func(name string, limit Limit) {
		if len(limit.Windows) == 0 {
			errs = append(errs, &OptionError{Knob: name + " windows", Value: 0, Allowed: "at least one window, as the platform has it"})
		}
		if limit.Gap < 0 || limit.Gap > time.Minute {
			errs = append(errs, &OptionError{Knob: name + " gap", Value: limit.Gap, Allowed: "0s to 1m0s"})
		}
		for _, w := range limit.Windows {
			if w.Calls < 1 || w.Per < 100*time.Millisecond || w.Per > 24*time.Hour {
				errs = append(errs, &OptionError{
					Knob: name + " window", Value: fmt.Sprintf("%d per %v", w.Calls, w.Per),
					Allowed: "at least 1 call per 100ms to 24h0m0s",
				})
			}
		}
	}
	check("bot", l.Bot)
	check("group", l.Group)
	check("private", l.Private)
	for family, limit := range l.Families {
		check(string(family), limit)
	}
	return errs
}

func (o Options) withDefaults() Options {
	setDefault(&o.GroupMPM, 20)
	setDefault(&o.OutputBudgetRatio, 0.8)
	setDefault(&o.ReserveMPM, min(4, max(o.GroupMPM-1, 1)))
	setDefault(&o.Rounding, 100*time.Millisecond)
	setDefault(&o.MinSessionTick, 3*time.Second)
	setDefault(&o.ActiveEmitterWindow, 10*time.Second)
	setDefault(&o.ActiveEmitterEMAAlpha, 0.2)
	setDefault(&o.MaxStale, 45*time.Second)
	setDefault(&o.LiveEvery, 30*time.Second)
	setDefault(&o.CallTimeout, 20*time.Second)
	setDefault(&o.MaxInFlight, 8)
	setDefault(&o.FlushLimit, 10*time.Minute)
	if len(o.Limits.Group.Windows) == 0 {
		o.Limits.Group.Windows = []Window{{Calls: o.GroupMPM, Per: time.Minute}}
	}
	if o.OnEvent == nil {
		o.OnEvent = func(SchedulerEvent) {}
	}
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// setDefault replaces a zero. Negative numbers are left for Validate to refuse.
func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// roundUp returns d as the next multiple of unit.
func roundUp(d, unit time.Duration) time.Duration {
	return (d + unit - 1) / unit * unit
}

// SchedulerEventKind says what a SchedulerEvent tells.
type SchedulerEventKind uint8

// The events.
const (
	// DocClosed: a document was closed as asked; Delivered and Wanted say what it
	// left behind.
	DocClosed SchedulerEventKind = iota + 1
	// DocStopped: the platform will never take this document (Err). It's closed;
	// open it again when its cause is repaired.
	DocStopped
	// DocAbandoned: a flush took longer than Options.FlushLimit. It's closed, and
	// what it left behind is in Delivered, Wanted and Final.
	DocAbandoned
	// RequestDropped: a request was given up: the platform will never take it
	// (Err), or its session was closed by Cancel.
	RequestDropped
	// ChatMoved: Chat has the key To now. Use it from now on.
	ChatMoved
	// ChatSilenced: a penalty holds until Until. Chat is empty if it's for the whole
	// bot. People who wait can be told in another place.
	ChatSilenced
)

// SchedulerEvent is something that the scheduler's user must know, because nothing may
// be lost silently.
type SchedulerEvent struct {
	Kind    SchedulerEventKind
	Chat    ChatKey
	To      ChatKey // ChatMoved
	Doc     DocID
	Session SessionKey
	Key     string // RequestDropped

	Delivered, Wanted, Final int64 // of the document
	Until                    time.Time
	Err                      error
}

// Meter is told what the scheduler does, for metrics. It's called on the
// scheduler's own goroutine: it must return at once, and not wait for a method of
// the scheduler.
type Meter interface {
	// Called: a slot was used, or given back (Unchanged, NotSent). wait is how long
	// the work had waited for it, took how long the call took.
	CountCall(class Class, family Family, outcome CallOutcome, wait, took time.Duration)
	// Coalesced: n updates needed no call of their own.
	CountCoalesced(n int)
	// Shed: a cosmetic call wasn't made.
	CountShed(family Family)
	// Penalized: the platform said "too many requests" and asked for so long a
	// silence.
	CountPenalty(family Family, retryAfter time.Duration)
}

// noMeter is the Meter of those who have none.
type noMeter struct{}

func (noMeter) CountCall(Class, Family, CallOutcome, time.Duration, time.Duration) {}
func (noMeter) CountCoalesced(int)                                                 {}
func (noMeter) CountShed(Family)                                                   {}
func (noMeter) CountPenalty(Family, time.Duration)                                 {}
