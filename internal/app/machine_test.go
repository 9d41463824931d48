package app

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A machine with few terminals left, and a process with few descriptors, are told of, and
// nothing of a machine that has enough or doesn't say.
func TestWhatAMachineRunsOutOfIsTold(t *testing.T) {
	for _, c := range []struct {
		terminals [2]int // in use, and at most
		files     int
		want      string // in the detail; "": no part
	}{
		{[2]int{10, 4096}, 10, ""},
		{[2]int{4089, 4096}, 10, "4089 of 4096 pseudo-terminals are in use"},
		{[2]int{4096, 4096}, 10, "kernel.pty.max"},
		{[2]int{10, 4096}, 200, "200 of 256 file descriptors are in use"},
		{[2]int{0, 0}, 10, ""}, // it doesn't say
	} {
		proc := t.TempDir()
		put := func(name, text string) {
			t.Helper()
			file := filepath.Join(proc, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if c.terminals[1] > 0 {
			put("sys/kernel/pty/nr", strconv.Itoa(c.terminals[0])+"\n")
			put("sys/kernel/pty/max", strconv.Itoa(c.terminals[1])+"\n")
		}
		for n := range c.files {
			put(filepath.Join("self/fd", strconv.Itoa(n)), "")
		}
		p := machineFrom(proc, 256)
		switch {
		case c.want == "" && p != nil:
			t.Errorf("%+v: it's told of %s", c, p.Detail)
		case c.want != "" && (p == nil || !strings.Contains(p.Detail, c.want)):
			t.Errorf("%+v: %+v", c, p)
		}
	}
}
