package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/qosbench"
	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
)

// runTrace replays recordings.
func (o qosOptions) runTrace(out io.Writer) error {
	change, err := settingsChange(o.set)
	if err != nil {
		return err
	}
	rec, err := qostrace.ReadFiles(o.trace...)
	if err != nil {
		return err
	}
	if len(rec.Steps) == 0 {
		return fmt.Errorf("%s: nothing is recorded there", strings.Join(o.trace, ", "))
	}
	if rec.Lost > 0 || rec.Cut > 0 || rec.Full {
		progress("the recording isn't whole: %d steps are missing, %d lines were cut by a kill, full before the day's end: %v; the replay may differ", rec.Lost, rec.Cut, rec.Full)
	}
	results, same, err := qosbench.ReplayRecording(rec, 1, change)
	if err != nil {
		return err
	}
	if o.plots != "" {
		if err := plotResults(o.plots, results); err != nil {
			return err
		}
	}
	if o.json {
		rows := make([]qosbench.Row, 0, len(results))
		for _, r := range results {
			rows = append(rows, r.Row)
		}
		return printJSON(out, rows)
	}
	if len(results) == 0 {
		return fmt.Errorf("%s: no chat had anything to be sent", strings.Join(o.trace, ", "))
	}
	settings := "the settings recorded"
	if len(o.set) > 0 {
		settings = strings.Join(o.set, ", ")
	}
	_, _ = fmt.Fprintf(out, "%d steps of %s, replayed under %s; times in s\n", len(rec.Steps), rec.Adapter, settings)
	if err := printQoSRows(out, results); err != nil {
		return err
	}
	if len(o.set) > 0 {
		_, err = fmt.Fprintf(out, "%d calls were recorded, %d replayed\n", same.Recorded, same.Replayed)
		return err
	}
	_, err = fmt.Fprintf(out, "%d calls were recorded, %d replayed; %d of them the same, %v apart (p50), %v (p99), %v at most\n",
		same.Recorded, same.Replayed, same.Same, same.ShiftP50.Round(time.Microsecond), same.ShiftP99.Round(time.Microsecond), same.ShiftMax.Round(time.Microsecond))
	return err
}

// settingsChange reads --set: keys below adapters.<name>.qos.
func settingsChange(set []string) (func(*qos.Options) error, error) {
	var changes []func(*qos.Options) error
	for _, pair := range set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("--set %s: write key=value, as in reserve_mpm=2", pair)
		}
		change := func(o *qos.Options) error { return setKnob(o, key, value) }
		if err := change(&qos.Options{}); err != nil {
			return nil, fmt.Errorf("--set %s: %w", pair, err)
		}
		changes = append(changes, change)
	}
	return func(o *qos.Options) error {
		for _, change := range changes {
			if err := change(o); err != nil {
				return err
			}
		}
		return o.Validate()
	}, nil
}

// setKnob sets one key of adapters.<name>.qos.
func setKnob(o *qos.Options, key, value string) (err error) {
	refuse := func(allowed string) { err = &qos.OptionError{Knob: key, Value: value, Allowed: allowed} }
	float := func(into *float64) { // 0 would be the default
		if *into, err = strconv.ParseFloat(value, 64); err == nil && (!(*into > 0) || *into > 1e6) {
			refuse("a number above 0")
		}
	}
	whole := func(into *int) {
		if *into, err = strconv.Atoi(value); err == nil && *into < 0 {
			refuse("a number from 0 on")
		}
	}
	long := func(into *time.Duration, unit time.Duration) {
		var f float64
		float(&f)
		*into = time.Duration(f * float64(unit))
	}
	switch key {
	case "mode":
		o.Mode, err = qos.ParseMode(value)
	case "group_mpm":
		if whole(&o.GroupMPM); err == nil && o.GroupMPM == 0 {
			refuse("2 to 6000")
		}
		o.Limits.Group.Windows = []qos.Window{{Calls: o.GroupMPM, Per: time.Minute}}
	case "output_budget_ratio":
		float(&o.OutputBudgetRatio)
	case "reserve_mpm":
		if whole(&o.ReserveMPM); err == nil && o.ReserveMPM == 0 {
			o.ReserveMPM = qos.NoReserve
		}
	case "lend_reserve":
		var lend bool
		lend, err = strconv.ParseBool(value)
		o.HardReserve = !lend
	case "rounding_ms":
		long(&o.Rounding, time.Millisecond)
	case "min_session_tick_s":
		long(&o.MinSessionTick, time.Second)
	case "active_emitter_window_s":
		long(&o.ActiveEmitterWindow, time.Second)
	case "active_emitter_ema_alpha":
		float(&o.ActiveEmitterEMAAlpha)
	default:
		return fmt.Errorf("%s is no key below adapters.<name>.qos that can be replayed", key)
	}
	return err
}
