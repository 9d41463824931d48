package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// checkRecord checks what holds for records of all formats.
func checkRecord(t *testing.T, r Record) {
	t.Helper()
	kinds := []RecordKind{User, Answer, Tool, ToolResult, Question, TurnEnd, Failure, Compacted, Helper, Thought, Used}
	switch {
	case !slices.Contains(kinds, r.Kind):
		t.Errorf("unknown kind: %+v", r)
	case !utf8.ValidString(r.Text) || !utf8.ValidString(r.Tool) || !utf8.ValidString(r.ID):
		t.Errorf("invalid UTF-8: %+v", r)
	case r.Text == "" && slices.Contains([]RecordKind{User, Answer, Thought}, r.Kind):
		t.Errorf("no text: %+v", r)
	case len(r.Args) > maxWhole || len(r.Whole) > maxWhole+len("exit status -2147483648\n") || len(r.Diff) > maxWhole+(maxWhole/2):
		t.Errorf("too much is kept: %d, %d and %d bytes of %s", len(r.Args), len(r.Whole), len(r.Diff), r.Text)
	case !utf8.ValidString(r.Args+r.Whole+r.Diff) || r.Args != "" && !json.Valid([]byte(r.Args)):
		t.Errorf("its arguments aren't JSON, or invalid UTF-8: %+v", r)
	case r.Args != "" && r.Kind != Tool && r.Kind != Question, r.Whole+r.Diff != "" && r.Kind != ToolResult:
		t.Errorf("what's whole doesn't go with its kind: %+v", r)
	case r.Kind == User && strings.Contains(r.Text, "\r"):
		t.Errorf("another line end: %+v", r)
	case (r.Kind == Tool || r.Kind == ToolResult) && (len(r.Text) > 6000 || strings.Count(r.Text, "\n") > shortLines+1):
		t.Errorf("not short: %+v", r)
	case r.Interrupted && r.Kind != TurnEnd, (r.Waits || r.Limit != nil) && r.Kind != Failure, (r.Usage != nil) != (r.Kind == Used):
		t.Errorf("doesn't go with its kind: %+v", r)
	case r.Usage != nil && !plausible(r.Usage):
		t.Errorf("that can't be what was used: %+v", r.Usage)
	}
}

// plausible reports whether nothing in it is less than 0, and what's counted has a name.
func plausible(u *AnswerUse) bool {
	t, c := u.Tokens, u.Context
	return min(t.Input, t.CacheRead, t.CacheWrite, t.Output) >= 0 && u.CostUSD >= 0 && (u.Key != "" || t.Total() == 0 && u.CostUSD == 0) &&
		utf8.ValidString(u.Key) && (c == nil || min(c.Used, c.Window) >= 0)
}

func TestRecordsAreWellFormed(t *testing.T) {
	for _, rec := range recordings(t) {
		for _, r := range rest(t, open(t, rec.place(t), nil)) {
			checkRecord(t, r)
			if r.At.IsZero() {
				t.Errorf("%s: no time: %+v", rec.name, r)
			}
		}
	}
}

func TestPastesAndWrappers(t *testing.T) {
	for in, want := range map[string]string{
		"\n\n<pasted_content id=\"8\">\na\n\n  b\n</pasted_content id=\"8\">\n":    "a\n\n  b",
		"look: \n\n<pasted_content id=\"8\">\na\n</pasted_content id=\"8\">\n and": "look: \na\n and",
		"<pasted_content id=\"8\">\na\n</pasted_content id=\"9\">\n":               "<pasted_content id=\"8\">\na\n</pasted_content id=\"9\">",
		"what is <pasted_content id=…>?":                                           "what is <pasted_content id=…>?",
	} {
		if got := unpaste(in); got != want {
			t.Errorf("unpaste(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]bool{
		"<environment_context>\n  <cwd>/x</cwd>\n</environment_context>": true,
		"<system-reminder>a</system-reminder>":                           true,
		"<div>a</div>":                                                   false,
		"<system-reminder> is a tag, what's it for?":                     false,
		"say <turn_aborted>":                                             false,
	} {
		if got := injected(in); got != want {
			t.Errorf("injected(%q) = %v", in, got)
		}
	}
}

func TestCallsInShort(t *testing.T) {
	long := strings.Repeat("ü", 300)
	for in, want := range map[string]string{
		`{"command":"seq 1 300 | tee numbers.txt","description":"Print"}`:                            "T: seq 1 300 | tee numbers.txt",
		`{"command":["bash","-lc","ls -l"]}`:                                                         "T: ls -l",
		`{"file_path":"/a/b.md","content":"x\ny"}`:                                                   "T: /a/b.md",
		`{"cmd":"cat <<E\na\nb\nE"}`:                                                                 "T: cat <<E … (+3 lines)",
		`{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: n.md\n+a\n*** End Patch\nEOF"}`: "T: apply_patch: add n.md",
		`{"command":"` + long + `"}`:                                                                 "T: " + long[:2*shortRunes] + "…",
		`{}`:                                                                                         "T",
		`{"n":1}`:                                                                                    `T: {"n":1}`,
	} {
		if got := callInShort("T", gjson.Parse(in)); got != want {
			t.Errorf("call(%s) = %q, want %q", in, got, want)
		}
	}
}

// What a program says to the model alone isn't shown: neither beside what a person wrote
// nor behind what a tool returned. What a person wrote themselves stays.
func TestWhatIsSaidToTheModelAloneIsNotShown(t *testing.T) {
	const reminder = "<system-reminder>\nThis is bookkeeping: never quote it.\n</system-reminder>"
	for in, want := range map[string]string{
		"Async agent launched successfully. (This tool result is internal metadata \u2014 never quote or paste any part of it.)\nagentId: abc": "Async agent launched successfully.",
		"Spawned successfully. (This tool result is internal metadata \u2014 never quote it.)":                                                 "Spawned successfully.",
		"fix it\n" + reminder:                              "fix it",
		reminder + "\n" + reminder + "\nfix it\n\n":        "fix it\n\n",
		"fix it\n" + reminder + "\n" + reminder + "\n":     "fix it",
		"fix it\n\n<memory_updates>\nx\n</memory_updates>": "fix it",
		reminder:                            "",
		"what does <system-reminder> mean?": "what does <system-reminder> mean?",
		"what is <system-reminder>x</system-reminder>": "what is <system-reminder>x</system-reminder>",
		"<skill>mine</skill> is what I wrote":          "<skill>mine</skill> is what I wrote",
		"<b>bold</b>":                                  "<b>bold</b>",
		"the words internal metadata in a sentence":    "the words internal metadata in a sentence",
		"</system-reminder>":                           "</system-reminder>",
		"<system-reminder>without an end":              "<system-reminder>without an end",
	} {
		if got := withoutNotices(in); got != want {
			t.Errorf("of %q is shown %q, want %q", in, got, want)
		}
	}
	lines := []string{
		`{"type":"user","uuid":"1","origin":{"kind":"human"},"message":{"content":[{"type":"text","text":"fix it"},{"type":"text","text":"<system-reminder>\nnever quote\n</system-reminder>"}]}}`,
		`{"type":"user","uuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"Async agent launched successfully. (This tool result is internal metadata — never quote or paste any part of it, including the agentId below, into a user-facing reply.)\nagentId: abc"}]}]}}`,
	}
	d := &claudeDecoder{}
	var got []string
	for _, line := range lines {
		records, _ := d.decode([]byte(line), nil)
		for _, r := range records {
			got = append(got, string(r.Kind)+" "+r.Text)
		}
	}
	if want := []string{"user fix it", "tool_result Async agent launched successfully."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
