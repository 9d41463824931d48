package inbox

import (
	"bytes"
	"os"
	"strconv"
)

// startField is the number of starttime in /proc/PID/stat, counted from the one behind
// the program's name (proc(5): the 22nd of all).
const startField = 19

// started is when a process was started, in clock ticks since the machine was; 0: it
// isn't there, or is only waited for.
func started(pid int) int64 {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name is in brackets, and may have any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startField || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0
	}
	n, err := strconv.ParseInt(string(fields[startField]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
