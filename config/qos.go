package config

import "fmt"

// QoS says how an adapter shares out the calls its platform allows.
type QoS struct {
	Mode                  string  `yaml:"mode" counts:"strict coalesce_only off" oneof:"off coalesce_only strict" doc:"strict guards, paces, keeps a reserve and shares fairly; coalesce_only guards alone; off sends straight away, stopped by penalties only."`
	GroupMPM              int     `yaml:"group_mpm" counts:"strict coalesce_only" min:"2" max:"6000" doc:"Calls a minute that a group chat or channel may get, edits included; Telegram allows 20 in a group, Discord some 60 in a channel."`
	OutputBudgetRatio     float64 `yaml:"output_budget_ratio" counts:"strict" min:"0.01" max:"1" doc:"Share of group_mpm that streams are paced to while something more important is about (strict)."`
	ReserveMPM            int     `yaml:"reserve_mpm" counts:"strict" min:"0" max:"5999" doc:"Of group_mpm, at most so many are left by streams to replies, questions and finished turns, and one is always free; below group_mpm; 0 leaves none (strict)."`
	LendReserve           bool    `yaml:"lend_reserve" counts:"strict" doc:"Whether streams may use what of the reserve isn't expected to be needed; one call is always left for a reply (strict)."`
	RoundingMS            int     `yaml:"rounding_ms" counts:"strict coalesce_only" min:"1" max:"60000" doc:"Milliseconds to whose multiples the time between two stream calls is rounded up; with coalesce_only the least time between two calls for one session and chat."`
	MinSessionTick        Seconds `yaml:"min_session_tick_s" counts:"strict" min:"0.1" max:"600" doc:"Least seconds between two stream calls for one session and chat (strict)."`
	ActiveEmitterWindow   Seconds `yaml:"active_emitter_window_s" counts:"strict" min:"1" max:"3600" doc:"Seconds for which a session counts as active after it printed; the more are, the longer each waits for its next stream call (strict)."`
	ActiveEmitterEMAAlpha float64 `yaml:"active_emitter_ema_alpha" counts:"strict" min:"0.01" max:"1" doc:"Weight of the newest count of active sessions in its moving average (strict)."`
	RecordDays            int     `yaml:"record_days" counts:"strict coalesce_only off" min:"0" max:"365" doc:"Days of recordings to keep of what the scheduler is told and does, as times and numbers without text, for pbbench qos --trace (docs/limits-and-qos.md); 0 records nothing."`
}

// DefaultQoS is for a platform that counts messages by the minute.
func DefaultQoS() QoS {
	return QoS{
		Mode: "strict", GroupMPM: 20, OutputBudgetRatio: 0.8, ReserveMPM: 4, LendReserve: true, RoundingMS: 100,
		MinSessionTick: 3, ActiveEmitterWindow: 10, ActiveEmitterEMAAlpha: 0.2,
	}
}

// Check implements Checker.
func (q *QoS) Check(p Part) {
	if !p.Given("reserve_mpm") {
		// Whoever sets only a low group_mpm shouldn't have to hear of a key they
		// haven't written.
		q.ReserveMPM = min(q.ReserveMPM, max(q.GroupMPM-1, 1))
	}
	if q.ReserveMPM >= q.GroupMPM && p.Sound("group_mpm") {
		p.Problem("reserve_mpm", fmt.Sprintf("must be from 0 to %d, below group_mpm, which is %d; not %d",
			q.GroupMPM-1, q.GroupMPM, q.ReserveMPM))
	}
}
