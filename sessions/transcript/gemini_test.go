package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// Behind a refused tool Gemini CLI writes the whole conversation once more, which takes
// some milliseconds. Nothing of it is told twice, and what's said next is told, though
// it be at once.
func TestGeminiSaysTheConversationOnceMore(t *testing.T) {
	const again = `{"id":"%s","timestamp":"2026-11-22T11:22:34.%03dZ","type":"%s","content":%s}`
	lines := []string{
		fmt.Sprintf(again, "a", 0, "user", `[{"text":"ask me"}]`),
		fmt.Sprintf(again, "b", 1, "gemini", `"One."`),
		fmt.Sprintf(again, "c", 2, "user", `[{"text":"and again"}]`),
		fmt.Sprintf(again, "d", 3, "info", `"Request cancelled."`),
		fmt.Sprintf(again, "e", 474, "user", `[{"text":"<session_context>\nx\n</session_context>"},{"text":"ask me"}]`),
		`{"$set":{"lastUpdated":"2026-11-22T11:22:34.474Z"}}`,
		fmt.Sprintf(again, "f", 475, "gemini", `[{"text":"One."}]`),
		fmt.Sprintf(again, "g", 479, "user", `[{"text":"and again"}]`),
		`{"$set":{"messages":[{"id":"e"},{"id":"f"},{"id":"g"}],"lastUpdated":"2026-11-22T11:22:34.479Z"}}`,
		fmt.Sprintf(again, "h", 480, "user", `[{"text":"next"}]`),
		fmt.Sprintf(again, "i", 481, "gemini", `"Two."`),
	}
	d := &geminiDecoder{}
	var got []string
	for _, line := range lines {
		records, ok := d.decode([]byte(line), nil)
		if !ok {
			t.Errorf("unknown: %s", line)
		}
		for _, r := range records {
			got = append(got, fmt.Sprint(r.Kind, " ", r.Text))
		}
	}
	want := []string{fmt.Sprint(User, " ask me"), fmt.Sprint(Answer, " One."), fmt.Sprint(User, " and again"), fmt.Sprint(TurnEnd, " "), fmt.Sprint(User, " next"), fmt.Sprint(Answer, " Two.")}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
