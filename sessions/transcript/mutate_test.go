package transcript

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// mutations is how many records are mutated per format.
func mutations() int {
	if drawtest.Stressed() {
		return 10_000
	}
	return 1000
}

// mutate damages a record: bytes and pieces of it change, go, or are those of
// another.
func mutate(random *rand.Rand, line, other []byte) []byte {
	line = bytes.Clone(line)
	for range 1 + random.IntN(4) {
		if len(line) == 0 {
			line = []byte("{}")
		}
		from := random.IntN(len(line))
		to := min(len(line), from+1+random.IntN(40))
		switch random.IntN(8) {
		case 0:
			line[from] ^= byte(1 << random.IntN(8))
		case 1:
			line = append(line[:from:from], line[to:]...)
		case 2:
			line = line[:from]
		case 3: // another kind of value
			values := []string{"null", "-1e999", "[]", "{}", "true", `""`, `"\ud800"`, "\"\xff\xfe\"", "[[[[", "1e5"}
			if colon := bytes.IndexByte(line[from:], ':'); colon >= 0 {
				at := from + colon + 1
				end := at + max(0, bytes.IndexAny(line[at:], ",}]"))
				line = append(append(line[:at:at], values[random.IntN(len(values))]...), line[end:]...)
			}
		case 4:
			line = append(append(line[:from:from], other[random.IntN(len(other)):]...), line[to:]...)
		case 5:
			line = append(line[:to:to], line[from:]...)
		case 6:
			line = append(line[:from:from], append([]byte{0, '\\', '"', '\r'}, line[from:]...)...)
		case 7:
			line = append(line, line[from:]...)
		}
	}
	return bytes.ReplaceAll(line, []byte{'\n'}, []byte{' '})
}

// A damaged record does no harm: what isn't damaged is read, which is checked by
// whole conversations after each of the damaged records.
func TestMutatedRecordsDoNoHarm(t *testing.T) {
	for _, format := range []Format{Claude, Codex, Gemini, Qwen, Pi} {
		t.Run(string(format), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, uint64(len(format))))
			var originals [][]byte
			var sample recording
			for _, rec := range lines(t) {
				if rec.format == format {
					originals = append(originals, bytes.Split(bytes.TrimSpace(rec.data), []byte{'\n'})...)
					if sample.data == nil || len(rec.data) < len(sample.data) {
						sample = rec
					}
				}
			}
			want := rest(t, open(t, sample.place(t), nil))
			path := filepath.Join(t.TempDir(), "t.jsonl")
			r := open(t, Ref{Format: format, Path: path}, nil)
			for done := 0; done < mutations(); {
				var damaged []byte
				for range 50 {
					damaged = append(damaged, mutate(random, originals[random.IntN(len(originals))], originals[random.IntN(len(originals))])...)
					damaged = append(damaged, '\n')
					done++
				}
				add(t, path, damaged)
				if _, err := r.Read(context.Background(), 1<<20); err != nil {
					t.Fatal(err)
				}
				// A conversation of its own, with nothing left of what was before it.
				s := fileOf(r)
				s.dec = s.fresh()
				add(t, path, sample.data)
				got, err := r.Read(context.Background(), 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("after damaged records (-want +got):\n%s", diff)
				}
				if err := os.Truncate(path, 0); err != nil {
					t.Fatal(err)
				}
				cursor := r.Cursor()
				r = open(t, Ref{Format: format, Path: path}, nil)
				if _, err := Open(r.Ref(), cursor); err != nil {
					t.Fatalf("the cursor %s isn't taken: %v", cursor, err)
				}
			}
			if mutations() == 0 {
				t.Error("nothing was mutated")
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, rec := range lines(f) {
		for i, line := range bytes.Split(bytes.TrimSpace(rec.data), []byte{'\n'}) {
			if i < 20 {
				f.Add(string(rec.format), line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, format string, line []byte) {
		fresh := decoders[Format(format)]
		if fresh == nil {
			t.Skip()
		}
		records, _ := fresh().decode(line, nil)
		again, _ := fresh().decode(line, nil)
		if diff := cmp.Diff(records, again); diff != "" {
			t.Errorf("not the same twice:\n%s", diff)
		}
		for _, r := range records {
			checkRecord(t, r)
		}
	})
}

// The same with rows of opencode's database: after damaged ones comes a turn that
// isn't.
func TestMutatedRowsDoNoHarm(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	ref := placeDatabase(t, string(unzip(t, "testdata/opencode-all.sql.gz")))
	db := writable(t, ref.Path)
	originals := map[string][][]byte{}
	for _, table := range []string{"message", "part"} {
		var all string
		if err := db.QueryRow("SELECT group_concat(data, char(10)) FROM " + table).Scan(&all); err != nil {
			t.Fatal(err)
		}
		originals[table] = bytes.Split([]byte(all), []byte{'\n'})
	}
	r := open(t, ref, nil)
	if len(rest(t, r)) == 0 {
		t.Fatal("read nothing")
	}
	at := time.Now().Add(time.Hour).UnixMilli()
	id := func(table string) string { return fmt.Sprintf("%s_%020d", table, at) }
	put := func(message, part []byte) {
		at++
		if _, err := db.Exec("INSERT INTO message VALUES (?, ?, ?, ?, ?)", id("msg"), ref.Session, at, at, string(message)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", id("prt"), id("msg"), ref.Session, at, at, string(part)); err != nil {
			t.Fatal(err)
		}
	}
	pick := func(table string) []byte { return originals[table][random.IntN(len(originals[table]))] }
	for done := 0; done < mutations(); {
		for range 25 {
			put(mutate(random, pick("message"), pick("part")), mutate(random, pick("part"), pick("message")))
			done += 2
		}
		put([]byte(`{"role":"user"}`), []byte(`{"type":"text","text":"ask"}`))
		put([]byte(`{"role":"assistant","time":{"completed":1},"finish":"stop"}`), []byte(`{"type":"text","text":"answer","time":{"end":1}}`))
		r.src.(*familySource).main.src.(*openCodeSource).data.expectChange()
		got := rest(t, r)
		if n := len(got); n < 3 || texts(got[n-3:]) != "ask answer " || got[n-1].Kind != TurnEnd {
			t.Fatalf("after damaged rows: %+v", got[max(0, len(got)-3):])
		}
		for _, record := range got {
			checkRecord(t, record)
		}
	}
}
