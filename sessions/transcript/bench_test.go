//go:build unix

package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// big writes a transcript of about size bytes: the recordings of a format, over and
// over.
func big(b *testing.B, format Format, size int64) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "t.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	all := lines(b)
	for written := int64(0); written < size; {
		for _, rec := range all {
			if rec.format == format {
				n, err := out.Write(rec.data)
				if err != nil {
					b.Fatal(err)
				}
				written += int64(n)
			}
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// cpu is the processor time that was used so far, by all threads: what a busy
// machine doesn't change.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkCatchUp reads a transcript that has grown by 64 MB, and decodes each of
// its lines by encoding/json into a map for comparison: ratio is how many times
// faster the reader is, in processor time.
func BenchmarkCatchUp(b *testing.B) {
	for _, format := range []Format{Claude, Codex, Gemini, Qwen, Pi} {
		b.Run(string(format), func(b *testing.B) {
			path := big(b, format, 64<<20)
			var ours, theirs time.Duration
			for b.Loop() {
				start := cpu(b)
				n := catchUp(b, Ref{Format: format, Path: path})
				ours += cpu(b) - start
				if n == 0 {
					b.Fatal("read nothing")
				}
				start = cpu(b)
				decodeAll(b, path)
				theirs += cpu(b) - start
			}
			b.SetBytes(64 << 20)
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
			b.ReportMetric(float64(64*b.N)/ours.Seconds(), "ours-MB/s")
			b.ReportMetric(float64(64*b.N)/theirs.Seconds(), "json-MB/s")
		})
	}
}

func catchUp(b *testing.B, ref Ref) (records int) {
	b.Helper()
	r, err := Open(ref, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for {
		got, err := r.Read(context.Background(), 0)
		if err != nil {
			b.Fatal(err)
		}
		if len(got) == 0 {
			return records
		}
		records += len(got)
	}
}

func decodeAll(b *testing.B, path string) {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 0, chunkLen), maxLine)
	for in.Scan() {
		var m map[string]any
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			b.Fatal(err)
		}
	}
	if in.Err() != nil {
		b.Fatal(in.Err())
	}
}

// BenchmarkPoll looks at a transcript of 200 MB in which nothing is new.
func BenchmarkPoll(b *testing.B) {
	path := big(b, Claude, 200<<20)
	r, err := Open(Ref{Format: Claude, Path: path}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	for {
		got, err := r.Read(context.Background(), 0)
		if err != nil {
			b.Fatal(err)
		}
		if len(got) == 0 {
			break
		}
		runtime.ReadMemStats(&after)
		peak = max(peak, after.HeapInuse-min(after.HeapInuse, before.HeapInuse))
	}
	b.ResetTimer()
	start := cpu(b)
	for range b.N {
		if got, err := r.Read(context.Background(), 0); err != nil || len(got) > 0 {
			b.Fatal(len(got), err)
		}
	}
	b.ReportMetric(float64((cpu(b)-start).Microseconds())/float64(b.N), "cpu-µs/poll")
	b.ReportMetric(float64(peak)/(1<<20), "catch-up-MB")
}

// BenchmarkPollDatabase looks at opencode's database: at rest, and while another
// conversation of it changes.
func BenchmarkPollDatabase(b *testing.B) {
	for _, name := range []string{"at rest", "changing"} {
		b.Run(name, func(b *testing.B) {
			ref := placeDatabase(b, string(unzip(b, "testdata/opencode-all.sql.gz")))
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(ref.Path, old, old); err != nil {
				b.Fatal(err)
			}
			r, err := Open(ref, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			if got, err := r.Read(context.Background(), 0); err != nil || len(got) == 0 {
				b.Fatal(len(got), err)
			}
			db := writable(b, ref.Path)
			b.ResetTimer()
			for range b.N {
				if name == "changing" {
					b.StopTimer()
					if _, err := db.Exec("UPDATE session SET title = title || 'x'"); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				if got, err := r.Read(context.Background(), 0); err != nil || len(got) > 0 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}

// BenchmarkGiantLine reads a line that's longer than any that's decoded.
func BenchmarkGiantLine(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, append(bytes.Repeat([]byte{'x'}, 64<<20), '\n'), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(64 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if n := catchUp(b, Ref{Format: Pi, Path: path}); n != 0 {
			b.Fatal(n)
		}
	}
}
