package qostrace

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Version is that of the format. A reader refuses a higher one.
const Version = 1

// Kinds of lines that are no steps.
const (
	kindFile = "file" // the first line
	kindLost = "lost" // steps that weren't written, since the disk was slow
	kindFull = "full" // nothing more is written this day
)

// line is one line of a file. Times are ns since the beginning of the file's day in UTC, durations ns.
type line struct {
	Kind  string `json:"k"`
	At    int64  `json:"t"`
	First bool   `json:"f,omitempty"`

	Version int    `json:"v,omitempty"`       // file
	Adapter string `json:"adapter,omitempty"` // file
	Day     string `json:"day,omitempty"`     // file
	Lost    int    `json:"lost,omitempty"`    // lost
	// After is the day whose file this one goes on from without a gap. It's in those lines that tell how things stood.
	After string `json:"after,omitempty"`

	Settings *recordedOptions `json:"o,omitempty"`

	Chat    uint64 `json:"c,omitempty"`
	Private bool   `json:"p,omitempty"` // of the chat
	Doc     uint64 `json:"d,omitempty"`
	Session uint64 `json:"s,omitempty"`
	Key     uint64 `json:"r,omitempty"` // a request's
	To      uint64 `json:"to,omitempty"`
	Class   uint8  `json:"q,omitempty"`
	Family  string `json:"m,omitempty"`

	Wanted    int64 `json:"w,omitempty"`
	Delivered int64 `json:"l,omitempty"`
	Final     int64 `json:"e,omitempty"`
	Uncertain bool  `json:"u,omitempty"`
	Live      uint8 `json:"live,omitempty"`
	Count     int   `json:"n,omitempty"`
	Mode      uint8 `json:"mode,omitempty"`
	All       bool  `json:"all,omitempty"` // of a scope: all families

	Number   uint64  `json:"i,omitempty"` // of a call
	Outcome  string  `json:"x,omitempty"`
	More     bool    `json:"more,omitempty"`
	Over     bool    `json:"over,omitempty"`
	Global   bool    `json:"global,omitempty"`
	Narrow   bool    `json:"narrow,omitempty"`
	Retry    int64   `json:"retry,omitempty"`
	Until    int64   `json:"until,omitempty"` // answered, again, reset, the end of a penalty
	Again    int64   `json:"again,omitempty"`
	Factor   float64 `json:"factor,omitempty"`
	Limit    int     `json:"limit,omitempty"`
	Remained int     `json:"left,omitempty"`
}

// recordedOptions are qos.Options without what isn't a number.
type recordedOptions struct {
	Seed                uint64           `json:"seed"`
	Mode                string           `json:"mode"`
	GroupMPM            int              `json:"group_mpm"`
	OutputBudgetRatio   float64          `json:"output_budget_ratio"`
	ReserveMPM          int              `json:"reserve_mpm"`
	HardReserve         bool             `json:"hard_reserve"`
	Rounding            time.Duration    `json:"rounding"`
	MinSessionTick      time.Duration    `json:"min_session_tick"`
	ActiveEmitterWindow time.Duration    `json:"active_emitter_window"`
	ActiveEmitterAlpha  float64          `json:"active_emitter_ema_alpha"`
	MaxStale            time.Duration    `json:"max_stale"`
	LiveEvery           time.Duration    `json:"live_every"`
	CallTimeout         time.Duration    `json:"call_timeout"`
	MaxInFlight         int              `json:"max_in_flight"`
	FlushLimit          time.Duration    `json:"flush_limit"`
	Bot                 limit            `json:"bot"`
	Group               limit            `json:"group"`
	Private             limit            `json:"private"`
	Families            map[string]limit `json:"families,omitempty"`
}

// limit is a qos.Limit.
type limit struct {
	Windows [][2]int64    `json:"windows"` // calls, per ns
	Gap     time.Duration `json:"gap,omitempty"`
}

func limitOf(l qos.Limit) limit {
	out := limit{Gap: l.Gap}
	for _, w := range l.Windows {
		out.Windows = append(out.Windows, [2]int64{int64(w.Calls), int64(w.Per)})
	}
	return out
}

func (l limit) read() qos.Limit {
	out := qos.Limit{Gap: l.Gap}
	for _, w := range l.Windows {
		out.Windows = append(out.Windows, qos.Window{Calls: int(w[0]), Per: time.Duration(w[1])})
	}
	return out
}

func settingsOf(o qos.Options) *recordedOptions {
	s := &recordedOptions{
		Seed: o.Seed, Mode: o.Mode.String(), GroupMPM: o.GroupMPM, OutputBudgetRatio: o.OutputBudgetRatio,
		ReserveMPM: o.ReserveMPM, HardReserve: o.HardReserve, Rounding: o.Rounding, MinSessionTick: o.MinSessionTick,
		ActiveEmitterWindow: o.ActiveEmitterWindow, ActiveEmitterAlpha: o.ActiveEmitterEMAAlpha,
		MaxStale: o.MaxStale, LiveEvery: o.LiveEvery, CallTimeout: o.CallTimeout, MaxInFlight: o.MaxInFlight,
		FlushLimit: o.FlushLimit, Bot: limitOf(o.Limits.Bot), Group: limitOf(o.Limits.Group), Private: limitOf(o.Limits.Private),
	}
	for _, f := range slices.Sorted(maps.Keys(o.Limits.Families)) {
		if s.Families == nil {
			s.Families = map[string]limit{}
		}
		s.Families[string(f)] = limitOf(o.Limits.Families[f])
	}
	return s
}

func (s *recordedOptions) read() (qos.Options, error) {
	mode, err := qos.ParseMode(s.Mode)
	if err != nil {
		return qos.Options{}, fmt.Errorf("read the settings: %w", err)
	}
	o := qos.Options{
		Seed: s.Seed, Mode: mode, GroupMPM: s.GroupMPM, OutputBudgetRatio: s.OutputBudgetRatio,
		ReserveMPM: s.ReserveMPM, HardReserve: s.HardReserve, Rounding: s.Rounding, MinSessionTick: s.MinSessionTick,
		ActiveEmitterWindow: s.ActiveEmitterWindow, ActiveEmitterEMAAlpha: s.ActiveEmitterAlpha,
		MaxStale: s.MaxStale, LiveEvery: s.LiveEvery, CallTimeout: s.CallTimeout, MaxInFlight: s.MaxInFlight,
		FlushLimit: s.FlushLimit,
		Limits:     qos.Limits{Bot: s.Bot.read(), Group: s.Group.read(), Private: s.Private.read()},
	}
	for f, l := range s.Families {
		if o.Limits.Families == nil {
			o.Limits.Families = map[qos.Family]qos.Limit{}
		}
		o.Limits.Families[qos.Family(f)] = l.read()
	}
	return o, nil
}

// outcomes are those of qos, by name.
func outcomeOf(name string) (qos.CallOutcome, bool) {
	for o := qos.OutcomeUnknown; o <= qos.Migrated; o++ {
		if o.String() == name {
			return o, true
		}
	}
	return 0, false
}
