package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// memLog is a log in memory.
type memLog map[sessions.ID][]sessions.Line

func (l memLog) Read(_ context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	lines, ok := l[id]
	if !ok {
		return sessions.Output{}, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	at, _ := slices.BinarySearchFunc(lines, from, func(l sessions.Line, n int64) int { return int(l.N - n) })
	out := sessions.Output{Lines: lines[at:min(at+limit, len(lines))], Next: from, Oldest: 1}
	if len(lines) > 0 {
		out.Oldest = lines[0].N
	}
	if n := len(out.Lines); n > 0 {
		out.Next = out.Lines[n-1].N + 1
	}
	return out, nil
}

func mustOpenIndex(t *testing.T, log Log) *Index {
	t.Helper()
	x, err := OpenIndex(t.Context(), filepath.Join(t.TempDir(), File), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func last(x *Index, id sessions.ID) int64 {
	n, _ := x.Last(id)
	return n
}

// newestOf is what a plain comparison finds, the newest first.
func (l memLog) newestOf(q WordQuery) (hits []Hit) {
	for id, lines := range l {
		for _, line := range lines {
			if q.Matches(line.Text) {
				hits = append(hits, Hit{id, line})
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return b.Line.At.Compare(a.Line.At) })
	return hits
}

// A search finds what a plain comparison finds, in the same order, whatever was added, dropped and forgotten meanwhile.
func TestFindFindsWhatAComparisonFinds(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		log := memLog{}
		x, err := OpenIndex(t.Context(), filepath.Join(t.TempDir(), File), log)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = x.Close() }()
		x.maxLen, x.mostSmall, x.fewRows, x.tailLines = 7, 3, 5, rapid.IntRange(0, 2).Draw(rt, "lines of a tail")
		now := time.Unix(1e9, 0)
		next := map[sessions.ID]int64{}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				id := sessions.ID(rapid.SampledFrom([]string{"pb_1", "pb_2", "pb_3"}).Draw(rt, "session"))
				var lines []sessions.Line
				for _, text := range rapid.SliceOfN(drawnText(0, 20), 1, 10).Draw(rt, "lines") {
					next[id]++
					now = now.Add(time.Second)
					lines = append(lines, sessions.Line{N: next[id], Text: text, At: now})
				}
				if err := x.add(t.Context(), id, lines); err != nil {
					rt.Fatal(err)
				}
				log[id] = append(log[id], lines...)
			},
			"trim": func(rt *rapid.T) {
				for id, lines := range log {
					log[id] = lines[rapid.IntRange(0, len(lines)).Draw(rt, "trimmed"):]
					if len(log[id]) > 0 {
						if err := x.drop(t.Context(), id, log[id][0].N); err != nil {
							rt.Fatal(err)
						}
					}
				}
			},
			"merge": func(rt *rapid.T) {
				if _, err := x.mergeOld(t.Context()); err != nil {
					rt.Fatal(err)
				}
			},
			"forget": func(rt *rapid.T) {
				id := sessions.ID(rapid.SampledFrom([]string{"pb_1", "pb_2"}).Draw(rt, "session"))
				delete(log, id)
				if err := x.Forget(t.Context(), id); err != nil || last(x, id) != 0 {
					rt.Fatal(err)
				}
				if err := x.Erase(t.Context()); err != nil {
					rt.Fatal(err)
				}
			},
			"find": func(rt *rapid.T) {
				q, err := ParseQuery(drawnText(1, 3).Draw(rt, "query"))
				if err != nil {
					return
				}
				want := log.newestOf(q)
				limit := rapid.IntRange(1, 10).Draw(rt, "limit")
				got, err := x.Find(t.Context(), log, q, limit)
				if err != nil || !slices.EqualFunc(got.Hits, want[:min(limit, len(want))], func(a, b Hit) bool {
					return a.Session == b.Session && a.Line.N == b.Line.N
				}) || len(want) > limit && !got.More {
					rt.Fatalf("%s found %v, %v; there are %v", q.match, got, err, want)
				}
			},
		})
	})
}

// An index that can't be read, or is of another version, is made anew; one that's sound is kept.
func TestAnIndexIsMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	lines := []sessions.Line{{N: 1, Text: "hello", At: time.Now()}}
	for name, spoil := range map[string]func(x *Index) error{
		"text": func(x *Index) error {
			return errors.Join(x.Close(), os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
		},
		"pipe": func(x *Index) error {
			return errors.Join(x.Close(), os.Remove(path), syscall.Mkfifo(path, 0o600))
		},
		"link": func(x *Index) error {
			return errors.Join(x.Close(), os.Rename(path, path+"-elsewhere"), os.Symlink(path+"-elsewhere", path))
		},
		"version": func(x *Index) error { _, err := x.write.Exec("PRAGMA user_version = 99"); return err },
		"tables":  func(x *Index) error { _, err := x.write.Exec("DROP TABLE blocks"); return err },
		"":        func(*Index) error { return nil },
	} {
		x, err := OpenIndex(t.Context(), path, memLog{})
		if err == nil && last(x, "pb_1") == 0 {
			err = x.add(t.Context(), "pb_1", lines)
		}
		if err == nil {
			err = spoil(x)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if err := x.Close(); err != nil && name == "" {
			t.Fatal(err)
		}
		again, err := OpenIndex(t.Context(), path, memLog{})
		if err != nil {
			t.Fatal(name, err)
		}
		if last := last(again, "pb_1"); (last == 1) != (name == "") {
			t.Errorf("%s: the newest line is %d", name, last)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// What's forgotten stands in no file of the index.
func TestForgottenWordsAreInNoFile(t *testing.T) {
	log := memLog{}
	x := mustOpenIndex(t, log)
	x.mostSmall = 0 // all are merged
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		for i := range 20 {
			var lines []sessions.Line
			for n := range 100 {
				lines = append(lines, sessions.Line{N: int64(100*i + n + 1), Text: fmt.Sprintf("hunter%dsecret of %s", n, id), At: time.Now()})
			}
			if err := x.add(t.Context(), id, lines); err != nil {
				t.Fatal(err)
			}
			log[id] = append(log[id], lines...)
		}
	}
	if hasMerged, err := x.mergeOld(t.Context()); err != nil || !hasMerged {
		t.Fatal(hasMerged, err)
	}
	isThere := func() bool {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(x.path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "hunter") || strings.Contains(string(b), "secret") {
				return true
			}
		}
		return false
	}
	if !isThere() {
		t.Fatal("the words aren't where they're looked for")
	}
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		if err := x.Forget(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		delete(log, id)
	}
	if err := x.Erase(t.Context()); err != nil {
		t.Fatal(err)
	}
	if isThere() {
		t.Error("words are left")
	}
}
