package transcript

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Whatever the pieces in which a program writes, and however often the reader is
// begun anew at its cursor, the records are the same.
func TestRecordsDontDependOnHowTheFileGrows(t *testing.T) {
	for _, rec := range lines(t) {
		t.Run(rec.name, func(t *testing.T) {
			want := rest(t, open(t, rec.place(t), nil))
			path := filepath.Join(t.TempDir(), "t.jsonl")
			drawtest.CheckTimes(t, drawtest.Times(100, 30, 20), func(rt *rapid.T) {
				if err := os.RemoveAll(path); err != nil {
					rt.Fatal(err)
				}
				got := grow(rt, Ref{Format: rec.format, Path: path}, rec.data)
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Fatalf("records (-whole +in pieces):\n%s", diff)
				}
			})
		})
	}
}

// grow writes data in pieces, and reads what's there in between.
func grow(t *rapid.T, ref Ref, data []byte) []Record {
	r, err := Open(ref, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var got []Record
	look := func() {
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		records, err := r.Read(context.Background(), limit)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, records...)
		if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
			cursor := r.Cursor()
			_ = r.Close()
			if r, err = Open(ref, cursor); err != nil {
				t.Fatal(err)
			}
		}
	}
	pieces := rapid.SliceOfN(rapid.IntRange(0, len(data)), 1, 12).Draw(t, "cuts")
	written := 0
	for _, cut := range append(pieces, len(data)) {
		if cut <= written {
			continue
		}
		add(t, ref.Path, data[written:cut])
		written = cut
		look()
	}
	for before := -1; before < len(got); {
		before = len(got)
		look()
	}
	return got
}

type fataler interface{ Fatal(args ...any) }

func add(t fataler, path string, data []byte) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(data)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// said is a line of pi's: the simplest format.
func said(id, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"message":{"role":"user","content":%q}}`+"\n", id, text)
}

func texts(records []Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.Text)
	}
	return strings.Join(all, " ")
}

func pi(t *testing.T) (path string, r *Reader) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.jsonl")
	return path, open(t, Ref{Format: Pi, Path: path}, nil)
}

func expect(t *testing.T, r *Reader, want string) {
	t.Helper()
	if got := texts(rest(t, r)); got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestFileThatIsntThereYetHasNothingNew(t *testing.T) {
	path, r := pi(t)
	expect(t, r, "")
	write(t, path, said("1", "one"))
	expect(t, r, "one")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect(t, r, "")
}

func TestRewrittenFileIsReadFromWhatIsntKnown(t *testing.T) {
	one, two, three, four := said("1", "one"), said("2", "two"), said("3", "three"), said("4", "four")
	long := said("9", strings.Repeat("x", 500))
	tests := map[string]struct{ anew, want string }{
		"truncated":                        {"", ""},
		"truncated and grown":              {four, "four"},
		"another beginning, longer":        {long + one + two + three + four, "four"},
		"another text, longer":             {long + four + long, strings.Repeat("x", 500) + " four " + strings.Repeat("x", 500)},
		"the last line taken back":         {one + two, ""},
		"the last line taken back, others": {one + two + four + long, "four " + strings.Repeat("x", 500)},
		"without its beginning":            {three + four, "four"},
		"the same":                         {one + two + three, ""},
		"the same and more":                {one + two + three + four, "four"},
	}
	for name, tt := range tests {
		for _, how := range []string{"in place", "renamed", "while closed"} {
			t.Run(name+" "+how, func(t *testing.T) {
				path, r := pi(t)
				write(t, path, one+two+three)
				expect(t, r, "one two three")
				cursor := r.Cursor()
				if how == "renamed" {
					write(t, path+".new", tt.anew)
					if err := os.Rename(path+".new", path); err != nil {
						t.Fatal(err)
					}
				} else {
					write(t, path, tt.anew)
				}
				if how == "while closed" {
					r = open(t, r.Ref(), cursor)
				}
				expect(t, r, tt.want)
				add(t, path, []byte(said("5", "five")))
				expect(t, r, "five")
				expect(t, r, "")
			})
		}
	}
}

func TestLinesThatAreTooLongAreSkippedAndCounted(t *testing.T) {
	const limit = 1000
	path, r := pi(t)
	fileOf(r).tail.limit = limit
	write(t, path, said("1", "one")+said("2", strings.Repeat("x", limit))+said("3", "three")+`{"type":"message",`)
	expect(t, r, "one three")
	for range 20 { // the line grows over the limit, and over the reader's end
		add(t, path, bytes.Repeat([]byte{'y'}, limit/2))
		expect(t, r, "")
	}
	skipped, cursor := r.Skipped(), r.Cursor()
	if skipped != 1 {
		t.Errorf("skipped %d, want 1", skipped)
	}
	r = open(t, r.Ref(), cursor)
	fileOf(r).tail.limit = limit
	add(t, path, []byte("\n"+said("4", "four")))
	expect(t, r, "four")
	if got := r.Skipped(); got != 2 {
		t.Errorf("skipped %d, want 2", got)
	}
}

func TestHalfALineDoesntTakeTheNextWithIt(t *testing.T) {
	path, r := pi(t)
	whole := said("2", "two")
	write(t, path, said("1", "one")+whole[:len(whole)/2]+said("3", "three")+"\n\x00\x00\n"+said("4", "four"))
	expect(t, r, "one three four")
	if got := r.Skipped(); got != 2 {
		t.Errorf("skipped %d, want 2", got)
	}
}

func TestDeepNestingIsSkipped(t *testing.T) {
	path, r := pi(t)
	for _, deep := range []string{strings.Repeat("[", 4<<20), strings.Repeat(`{"a":`, 1<<20), `{"type":"message","x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}"} {
		add(t, path, []byte(deep+"\n"))
	}
	add(t, path, []byte(said("1", "one")))
	expect(t, r, "one")
	if got := r.Skipped(); got != 3 {
		t.Errorf("skipped %d, want 3", got)
	}
}

func TestReadStopsWhenAsked(t *testing.T) {
	path, r := pi(t)
	write(t, path, said("1", "one"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Read(ctx, 0); err == nil {
		t.Error("read in spite of a context that's done")
	}
	expect(t, r, "one")
}

func TestDamagedCursorsAreRefused(t *testing.T) {
	path, r := pi(t)
	write(t, path, said("1", "one"))
	expect(t, r, "one")
	good := string(r.Cursor())
	if len(good) > 1000 {
		t.Errorf("a cursor of %d bytes", len(good))
	}
	for name, cursor := range map[string]string{
		"no JSON":          "xyz",
		"cut off":          good[:len(good)-1],
		"more":             good + good,
		"other version":    strings.Replace(good, `"v":1`, `"v":2`, 1),
		"other format":     strings.Replace(good, `"pi"`, `"qwen"`, 1),
		"other path":       strings.Replace(good, "t.jsonl", "u.jsonl", 1),
		"negative":         strings.Replace(good, `"offset":`, `"offset":-`, 1),
		"other state":      strings.Replace(good, `"state":{`, `"state":[{`, 1),
		"unknown position": strings.Replace(good, `"offset"`, `"place"`, 1),
	} {
		if cursor == good {
			t.Errorf("%s: the cursor is good: %s", name, good)
		}
		if _, err := Open(r.Ref(), []byte(cursor)); err == nil || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fileOf is the file that a reader of one reads.
func fileOf(r *Reader) *fileSource {
	if c, ok := r.src.(*familySource); ok {
		return c.main.src.(*fileSource)
	}
	return r.src.(*fileSource)
}
