package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newTestTail(asJSON bool) (*tailPrinter, *bytes.Buffer) {
	out := new(bytes.Buffer)
	return &tailPrinter{invocation: &invocation{stdio: Stdio{Out: out}}, id: "pb_1", asJSON: asJSON, next: 1}, out
}

func lines(from, to int64) []sessions.Line {
	var out []sessions.Line
	for n := from; n <= to; n++ {
		out = append(out, sessions.Line{N: n, Kind: sessions.KindPane, Text: strings.Repeat("l", int(n))})
	}
	return out
}

func event(t *testing.T, name, id string, data any) client.Event {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return client.Event{Name: name, ID: id, Data: text}
}

func TestPageHasGapsWhereTheyStand(t *testing.T) {
	tl, out := newTestTail(false)
	err := tl.page(api.Output{Lines: lines(1, 4), Gaps: []sessions.Gap{
		{After: 0, Reason: "begin"},
		{After: 2, AtLeast: 7, Reason: "flood"},
		{After: 2, AtLeast: 1, Reason: "more"},
		{After: 4, AtLeast: 2, Reason: "end"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `-- lines may be missing: begin --
l
ll
-- at least 7 lines missing: flood --
-- at least 1 line missing: more --
lll
llll
-- at least 2 lines missing: end --
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	// The next page repeats a gap that stands right behind the last line.
	out.Reset()
	if err := tl.page(api.Output{Lines: lines(5, 5), Gaps: []sessions.Gap{{After: 4, AtLeast: 2, Reason: "end"}, {After: 4, Reason: "new"}}}); err != nil {
		t.Fatal(err)
	}
	if want := "-- lines may be missing: new --\nlllll\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

// A session that ended while nobody was connected greets with its end; lines
// and gaps that were printed before aren't printed again from the log.
func TestEventsAndThenTheRestOfTheLog(t *testing.T) {
	tl, out := newTestTail(false)
	gap := sessions.Gap{After: 2, AtLeast: 1, Reason: "flood"}
	for _, e := range []client.Event{
		event(t, api.EventOutput, "3", api.OutputEvent{First: 1, Lines: lines(1, 2)}),
		event(t, api.EventGap, "3.0.1", api.GapEvent{Gap: gap}),
		event(t, api.EventLive, "3.0.1", api.LiveEvent{Rows: []string{"spinner"}}),
	} {
		if err := tl.event(e); err != nil {
			t.Fatal(err)
		}
	}
	if tl.at != "3.0.1" || tl.next != 3 {
		t.Errorf("at %q, next %d; want 3.0.1 and 3", tl.at, tl.next)
	}
	if err := tl.event(event(t, api.EventState, "", api.StateEvent{State: sessions.StateEnded})); !errors.Is(err, errEnded) {
		t.Errorf("a session's end: got %v, want errEnded", err)
	}
	end := sessions.Line{N: 3, Kind: sessions.KindNotice, Text: "session ended"}
	if err := tl.page(api.Output{Lines: []sessions.Line{end}, Gaps: []sessions.Gap{gap}}); err != nil {
		t.Fatal(err)
	}
	if want := "l\nll\n-- at least 1 line missing: flood --\n-- session ended --\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestJSONIsOneObjectALine(t *testing.T) {
	tl, out := newTestTail(true)
	for _, e := range []client.Event{
		event(t, api.EventOutput, "2", api.OutputEvent{Session: "pb_1", First: 1, Lines: []sessions.Line{{N: 1, Text: "a <b>\tc"}}}),
		event(t, api.EventGap, "2.0.1", api.GapEvent{Session: "pb_1", Gap: sessions.Gap{After: 1, AtLeast: 3, Reason: "flood"}}),
		{Name: "other", Data: json.RawMessage("{}")},
		event(t, api.EventTurn, "", api.TurnEvent{Session: "pb_1", Complete: true}),
	} {
		if err := tl.event(e); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		var got struct {
			Event string
			Lines []sessions.Line
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if names = append(names, got.Event); len(got.Lines) == 1 && got.Lines[0].Text != "a <b>\tc" {
			t.Errorf("text %q", got.Lines[0].Text)
		}
	}
	if got := strings.Join(names, " "); got != "output gap other turn" {
		t.Errorf("events %q", got)
	}
}

func TestWhichStreamsComeBack(t *testing.T) {
	for err, want := range map[error]bool{
		client.ErrStreamEnded:      true,
		client.ErrNotRunning:       true,
		&api.Error{Status: 503}:    true,
		&api.Error{Status: 404}:    false,
		errors.New("disk is full"): false,
	} {
		if got := comesBack(err); got != want {
			t.Errorf("%v: comes back: %t, want %t", err, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "now", time.Second: "1 s ago", 59 * time.Second: "59 s ago", time.Minute: "1 min ago",
		90 * time.Minute: "1 h ago", 47 * time.Hour: "47 h ago", 72 * time.Hour: "3 days ago",
	} {
		if got := ago(now.Add(-d), now); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
	if got := ago(time.Time{}, now); got != "never" {
		t.Errorf("zero time: got %q, want never", got)
	}
}

// A tail prints as much of an agent's work as it's told to: what's counted stands where it was done.
func TestATailCountsWork(t *testing.T) {
	call := func(n int64, part sessions.ToolPartKind, name string, failed bool) []sessions.Line {
		return []sessions.Line{
			{N: n, Kind: sessions.KindTool, Text: "⚙ " + name, Begins: true, Tool: &sessions.ToolPart{Part: part, Name: name, Failed: failed}},
			{N: n + 1, Kind: sessions.KindTool, Text: "  more"},
		}
	}
	all := append([]sessions.Line{{N: 1, Kind: sessions.KindThought, Text: "∴ hm", Begins: true}}, call(2, sessions.ToolCall, "Bash", false)...)
	all = append(all, call(4, sessions.ToolReturned, "Bash", true)...)
	all = append(all, sessions.Line{N: 6, Kind: sessions.KindAnswer, Text: "No.", Begins: true})
	all = append(all, call(7, sessions.ToolCall, "Read", false)...)
	for extents, want := range map[[2]string]string{
		{"all", "none"}:    "⚙ Bash\n  more\n⚙ Bash\n  more\nNo.\n⚙ Read\n  more\n-- lines may be missing: x --\n",
		{"brief", "none"}:  "⚙ ran 1 command · 1 failed\nNo.\n⚙ read 1 file\n-- lines may be missing: x --\n",
		{"none", "all"}:    "∴ hm\nNo.\n-- lines may be missing: x --\n",
		{"brief", "brief"}: "⚙ thought once, ran 1 command · 1 failed\nNo.\n⚙ read 1 file\n-- lines may be missing: x --\n",
	} {
		tl, out := newTestTail(false)
		tl.extents = map[sessions.LineKind]string{sessions.KindTool: extents[0], sessions.KindThought: extents[1]}
		if err := tl.page(api.Output{Lines: all, Gaps: []sessions.Gap{{After: 8, Reason: "x"}}}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("with %v it prints\n%s, want\n%s", extents, out, want)
		}
	}
}
