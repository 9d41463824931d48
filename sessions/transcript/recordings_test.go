package transcript

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what's read of the recordings to testdata/records")

// recording is a transcript that a real program wrote.
type recording struct {
	name   string
	format Format
	data   []byte
}

func recordings(tb testing.TB) []recording {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.gz")
	if err != nil || len(files) < 20 {
		tb.Fatalf("found %d recordings: %v", len(files), err)
	}
	var all []recording
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		format, _, _ := strings.Cut(name, "-")
		all = append(all, recording{name, Format(format), unzip(tb, f)})
	}
	return all
}

// lines are the recordings that are files of lines.
func lines(tb testing.TB) []recording {
	tb.Helper()
	var found []recording
	for _, r := range recordings(tb) {
		if r.format != OpenCode {
			found = append(found, r)
		}
	}
	return found
}

func unzip(tb testing.TB, path string) []byte {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	in, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// place writes a recording as its program keeps it.
func (r *recording) place(tb testing.TB) Ref {
	tb.Helper()
	if r.format == OpenCode {
		return placeDatabase(tb, string(r.data))
	}
	path := filepath.Join(tb.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, r.data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return Ref{Format: r.format, Path: path}
}

func open(tb testing.TB, ref Ref, cursor []byte) *Reader {
	tb.Helper()
	r, err := Open(ref, cursor)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close() })
	return r
}

// rest reads all that's new.
func rest(tb testing.TB, r *Reader) []Record {
	tb.Helper()
	var all []Record
	for {
		records, err := r.Read(context.Background(), 0)
		if err != nil {
			tb.Fatal(err)
		}
		if len(records) == 0 {
			return all
		}
		all = append(all, records...)
	}
}

func TestRecordingsAreReadAsBefore(t *testing.T) {
	inUTC(t)
	for _, rec := range recordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			r := open(t, rec.place(t), nil)
			got := ""
			for _, record := range rest(t, r) {
				line, err := json.Marshal(record)
				if err != nil {
					t.Fatal(err)
				}
				got += string(line) + "\n"
			}
			if n := r.Skipped(); n > 0 {
				t.Errorf("%d records weren't understood", n)
			}
			golden := filepath.Join("testdata", "records", rec.name+".jsonl")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("records (-want +got); -update writes them anew:\n%s", diff)
			}
		})
	}
}

// inUTC has times without a zone be those of UTC, as on the machine of the recordings.
func inUTC(t *testing.T) {
	t.Helper()
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}

// rule is what the model says to a person's text.
type rule struct {
	Match string
	Says  []string
}

func rules(t *testing.T) []rule {
	t.Helper()
	data, err := os.ReadFile("testdata/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []rule
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// stored is a text as the program keeps it: Gemini CLI takes joiners and the last
// line end away, Qwen Code the line end.
func stored(f Format, said string) string {
	switch f {
	case Gemini:
		said = strings.TrimSuffix(strings.ReplaceAll(said, "\u200d", ""), "\n")
	case Qwen:
		said = strings.TrimSuffix(said, "\n")
	default:
	}
	return said
}

func TestAnswersAreTheModelsTextByteForByte(t *testing.T) {
	truth := rules(t)
	answers := 0
	for _, rec := range recordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			records := rest(t, open(t, rec.place(t), nil))
			turns := split(records)
			if len(turns) == 0 {
				t.Fatal("nothing was asked")
			}
			truth := truth
			switch rec.name {
			case "claude-input-100x35": // its model had fewer rules
				truth = slices.DeleteFunc(slices.Clone(truth), func(r rule) bool { return r.Match == "short answer please" })
			case "claude-limited": // its account might do nothing more
				truth = []rule{{Match: "say hello"}}
			case "codex-limited":
				truth = []rule{{Match: "say hello", Says: []string{"Hello."}}, {Match: "again"}}
			case "qwen-resumed": // "then say hello", asked while the job ran, isn't stored
				truth = append([]rule{{Match: "slow job", Says: []string{"Starting the slow job.", "Hello 👋 — this is a short answer."}}}, truth...)
			}
			for _, turn := range turns {
				answers += checkTurn(t, rec.format, truth, turn)
			}
		})
	}
	if answers < 150 {
		t.Errorf("checked %d answers only", answers)
	}
}

// split cuts records where something was asked.
func split(records []Record) [][]Record {
	var turns [][]Record
	for _, r := range records {
		if r.Kind == User && !strings.HasPrefix(r.Text, "!") {
			turns = append(turns, nil)
		}
		if n := len(turns); n > 0 {
			turns[n-1] = append(turns[n-1], r)
		}
	}
	return turns
}

func checkTurn(t *testing.T, f Format, truth []rule, turn []Record) (answers int) {
	t.Helper()
	var says []string
	for _, r := range truth {
		if regexp.MustCompile("(?is)" + r.Match).MatchString(turn[0].Text) {
			says = r.Says
			break
		}
	}
	ended, interrupted := false, false
	for _, r := range turn {
		ended = ended || r.Kind == TurnEnd
		interrupted = interrupted || r.Interrupted
	}
	for _, r := range turn {
		if r.Kind != Answer {
			continue
		}
		if len(says) == 0 {
			t.Fatalf("%q was answered by %q", turn[0].Text, r.Text)
		}
		// The model says the last again when it's asked again.
		want := stored(f, says[min(answers, len(says)-1)])
		cut := interrupted || f == Qwen // which doesn't tell
		if r.Text != want && (!cut || !strings.HasPrefix(want, r.Text)) {
			t.Errorf("answer %d to %q is %q, want %q", answers+1, turn[0].Text, r.Text, want)
		}
		answers++
	}
	whole := !interrupted && (ended || f == Gemini)
	if whole && answers < len(says) {
		t.Errorf("%q has %d answers, want %d", turn[0].Text, answers, len(says))
	}
	return answers
}
