package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Where the numbers of /proc/PID/stat stand behind the name, which is in parentheses and may
// have some in it: see proc_pid_stat(5).
const (
	statState = iota
	statPPID
	statPGRP
	statSession
	_
	statTPGID
	statFlags
	statStart = 19
)

// ReadStat reads a process's. All of the host's are read twice a second, so that it's read with little work.
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, fmt.Errorf("find process %d: %w", pid, err)
	}
	s, err := parseStat(string(text))
	if err != nil {
		return Stat{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	return s, nil
}

func parseStat(text string) (s Stat, err error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Stat{}, errors.New("it has no name")
	}
	s.Comm = text[open+1 : end]
	if s.PID, err = strconv.Atoi(strings.TrimSpace(text[:open])); err != nil {
		return Stat{}, err
	}
	n := 0
	for word := range strings.FieldsSeq(text[end+1:]) {
		switch n {
		case statState:
			s.State = word[0]
		case statPPID:
			s.PPID, err = strconv.Atoi(word)
		case statPGRP:
			s.PGRP, err = strconv.Atoi(word)
		case statSession:
			s.Session, err = strconv.Atoi(word)
		case statTPGID:
			s.TPGID, err = strconv.Atoi(word)
		case statFlags:
			s.Flags, err = strconv.ParseUint(word, 10, 64)
		case statStart:
			s.Start, err = strconv.ParseUint(word, 10, 64)
			return s, err
		}
		if err != nil {
			return Stat{}, err
		}
		n++
	}
	return Stat{}, errors.New("it ends early")
}
