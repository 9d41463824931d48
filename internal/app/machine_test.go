package app

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/host"
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
		m := machineUse{terminals: c.terminals[0], mostTerminals: c.terminals[1], files: c.files, mostFiles: 256}
		if c.terminals[1] == 0 {
			m.terminalsErr = &host.NotKnownError{Name: host.TerminalCount}
		}
		p := machineFrom(m)
		switch {
		case c.want == "" && p != nil:
			t.Errorf("%+v: it's told of %s", c, p.Detail)
		case c.want != "" && (p == nil || !strings.Contains(p.Detail, c.want)):
			t.Errorf("%+v: %+v", c, p)
		}
	}
}
