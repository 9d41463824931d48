//go:build linux || darwin || freebsd

package host

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A program that was started by us is what the system says of it, until it has ended.
func TestAProgramIsWhatTheSystemSaysOfIt(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.Create(filepath.Join(folder, "open"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	began := time.Now()
	cmd := exec.Command("sh", "-c", `echo ready; read line`, "one", "two words", "")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = folder, []string{"PB_HOST=a b", "PATH=" + os.Getenv("PATH")}, []*os.File{open}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid

	s, err := ReadStat(pid)
	if err != nil || s.PID != pid || s.PPID != os.Getpid() || s.HasEnded() || s.Start == 0 || s.IsKernelThread() {
		t.Errorf("state %+v, %v", s, err)
	}
	all, err := ListStats()
	if err != nil || !slices.ContainsFunc(all, func(o Stat) bool { return o.PID == pid && o.Start == s.Start }) {
		t.Errorf("it isn't among %d processes (%v)", len(all), err)
	}
	if children, err := ListChildren(os.Getpid()); err != nil || !slices.Contains(children, pid) {
		t.Errorf("children %v, %v", children, err)
	}
	args, err := ReadArguments(pid)
	if want := []string{"sh", "-c", "echo ready; read line", "one", "two words"}; err != nil || len(args) < len(want) || !slices.Equal(args[:len(want)], want) {
		t.Errorf("arguments %q, %v", args, err)
	}
	if got, err := ReadFolder(pid); err != nil || got != folder {
		t.Errorf("folder %q, %v", got, err)
	}
	if !IsIn(pid, folder) || IsIn(pid, filepath.Dir(folder)) {
		t.Error("it's in another folder")
	}
	if got, err := ReadProgram(pid); err != nil || !filepath.IsAbs(got) {
		t.Errorf("program %q, %v", got, err)
	}
	raw, whole, err := ReadWholeEnviron(pid)
	if err != nil || !whole || !strings.Contains(string(raw), "PB_HOST=a b\x00") {
		t.Errorf("environment %q, %t, %v", raw, whole, err)
	}
	if uid, err := ReadUser(pid); err != nil || uid != os.Geteuid() {
		t.Errorf("user %d, %v", uid, err)
	}
	if paths, err := ListDescriptors(pid); err != nil || !slices.Contains(paths, open.Name()) {
		t.Errorf("open files %q, %v", paths, err)
	}
	clock, err := ReadClock()
	if started := clock.Started(s); err != nil || started.Before(began.Add(-3*time.Second)) || started.After(time.Now().Add(3*time.Second)) || clock.Age(s) < 0 {
		t.Errorf("started at %s, %s ago, %v; it was at %s", started, clock.Age(s), err, began)
	}

	_ = in.Close()
	for { // it ends, and nobody has waited for it yet
		if s, err = ReadStat(pid); err != nil || s.HasEnded() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		t.Errorf("one that's only waited for is gone: %v", err)
	}
	_ = cmd.Wait()
	if _, err := ReadStat(pid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of one that's gone: %v", err)
	}
}
