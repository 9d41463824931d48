package qostrace

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/qos"
)

// options are with a value in each field that's recorded.
func options() qos.Options {
	l := func(n int) qos.Limit {
		return qos.Limit{Windows: []qos.Window{{Calls: n, Per: time.Minute}, {Calls: 9, Per: time.Second}}, Gap: time.Duration(n)}
	}
	return qos.Options{
		Mode: qos.CoalesceOnly, GroupMPM: 7, OutputBudgetRatio: 0.5, ReserveMPM: 2, HardReserve: true, Rounding: 3, MinSessionTick: 4,
		ActiveEmitterWindow: 5, ActiveEmitterEMAAlpha: 0.25, MaxStale: 6, LiveEvery: 7, CallTimeout: 8, MaxInFlight: 9, FlushLimit: 10, Seed: 1<<63 + 11,
		Limits: qos.Limits{Bot: l(1), Group: l(2), Private: l(3), Families: map[qos.Family]qos.Limit{qos.FamilyTyping: l(4)}},
	}
}

func TestEachSettingOfASchedulerIsRecorded(t *testing.T) {
	want := options()
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; name {
		case "OnEvent", "Meter", "Trace", "Logger":
		default:
			if v.Field(i).IsZero() {
				t.Errorf("the test sets no %s: record it, too", name)
			}
		}
	}
	got, err := settingsOf(want).read()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("recorded and read %+v (%v), want %+v", got, err, want)
	}
}

// write runs a writer over steps. Each is handed over when the one before was taken.
func write(t *testing.T, opt Options, steps ...qos.TraceStep) {
	t.Helper()
	w := NewWriter(opt)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	for _, s := range steps {
		w.RecordStep(s)
		synctest.Wait()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func want(at time.Time, n int64) qos.TraceStep {
	return qos.TraceStep{Kind: qos.TraceWanted, At: at, Doc: qos.Doc{ID: "a", Wanted: n}, Count: 1}
}

func start(at time.Time) qos.TraceStep {
	return qos.TraceStep{Kind: qos.TraceStarted, At: at, Options: options()}
}

func open(at time.Time) qos.TraceStep {
	return qos.TraceStep{Kind: qos.TraceOpened, At: at, Doc: qos.Doc{ID: "a", Chat: "chat", Session: "s"}}
}

// kinds are a recording's steps in short.
func kinds(t *testing.T, dir string) (*Recording, string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, Folder, "x-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadFiles(files...)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range r.Steps {
		text := s.Kind.String()
		if s.Kind == qos.TraceWanted || s.Kind == qos.TraceOpened {
			text += fmt.Sprint(s.Doc.Wanted)
		}
		out = append(out, text)
	}
	return r, strings.Join(out, " ")
}

func TestALineThatAKillCutIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opt := Options{Adapter: "x", StateDir: dir, Days: 1}
		now := time.Now()
		write(t, opt, start(now), open(now), want(now, 5))
		path := filepath.Join(dir, Folder, FileName("x", "2000-01-01"))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text[:len(text)-7], 0o600); err != nil {
			t.Fatal(err)
		}
		if r, got := kinds(t, dir); got != "start open0" || r.Cut != 1 {
			t.Errorf("read %q, %d cut", got, r.Cut)
		}
		write(t, opt, start(now), open(now), want(now, 6))
		r, got := kinds(t, dir)
		if got != "start open0 start open0 want6" || r.Cut != 1 {
			t.Errorf("behind it read %q, %d cut", got, r.Cut)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v (%v)", info.Mode(), err)
		}
		if first := r.Steps[0].Doc.Chat; first != r.Steps[2].Doc.Chat {
			t.Error("a chat has another number after a restart")
		}
		// In the middle it's no kill's.
		text = append([]byte("{\"k\":\"file\",\"v\":1,\"day\":\"2000-01-01\"}\n{\"k\n"), text...)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFiles(path); err == nil {
			t.Error("a file that's broken in the middle is read")
		}
	})
}

