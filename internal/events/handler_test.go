package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/events"
)

// logAt logs a message at a time.
func logAt(t rapid.TB, h slog.Handler, at time.Time, message string, attrs ...slog.Attr) {
	t.Helper()
	r := slog.NewRecord(at, slog.LevelWarn, message, 0)
	r.AddAttrs(attrs...)
	if err := h.Handle(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

// However often an event comes, and from whichever part of the daemon: the log has at most 60 of it and one more
// a second, and what's left out is counted, all of it. Other events are written all the same.
func TestAnEventThatComesTooOftenIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		root := events.NewHandler(slog.NewJSONHandler(&out, nil))
		parts := []slog.Handler{root, root.WithAttrs([]slog.Attr{slog.String("component", "tmux")}), root.WithAttrs([]slog.Attr{slog.String("component", "api")})}
		now := time.Unix(1e9, 0)
		begun, sent := now, 0
		for range rapid.IntRange(1, 30).Draw(t, "storms") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90_000).Draw(t, "pause")) * time.Millisecond)
			for range rapid.IntRange(1, 300).Draw(t, "events") {
				logAt(t, parts[rapid.IntRange(0, 2).Draw(t, "part")], now, "tmux connected")
				sent++
			}
		}
		logAt(t, root, now, "tmux not connected")
		now = now.Add(time.Hour)
		logAt(t, root, now, "tmux connected") // which says how many were left out last
		sent++
		written, omitted, others := 0, 0, 0
		for line := range strings.Lines(out.String()) {
			var got struct {
				Event   string
				Omitted int
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if got.Event != "tmux.connected" {
				others++
				continue
			}
			written, omitted = written+1, omitted+got.Omitted
		}
		c := root.Count()
		if written+omitted != sent || c.Omitted != int64(omitted) || c.Written[slog.LevelWarn] != int64(written+others) || others != 1 {
			t.Fatalf("of %d %d were written, %d left out and %d others; counted are %+v", sent, written, omitted, others, c)
		}
		if most := 60 + 1 + int(now.Sub(begun).Seconds()); written > most {
			t.Fatalf("%d were written, at most %d may be", written, most)
		}
	})
}

// An event takes one line, whatever's in what it tells.
func TestAnEventIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		h := events.NewHandler(slog.NewTextHandler(&out, nil))
		logAt(t, h, time.Unix(1e9, 0), "session ends", slog.String("reason", rapid.String().Draw(t, "reason")), slog.String("session", "a\nlevel=ERROR msg=forged\x1b[2J"))
		if text := out.String(); strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\x1b\r") || !strings.Contains(text, "event=session.ends") {
			t.Fatalf("it's %q", text)
		}
	})
}

func TestNamesAreNames(t *testing.T) {
	form, seen := regexp.MustCompile(`^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$`), map[string]string{}
	for message, name := range events.Named() {
		if !form.MatchString(name) {
			t.Errorf("%q is no name of an event", name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %s", message, other, name)
		}
		seen[name] = message
	}
}
