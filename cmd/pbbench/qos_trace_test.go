package main

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
)

// slowAnswers accepts each call after a while.
type slowAnswers struct{}

func (slowAnswers) Deliver(_ context.Context, call qos.Call) qos.CallResult {
	time.Sleep(200 * time.Millisecond)
	return qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted, Final: call.Final}
}

// recordDay has a scheduler run for ten minutes, and returns the recording's file.
func recordDay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := qostrace.NewWriter(qostrace.Options{Adapter: "telegram", StateDir: dir, Days: 1})
		ctx, stop := context.WithCancel(t.Context())
		written, ran := make(chan error), make(chan error)
		go func() { written <- w.Run(ctx) }()
		second := qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}}
		s, err := qos.New(qos.Options{Limits: qos.Limits{Bot: second, Private: second}, Trace: w}, slowAnswers{}, qos.NewLocalBudget(nil))
		if err != nil {
			t.Fatal(err)
		}
		run, end := context.WithCancel(t.Context())
		go func() { ran <- s.Run(run) }()
		for _, id := range []qos.DocID{"a", "b"} {
			if err := s.Open(qos.Doc{ID: id, Chat: "chat", Session: qos.SessionKey(id)}); err != nil {
				t.Error(err)
			}
		}
		for i := range int64(600) {
			time.Sleep(time.Second + time.Duration(i))
			s.Want("a", i+1, i%60 == 59)
			s.Want("b", i+1, false)
		}
		time.Sleep(time.Minute)
		end()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		stop()
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, qostrace.Folder, qostrace.FileName("telegram", "2000-01-01"))
}

func TestARecordingIsReplayedAsATableAndPlots(t *testing.T) {
	file, plots := recordDay(t), t.TempDir()
	var out bytes.Buffer
	if err := (qosOptions{seeds: 1, finalCalls: 1, trace: []string{file}, plots: plots}).run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chat 1", "recorded", "replayed", "original", "fifo", "optimum", "0s at most"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, &out)
		}
	}
	for _, name := range []string{"gaps", "finals", "use"} {
		path := filepath.Join(plots, "chat-1-replayed-"+name)
		f, err := os.Open(path + ".png")
		if err != nil {
			t.Error(err)
			continue
		}
		if c, err := png.DecodeConfig(f); err != nil || c.Width < 500 {
			t.Errorf("%s: %v %v", name, c, err)
		}
		_ = f.Close()
		if text, err := os.ReadFile(path + ".svg"); err != nil || !bytes.Contains(text, []byte("</svg>")) {
			t.Errorf("%s: no SVG (%v)", name, err)
		}
	}
	out.Reset()
	if err := (qosOptions{seeds: 1, finalCalls: 1, trace: []string{file}, set: []string{"group_mpm=10"}}).run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "replayed under group_mpm=10") {
		t.Errorf("printed:\n%s", &out)
	}
}

func TestSettingsThatCannotBeReplayedAreRefused(t *testing.T) {
	file := recordDay(t)
	for _, set := range []string{"reserve_mpm", "reserve_mpm=x", "no_such=1", "group_mpm=1", "mode=quick"} {
		if err := (qosOptions{seeds: 1, finalCalls: 1, trace: []string{file}, set: []string{set}}).run(t.Context(), &bytes.Buffer{}); err == nil {
			t.Errorf("--set %s: no error", set)
		}
	}
	if err := (qosOptions{seeds: 1, finalCalls: 1, set: []string{"group_mpm=9"}}).run(t.Context(), &bytes.Buffer{}); err == nil {
		t.Error("--set without --trace: no error")
	}
}

func TestTheTradeHasEachSetting(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	if err := (qosOptions{seeds: 1, finalCalls: 1, trade: true, plots: dir}).run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"defaults", "reserve_mpm: 8", "output_budget_ratio: 0.4", "fifo", "optimum"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, &out)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*trade*")); len(files) != 4 {
		t.Errorf("plots: %v", files)
	}
}

func TestSettingsThatCantBeAreRefused(t *testing.T) {
	second := qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}}
	for set, allowed := range map[string]bool{
		"reserve_mpm=0": true, "reserve_mpm=4": true, "group_mpm=30": true, "output_budget_ratio=0.5": true, "mode=off": true,
		"reserve_mpm=-1": false, "reserve_mpm=20": false, "reserve_mpm=": false, "group_mpm=0": false, "group_mpm=-1": false, "group_mpm=1": false,
		"output_budget_ratio=0": false, "output_budget_ratio=NaN": false, "output_budget_ratio=2": false, "rounding_ms=0": false, "rounding_ms=1e300": false,
		"rounding_ms=NaN": false, "min_session_tick_s=-1": false, "min_session_tick_s=0": false, "active_emitter_window_s=0": false,
		"active_emitter_ema_alpha=0": false, "active_emitter_ema_alpha=inf": false, "lend_reserve=perhaps": false, "mode=": false, "reserve_mpm": false,
	} {
		change, err := settingsChange([]string{set})
		if err == nil {
			err = change(&qos.Options{Limits: qos.Limits{Bot: second, Private: second}})
		}
		key, _, _ := strings.Cut(set, "=")
		if (err == nil) != allowed || err != nil && !strings.Contains(err.Error(), key) {
			t.Errorf("--set %s: %v, allowed: %v", set, err, allowed)
		}
	}
}
