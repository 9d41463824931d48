package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// toolLines are the lines of a part of a tool's use.
func toolLines(part sessions.ToolPartKind, call string, whole *sessions.ToolDetail) []sessions.Line {
	return []sessions.Line{
		{Kind: sessions.KindTool, Text: "⚙ Bash: seq 3", At: at, Begins: true, Tool: &sessions.ToolPart{Part: part, Call: call, Name: "Bash", Whole: whole}},
		{Kind: sessions.KindTool, Text: "  more", At: at},
	}
}

func calledWith(call, args string) []sessions.Line {
	return toolLines(sessions.ToolCall, call, &sessions.ToolDetail{Args: args})
}

func returned(call, output string) []sessions.Line {
	return toolLines(sessions.ToolReturned, call, &sessions.ToolDetail{Output: output, Diff: "@@"})
}

// What a tool was called with and what it returned comes back by either's line, whenever the result
// came; an agent that uses an id again has the two apart. Lines say of what they're a part.
func TestUsesOfToolsComeBack(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1", "pb_2")
	add := func(lines ...[]sessions.Line) {
		t.Helper()
		for _, l := range lines {
			out := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: l})
			if tool := out.Lines[0].Tool; tool == nil || tool.Whole != nil || !tool.Detail {
				t.Errorf("who hears of it gets %+v", tool)
			}
			if l[0].Tool.Whole == nil {
				t.Error("the caller's lines were changed")
			}
		}
	}
	add(calledWith("a", "1"), calledWith("b", "2"), calledWith("", "3"))         // 1, 3, 5
	add(returned("b", "two"), returned("a", "one"))                              // 7, 9
	add(calledWith("a", "4"), returned("", "none"), calledWith("b", "\xff\x00")) // 11, 13, 15
	mustAppend(t, s, polling.Batch{Session: "pb_2", Lines: returned("b", "another's")})
	for range 2 {
		for n, want := range map[int64][2]string{
			1: {"1 1", "9 one"}, 9: {"1 1", "9 one"}, 3: {"3 2", "7 two"}, 7: {"3 2", "7 two"},
			5: {"5 3", ""}, 11: {"11 4", ""}, 13: {"", "13 none"}, 15: {"15 \uFFFD\uFFFD", ""},
		} {
			use, err := s.ToolUse(ctx, "pb_1", n)
			got := [2]string{}
			if use.Call.N > 0 {
				got[0] = fmt.Sprint(use.Call.N, " ", use.Call.Args)
			}
			if use.Result.N > 0 {
				got[1] = fmt.Sprint(use.Result.N, " ", use.Result.Output)
			}
			if err != nil || got != want && n != 15 || use.Call.N > 0 && use.Call.Name != "Bash" || use.Result.N > 0 && use.Result.Diff != "@@" {
				t.Errorf("line %d: got %q, %v; want %q", n, got, err, want)
			}
		}
		for _, n := range []int64{0, 2, 17, -1} {
			if use, err := s.ToolUse(ctx, "pb_1", n); !errors.Is(err, sessions.ErrUnknown) {
				t.Errorf("line %d: %+v, %v", n, use, err)
			}
		}
		out, err := s.Read(ctx, "pb_1", 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "the first line's part", &sessions.ToolPart{Part: sessions.ToolCall, Call: "a", Name: "Bash", Detail: true}, out.Lines[0].Tool)
		if out.Lines[1].Tool != nil {
			t.Errorf("the second line is %+v", out.Lines[1].Tool)
		}
		_ = s.Close()
		s = mustOpen(t, path, Options{})
	}
}

// Details are dropped with their lines, and the oldest where there are too many; what's said to be
// their size is that.
func TestDetailsAreBounded(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		s := mustOpen(t, filepath.Join(t.TempDir(), "b.db"), Options{LogMaxLines: 10})
		defer func() { _ = s.Close() }()
		mustPut(t, s, "pb_1")
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			var lines []sessions.Line
			for range rapid.IntRange(0, 4).Draw(rt, "parts") {
				call := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "call")
				switch rapid.IntRange(0, 3).Draw(rt, "what") {
				case 0:
					lines = append(lines, calledWith(call, strings.Repeat("x", rapid.IntRange(0, 3000).Draw(rt, "size")))...)
				case 1:
					lines = append(lines, returned(call, "y")...)
				case 2:
					lines = append(lines, toolLines(sessions.ToolCall, call, nil)...)
				default:
					lines = append(lines, paneLines(1, 3)...)
				}
			}
			mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: lines})
			out, err := s.Read(ctx, "pb_1", 0, 1000)
			if err != nil {
				rt.Fatal(err)
			}
			kept := 0
			for _, l := range out.Lines {
				use, err := s.ToolUse(ctx, "pb_1", l.N)
				if has := l.Tool != nil && l.Tool.Detail; has != (err == nil) {
					rt.Fatalf("line %d, %+v: %+v, %v", l.N, l.Tool, use, err)
				} else if has {
					kept++
				}
			}
			var n, size int64
			said := s.write.logs.committed["pb_1"].details
			if err := s.write.conn.QueryRowContext(ctx, "SELECT count(*), ifnull(sum(size), 0) FROM tool_details").Scan(&n, &size); err != nil {
				rt.Fatal(err)
			}
			if int(n) != kept || size != said {
				rt.Fatalf("%d details are kept of %d lines that have one; they have %d bytes, and %d are said", n, kept, size, said)
			}
		}
	})
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	large := strings.Repeat("x", 64<<10)
	for range 2*maxDetails/len(large)/50 + 1 {
		var lines []sessions.Line
		for range 50 {
			lines = append(lines, calledWith("a", large)...)
		}
		head := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: lines}).Head
		var size, first int64
		said := s.write.logs.committed["pb_1"].details
		if err := s.write.conn.QueryRowContext(t.Context(), "SELECT sum(size), min(n) FROM tool_details").Scan(&size, &first); err != nil {
			t.Fatal(err)
		}
		if size != said || size > maxDetails || first > 1 && size < maxDetails/2 {
			t.Errorf("at line %d, from %d on: %d bytes are kept, and %d are said", head, first, size, said)
		}
		if _, err := s.ToolUse(t.Context(), "pb_1", head-1); err != nil {
			t.Errorf("the newest is gone: %v", err)
		}
	}
	if _, err := s.ToolUse(t.Context(), "pb_1", 1); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("the oldest: %v", err)
	}
	if out, err := s.Read(t.Context(), "pb_1", 1, 1); err != nil || len(out.Lines) != 1 || out.Lines[0].N != 1 {
		t.Errorf("its line: %+v, %v", out, err)
	}
}

// Nothing of a detail is left in the files when its session is dropped, or its line is.
func TestNothingOfADetailIsLeft(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{LogMaxLines: 2000})
	mustPut(t, s, "pb_1", "pb_2")
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		mustAppend(t, s, polling.Batch{Session: id, Lines: calledWith("a", `{"command":"planted-in-args"}`)})
		mustAppend(t, s, polling.Batch{Session: id, Lines: returned("a", strings.Repeat("rows\n", 4000)+"planted-in-output")})
	}
	if err := s.DropSession(ctx, "pb_1"); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the other's lines are dropped by those that come
		mustAppend(t, s, polling.Batch{Session: "pb_2", Lines: paneLines(1, 1500)})
	}
	if err := s.Erase(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("planted-in")) {
			t.Errorf("%s still has what was dropped", filepath.Base(f))
		}
	}
}
