package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Version is a tmux version: "3.3a", "next-3.7", "3.6".
type Version struct {
	Major, Minor int
	raw          string
}

// ParseVersion reads what tmux -V prints behind "tmux ". What can't be read
// (a build from a development tree without a number) counts as new.
func ParseVersion(s string) Version {
	v := Version{raw: s}
	digits := strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_ ")
	if strings.HasPrefix(s, "openbsd-") || digits == "" {
		v.Major, v.Minor = 99, 0 // OpenBSD's base tmux has the system's number and follows the newest
		return v
	}
	major, rest, _ := strings.Cut(digits, ".")
	v.Major, _ = strconv.Atoi(major)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	v.Minor, _ = strconv.Atoi(rest[:end])
	return v
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

func (v Version) String() string { return v.raw }

// ProgramVersion asks a tmux program for its version and refuses one older
// than MinVersion.
func ProgramVersion(ctx context.Context, program string) (Version, error) {
	cmd := exec.CommandContext(ctx, program, "-V")
	cmd.Env = clientEnv(os.Environ())
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return Version{}, fmt.Errorf("%s isn't installed: install it (apt-get install tmux, brew install tmux)", program)
	}
	if err != nil {
		return Version{}, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	v := ParseVersion(strings.TrimPrefix(strings.TrimSpace(string(out)), "tmux "))
	if !v.AtLeast(3, 2) {
		return v, fmt.Errorf("%s is version %s: panebridge needs %s or newer", program, v, MinVersion)
	}
	return v, nil
}
