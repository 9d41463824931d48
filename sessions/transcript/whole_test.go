package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// Of a long text its beginning and its end are kept, whole lines, and it's said how much is missing.
func TestLongTextsLackTheirMiddle(t *testing.T) {
	rows := make([]string, 20_000)
	for i := range rows {
		rows[i] = fmt.Sprintf("row %d is one of many", i)
	}
	text := strings.Join(rows, "\n")
	got := withoutMiddle(text, maxWhole)
	if len(got) > maxWhole || !strings.HasPrefix(got, "row 0 is one of many\n") || !strings.HasSuffix(got, "\n"+rows[len(rows)-1]) {
		t.Errorf("%d bytes are left: %.60q … %q", len(got), got, got[len(got)-60:])
	}
	left, gone := 0, -1
	for line := range strings.SplitSeq(got, "\n") {
		if n, _ := fmt.Sscanf(line, "[… %d bytes left out …]", &gone); n == 1 {
			continue
		}
		if left += len(line) + 1; !strings.HasPrefix(line, "row ") || !strings.HasSuffix(line, " one of many") {
			t.Errorf("a line was cut: %q", line)
		}
	}
	if gone < 0 || left+gone < len(text) || left+gone > len(text)+2 {
		t.Errorf("%d bytes are left and %d are said to be gone, of %d", left, gone, len(text))
	}
	for name, long := range map[string]string{
		"one row of words":   strings.Repeat("word ", maxWhole),
		"one row of bytes":   strings.Repeat("x", 3*maxWhole),
		"no characters":      strings.Repeat("\xff ", 3*maxWhole),
		"characters of four": strings.Repeat("🦊", maxWhole),
	} {
		var r Record
		r.Kind = ToolResult
		r.setResult(long, 0)
		if checkRecord(t, r); !strings.Contains(r.Whole, " bytes left out …]") {
			t.Errorf("%s: nothing is left out in %.60q", name, r.Whole)
		}
		if strings.Contains(r.Whole, "x") || strings.Contains(r.Whole, "🦊") {
			t.Errorf("%s: what has no blank was cut: %.60q", name, r.Whole)
		}
	}
}

// Arguments stay JSON however long they are, with their keys in order.
func TestArgumentsStayJSON(t *testing.T) {
	long := strings.Repeat("a line of \\\"text\\\"\\n", 10_000)
	many := strings.Repeat(`"`+strings.Repeat("y ", 200)+`",`, 500)
	for name, in := range map[string]string{
		"one long text":  `{"file_path":"/a/b","content":"` + long + `","z":1}`,
		"two long texts": `{"file_path":"/a/b","old":"` + long + `","new":"` + long + `"}`,
		"many texts":     `{"all":[` + many + `""],"z":{"y":[1,2,null,true]}}`,
		"many numbers":   `{"all":[` + strings.Repeat("1234567,", 20_000) + `1]}`,
		"a text":         `"` + long + `"`,
		"no characters":  `{"a":"` + strings.Repeat("\xff ", maxWhole/4) + `"}`,
	} {
		got := wholeArgs(gjson.Parse(in))
		if len(got) > maxWhole || !json.Valid([]byte(got)) || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, %.80q … %q", name, len(got), got, got[max(0, len(got)-80):])
		}
	}
	if got := wholeArgs(gjson.Parse(`{"file_path":"/a/b","content":"` + long + `","z":1}`)); !strings.HasPrefix(got, `{"file_path":"/a/b","content":"a line of \"text\"`) || !strings.HasSuffix(got, `,"z":1}`) {
		t.Errorf("got %.80q … %q", got, got[len(got)-40:])
	}
	for in, want := range map[string]string{`{"b": 1, "a":"ü"}`: `{"b": 1, "a":"ü"}`, `"text"`: `"text"`, ``: ``} {
		if got := wholeArgs(gjson.Parse(in)); got != want {
			t.Errorf("of %s are kept %s", in, got)
		}
	}
	if got := wholeArgs(gjson.Result{Type: gjson.String, Str: "no \"JSON\""}); got != `"no \"JSON\""` {
		t.Errorf("of a text are kept %s", got)
	}
}

