package cli

import (
	"bytes"
	"fmt"
	"os"
)

// parentOf returns the process above, 0 if it isn't known.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// pid (name) state parent …; the name may have anything in it.
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		return 0
	}
	return parent
}
