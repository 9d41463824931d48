package transcript_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// What the model said in a recording, request by request by its own clock, is what
// the transcript's answers are, while it grew as it did then: each once, in order,
// nothing else. Of an answer that was interrupted there's the beginning, or nothing.
func TestAnswersAreWhatTheModelSaid(t *testing.T) {
	all, err := recording.All()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, rec := range all {
		said, err := rec.Model()
		if err != nil {
			t.Fatal(err)
		}
		if len(said) == 0 {
			continue // the model's clock wasn't recorded
		}
		checked++
		t.Run(rec.Name, func(t *testing.T) {
			truth, err := rec.Truth()
			if err != nil {
				t.Fatal(err)
			}
			got := grown(t, rec)
			for _, q := range said {
				want := stored(rec.Agent, textOf(truth, q))
				switch {
				case q.Failed || want == "":
				case len(got) > 0 && got[0] == want:
					got = got[1:]
				case q.HungUp && len(got) > 0 && strings.HasPrefix(want, strings.TrimSpace(got[0])):
					got = got[1:]
				case q.HungUp:
				default:
					t.Fatalf("request %q, step %d: got %q, want %q", q.User, q.Step, first(got), want)
				}
			}
			if len(got) > 0 {
				t.Errorf("nobody said %q", got)
			}
		})
	}
	if checked < 20 {
		t.Errorf("only %d recordings have the model's clock", checked)
	}
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// grown are the answers that a reader gives while the transcript grows.
func grown(t *testing.T, rec *recording.Recording) (out []string) {
	t.Helper()
	w, err := recording.NewWriter(rec, t.TempDir(), "/srv/other/project")
	if err != nil {
		t.Fatal(err)
	}
	var r *transcript.Reader
	for _, at := range append(w.Times(), 0) {
		if err := w.Advance(at); err != nil {
			t.Fatal(err)
		}
		if r == nil {
			ref := transcript.Ref{Format: transcript.Format(rec.Agent), Path: w.Path(0), Session: conversation(t, rec)}
			if r, err = transcript.Open(ref, nil); err != nil {
				t.Fatal(err)
			}
		}
		for {
			records, err := r.Read(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(records) == 0 {
				break
			}
			for _, rec := range records {
				if rec.Kind == transcript.Answer {
					out = append(out, rec.Text)
				}
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return out
}

// conversation is the id of opencode's conversation; other agents have a file for each.
func conversation(t *testing.T, rec *recording.Recording) string {
	t.Helper()
	rows, err := rec.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Table == "session" && r.Values["parent_id"] == nil {
			id, _ := r.Values["id"].(string)
			return id
		}
	}
	return ""
}

func textOf(truth recording.Truth, q recording.Request) string {
	for _, rule := range truth.Rules {
		if rule.Match == q.Rule {
			return rule.Steps[min(q.Step, len(rule.Steps)-1)].Text
		}
	}
	return ""
}

// stored is a text as an agent keeps it: Gemini CLI without zero-width joiners, and it
// and Qwen Code without the last line end.
func stored(agent, text string) string {
	switch agent {
	case "gemini":
		return strings.TrimSuffix(strings.ReplaceAll(text, "\u200d", ""), "\n")
	case "qwen":
		return strings.TrimSuffix(text, "\n")
	}
	return text
}