func TestAFullDaySaysSo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		steps := []qos.TraceStep{start(now), open(now)}
		for i := range 100 {
			steps = append(steps, want(now.Add(time.Duration(i)*time.Second), int64(i)))
		}
		steps = append(steps, want(now.Add(25*time.Hour), 1000))
		write(t, Options{Adapter: "x", StateDir: dir, Days: 2, Bytes: 3000}, steps...)
		r, got := kinds(t, dir)
		if !r.Full || !strings.HasSuffix(got, "start open99 want1000") {
			t.Errorf("full %v; read %q", r.Full, got)
		}
		info, err := os.Stat(filepath.Join(dir, Folder, FileName("x", "2000-01-01")))
		if err != nil || info.Size() > 3100 || info.Size() < 2800 {
			t.Errorf("the full file: %v %v", info.Size(), err)
		}
	})
}

func TestOldDaysGo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		steps := []qos.TraceStep{start(now)}
		for i := range 5 {
			steps = append(steps, want(now.AddDate(0, 0, i), 1))
		}
		write(t, Options{Adapter: "x", StateDir: dir, Days: 2}, steps...)
		files, _ := filepath.Glob(filepath.Join(dir, Folder, "x-*"))
		if len(files) != 2 || !strings.HasSuffix(files[1], "2000-01-05.jsonl") {
			t.Errorf("files: %v", files)
		}
	})
}

// A slow disk is one that nobody reads for: steps beyond what may wait are counted, and RecordStep returns.
func TestWhatASlowDiskMissedIsSaid(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := NewWriter(Options{Adapter: "x", StateDir: dir, Days: 1})
		now := time.Now()
		w.RecordStep(start(now))
		for i := range waiting + 9 {
			w.RecordStep(want(now, int64(i)))
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
		if r, _ := kinds(t, dir); r.Lost != 10 || len(r.Steps) == 0 {
			t.Errorf("%d steps, %d lost", len(r.Steps), r.Lost)
		}
	})
}

func TestNothingIsRecordedWhereNothingIsToBe(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		write(t, Options{Adapter: "x", StateDir: dir}, start(now), open(now))
		if _, err := os.Stat(filepath.Join(dir, Folder)); err == nil {
			t.Error("there's a folder")
		}
		w := NewWriter(Options{Adapter: "x", StateDir: dir})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		w.RecordStep(start(now))
		w.RecordStep(open(now))
		synctest.Wait()
		w.SetDays(1)
		w.RecordStep(want(now, 3))
		synctest.Wait()
		stop()
		<-ended
		if _, got := kinds(t, dir); got != "start open0 want3" {
			t.Errorf("switched on, it has %q", got)
		}
	})
}

func TestALinkInPlaceOfARecordingIsRefused(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	synctest.Test(t, func(t *testing.T) {
		if err := os.Mkdir(filepath.Join(dir, Folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, filepath.Join(dir, Folder, FileName("x", "2000-01-01"))); err != nil {
			t.Fatal(err)
		}
		write(t, Options{Adapter: "x", StateDir: dir, Days: 1}, start(time.Now()))
		if _, err := os.Stat(other); err == nil {
			t.Error("it's written through a link")
		}
	})
}

// fullDisk takes so many bytes more.
type fullDisk struct {
	io.Writer
	left int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n, err := d.Writer.Write(p[:min(len(p), d.left)])
	d.left -= n
	if err == nil && n < len(p) {
		err = unix.ENOSPC
	}
	return n, err
}

// A disk that was full is recorded on once there's room, in the same file, wherever it cut a line.
func TestAFullDiskLeavesAFileThatCanBeRead(t *testing.T) {
	for left := 0; left < 300; left += 7 {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			now := time.Now()
			w := NewWriter(Options{Adapter: "x", StateDir: dir, Days: 1})
			if left < 100 { // it may cut the file's first line
				w.openDay(start(now))
				w.discard()
				in, err := openFolder(dir)
				if err != nil {
					t.Fatal(err)
				}
				first := `{"k":"file","t":0,"v":1,"adapter":"x","day":"2000-01-01"}`
				if err := in.WriteFile(FileName("x", "2000-01-01"), []byte(first[:min(left, len(first))]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w.takeStep(start(now))
			w.takeStep(open(now))
			w.flush()
			w.buffer.Reset(&fullDisk{w.file, left})
			for i := range 10 {
				w.takeStep(want(now.Add(time.Second), int64(i)))
			}
			w.flush()
			w.takeStep(want(now.Add(time.Hour), 100))
			w.closeFile()
			if r, got := kinds(t, dir); !strings.HasSuffix(got, "start open9 want100") || r.Lost == 0 {
				t.Errorf("with %d bytes left, %d steps lost, read %q", left, r.Lost, got)
			}
		})
	}
}
