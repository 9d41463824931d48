package agent

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// stat is what the kernel says of a process in its file of that name: see proc_pid_stat(5).
type stat struct {
	PID       int
	Comm      string // at most 15 bytes, any
	State     byte   // 'Z': it has ended
	PPID      int
	PGRP      int
	Session   int
	TPGID     int
	Flags     uint64
	Starttime uint64 // in ticks since the host's start
}

// Where the numbers stand behind the name, which is in parentheses and may have some in it.
const (
	statState = iota
	statPPID
	statPGRP
	statSession
	_
	statTPGID
	statFlags
	statStarttime = 19
)

// readStat reads a process's. All of the host's are read twice a second, so that it's read with little work.
func readStat(pid int) (stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, fmt.Errorf("find process %d: %w", pid, err)
	}
	s, err := parseStat(string(text))
	if err != nil {
		return stat{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	return s, nil
}

func parseStat(text string) (s stat, err error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("it has no name")
	}
	s.Comm = text[open+1 : end]
	if s.PID, err = strconv.Atoi(strings.TrimSpace(text[:open])); err != nil {
		return stat{}, err
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
		case statStarttime:
			s.Starttime, err = strconv.ParseUint(word, 10, 64)
			return s, err
		}
		if err != nil {
			return stat{}, err
		}
		n++
	}
	return stat{}, errors.New("it ends early")
}
