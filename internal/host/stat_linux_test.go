package host

import (
	"fmt"
	"os"
	"testing"

	"github.com/prometheus/procfs"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Of each process, the kernel's file is read as the library reads it.
func TestStatsAreReadAsTheLibraryReadsThem(t *testing.T) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		t.Skip("this system has no /proc")
	}
	all, err := fs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, proc := range all {
		want, err := proc.Stat()
		got, ours := ReadStat(proc.PID)
		if err != nil || ours != nil {
			continue // it has ended
		}
		compared++
		if got.PID != want.PID || got.Comm != want.Comm || got.PPID != want.PPID || got.PGRP != want.PGRP || got.Session != want.Session || got.Start != want.Starttime {
			t.Errorf("process %d is %+v, and to the library %+v", proc.PID, got, want)
		}
		uid, ours := ReadUser(proc.PID)
		if status, err := proc.NewStatus(); err == nil && ours == nil && uid != int(status.UIDs[1]) {
			t.Errorf("process %d is of user %d, and to the library of %v", proc.PID, uid, status.UIDs)
		}
	}
	own, err := ReadStat(os.Getpid())
	if err != nil || compared == 0 || own.PPID != os.Getppid() {
		t.Errorf("compared are %d; this one is %+v, %v", compared, own, err)
	}
}

// Whatever a process calls itself, its numbers are those that stand behind the name. What's cut off is an error.
func TestStatsOfAnyName(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringN(0, 15, 15), rapid.SampledFrom([]string{"(sd-pam)", "a) R 1 2 3", ") (", " ", "\n"})).Draw(t, "name")
		number := rapid.IntRange(-1, 1<<22)
		want := Stat{
			PID: rapid.IntRange(1, 1<<22).Draw(t, "pid"), Comm: name, State: rapid.SampledFrom([]byte("RSDZTtXI")).Draw(t, "state"),
			PPID: number.Draw(t, "parent"), PGRP: number.Draw(t, "group"), Session: number.Draw(t, "session"), TPGID: number.Draw(t, "foreground"),
			Flags: rapid.Uint64Range(0, 1<<32-1).Draw(t, "flags"), Start: rapid.Uint64().Draw(t, "start"),
		}
		text := fmt.Sprintf("%d (%s) %c %d %d %d 34816 %d %d 1 2 3 4 5 6 7 8 20 0 1 0 ", want.PID, want.Comm, want.State, want.PPID, want.PGRP, want.Session, want.TPGID, want.Flags)
		if got, err := parseStat(text + fmt.Sprint(want.Start) + " 0 0 0\n"); err != nil || got != want {
			t.Fatalf("it's read as %+v, %v; want %+v", got, err, want)
		}
		if got, err := parseStat(text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]); err == nil {
			t.Fatalf("what's cut off is read as %+v", got)
		}
	})
}