// What programs say of the changes of their edits is kept as a unified diff.
func TestDiffsOfEditsAreKept(t *testing.T) {
	const unified = "--- a.go\n+++ a.go\n@@ -7,2 +7,3 @@\n x\n-y\n+z\n+ü\n"
	quoted, err := json.Marshal(unified)
	if err != nil {
		t.Fatal(err)
	}
	diff := string(quoted)
	patch := `[{"oldStart":7,"oldLines":2,"newStart":7,"newLines":3,"lines":[" x","-y","+z","+ü"]}]`
	claude := func(name, fails, patch string) string {
		return `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"` + name + `","input":{}}]}}` + "\n" +
			`{"type":"user","uuid":"u","toolUseResult":{"filePath":"a.go","structuredPatch":` + patch + `},"message":{"content":[{"type":"tool_result","tool_use_id":"c","is_error":` + fails + `,"content":"done"}]}}`
	}
	for name, tc := range map[string]struct {
		d    decoder
		in   string
		want string
	}{
		"Claude Code's edit":         {&claudeDecoder{}, claude("Edit", "false", patch), unified},
		"one that failed":            {&claudeDecoder{}, claude("Edit", "true", patch), ""},
		"of a new file":              {&claudeDecoder{}, claude("Write", "false", "[]"), ""},
		"of another tool":            {&claudeDecoder{}, claude("Bash", "false", patch), ""},
		"one that's something else":  {&claudeDecoder{}, claude("Edit", "false", `"x"`), ""},
		"Gemini CLI's":               {&geminiDecoder{}, `{"type":"gemini","id":"m","toolCalls":[{"id":"c","name":"replace","args":{},"status":"success","result":[],"resultDisplay":{"fileDiff":` + diff + `}}]}`, unified},
		"Gemini CLI's that failed":   {&geminiDecoder{}, `{"type":"gemini","id":"m","toolCalls":[{"id":"c","name":"replace","args":{},"status":"error","result":[],"resultDisplay":{"fileDiff":` + diff + `}}]}`, ""},
		"Qwen Code's":                {&qwenDecoder{}, `{"type":"tool_result","uuid":"u","message":{"parts":[{"functionResponse":{"id":"c","name":"edit","response":{"output":"done"}}}]},"toolCallResult":{"callId":"c","status":"success","resultDisplay":{"fileDiff":` + diff + `}}}`, unified},
		"Qwen Code's of another":     {&qwenDecoder{}, `{"type":"tool_result","uuid":"u","message":{"parts":[{"functionResponse":{"id":"b","name":"edit","response":{"output":"done"}}}]},"toolCallResult":{"callId":"c","status":"success","resultDisplay":{"fileDiff":` + diff + `}}}`, ""},
		"pi's":                       {&piDecoder{}, `{"type":"message","id":"m","message":{"role":"toolResult","toolCallId":"c","toolName":"edit","content":[],"details":{"diff":"    ...\n  7 x\n- 8 y\n+ 8 z\n+ 9 ü\n    ...\n 20 w\n-21 v\n    ..."}}}`, "@@ -7,2 +7,3 @@\n x\n-y\n+z\n+ü\n@@ -20,2 +21,1 @@\n w\n-v\n"},
		"pi's that begins with one":  {&piDecoder{}, `{"type":"message","id":"m","message":{"role":"toolResult","toolCallId":"c","toolName":"edit","content":[],"details":{"diff":"+1 a\n 1 b\n-2 \n+3  c"}}}`, "@@ -1,2 +1,3 @@\n+a\n b\n-\n+ c\n"},
		"one that's far too long":    {&claudeDecoder{}, claude("Edit", "false", `[{"oldStart":1,"oldLines":0,"newStart":1,"newLines":1,"lines":["+`+strings.Repeat("x", maxWhole)+`"]}]`), ""},
		"Gemini CLI's, far too long": {&geminiDecoder{}, `{"type":"gemini","id":"m","toolCalls":[{"id":"c","name":"replace","args":{},"status":"success","result":[],"resultDisplay":{"fileDiff":"` + strings.Repeat("x", maxWhole+1) + `"}}]}`, ""},
	} {
		var records []Record
		for line := range strings.SplitSeq(tc.in, "\n") {
			got, understood := tc.d.decode([]byte(line), nil)
			if records = append(records, got...); !understood {
				t.Errorf("%s: %.80s isn't understood", name, line)
			}
		}
		if len(records) == 0 || records[len(records)-1].Kind != ToolResult {
			t.Errorf("%s: got %+v", name, records)
			continue
		}
		if d := cmp.Diff(tc.want, records[len(records)-1].Diff); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A record shares no memory with the line that it's from, which is read into again.
func TestWholeTextsAreCopies(t *testing.T) {
	line := []byte(`{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"what it returned"}]}}`)
	call := []byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"seq 3"}}]}}`)
	var d claudeDecoder
	got, _ := d.decode(call, nil)
	got, _ = d.decode(line, got)
	for i := range line {
		line[i] = 'x'
	}
	for i := range call {
		call[i] = 'x'
	}
	if len(got) != 2 || got[0].Args != `{"command":"seq 3"}` || got[1].Whole != "what it returned" {
		t.Errorf("got %+v", got)
	}
}
