package tmux_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// witnessFile names, in the environment of this test's own program, the file into which it
// writes with what it was started.
const witnessFile = "PANEBRIDGE_TEST_WITNESS"

// testimony is with what a program was started, to the byte.
type testimony struct {
	Folder    []byte   // where it is, as the kernel says
	Arguments [][]byte // behind its name
	Env       [][]byte
}

// canary is a file that's there once somebody has run pwn, which every program finds and nothing
// may run.
var canary string // as the environment is, which has the folder of pwn

// TestMain makes the test's program a witness where one is asked for, and places pwn.
func TestMain(m *testing.M) {
	if file := os.Getenv(witnessFile); file != "" {
		testify(file)
		return
	}
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		panic(err)
	}
	canary = filepath.Join(dir, "canary")
	if err := os.WriteFile(filepath.Join(dir, "pwn"), []byte("#!/bin/sh\necho \"$@\" >>'"+canary+"'\n"), 0o700); err != nil {
		panic(err)
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// testify writes the testimony and stays until its terminal is closed.
func testify(file string) {
	folder, err := syscall.Getwd()
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(testimony{[]byte(folder), allBytes(os.Args[1:]), allBytes(os.Environ())})
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func allBytes(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, text := range texts {
		out[i] = []byte(text)
	}
	return out
}

// env is the value of a variable that the program was given.
func (w testimony) env(name string) (string, bool) {
	for _, kv := range w.Env {
		if value, ok := strings.CutPrefix(string(kv), name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// has reports whether the program was given these arguments.
func (w testimony) has(arguments []string) bool {
	return slices.EqualFunc(w.Arguments, arguments, func(got []byte, want string) bool { return string(got) == want })
}

// stand is a tmux server with programs that testify.
type stand struct {
	*server
	self, dir string
	calls     int
}

func newStand(t *testing.T) *stand {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := shortTemp(t)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return &stand{server: startServer(t), self: self, dir: dir}
}

func (st *stand) mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newFile is the name of a file that isn't there yet.
func (st *stand) newFile() string {
	st.calls++
	return filepath.Join(st.dir, "file"+itoa(st.calls))
}

// heard waits for a witness.
func (st *stand) heard(file string) (w testimony) {
	st.t.Helper()
	var text []byte
	st.await("witness in "+file, func() (ok bool) {
		var err error
		text, err = os.ReadFile(file)
		return err == nil
	})
	if err := json.Unmarshal(text, &w); err != nil {
		st.t.Fatal(err)
	}
	return w
}

// quiet fails if anything has run that mustn't. What a format runs, tmux starts in the
// background: another such program, that's waited for, comes behind it.
func (st *stand) quiet(what string) {
	st.t.Helper()
	st.tmux("run-shell", ":")
	if ran, err := os.ReadFile(canary); err == nil {
		st.t.Errorf("%s: it ran (%.40q)", what, ran)
		_ = os.Remove(canary)
	}
}
