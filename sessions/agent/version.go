package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// Version is that of the program that a process runs, "" where it can't be read: it's
// in the package.json of the program's package, or in its path. Nothing is started.
func (p Process) Version() string {
	if p.PID == 0 {
		return ""
	}
	for _, file := range p.files() {
		if target, err := filepath.EvalSymlinks(file); err == nil {
			file = target
		}
		if v := packageVersion(file); v != "" {
			return v
		}
		if v := pathVersion(file); v != "" {
			return v
		}
	}
	return ""
}

// files are those that may be the program: the script that a runtime runs, what the
// kernel runs, and what its name stands for on its PATH, as some write a title over
// their arguments.
func (p Process) files() []string {
	var out []string
	title := ""
	if len(p.Args) > 0 {
		title, _, _ = strings.Cut(p.Args[0], " ")
	}
	runtime := slices.Contains(runtimes, baseName(title)) || slices.Contains(runtimes, p.Name)
	if script, _ := scriptOf(p.Args[min(1, len(p.Args)):]); runtime && script != "" {
		if !filepath.IsAbs(script) {
			script = filepath.Join(p.Cwd, script)
		}
		out = append(out, script)
	}
	exe, err := host.ReadProgram(p.PID)
	if err == nil && !slices.Contains(runtimes, filepath.Base(exe)) {
		return append(out, exe)
	}
	if name := baseName(title); name != "" && p.Environ != nil {
		for _, dir := range filepath.SplitList(p.Environ()["PATH"]) {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !slices.Contains(runtimes, name) {
				return append(out, file)
			}
		}
	}
	return out
}

const (
	maxAboveFile = 8 // folders above a program's file that may have its package.json
	maxPackage   = 1 << 20
)

// packageVersion is the version in the nearest package.json above a file of a package,
// as npm and its like install it.
func packageVersion(file string) string {
	if !strings.Contains(filepath.ToSlash(file), "/node_modules/") {
		return ""
	}
	dir := filepath.Dir(file)
	for range maxAboveFile {
		if filepath.Base(dir) == "node_modules" {
			return ""
		}
		var p struct{ Name, Version string }
		path := filepath.Join(dir, "package.json")
		text, err := regular.ReadAnybodys(path, maxPackage)
		if err == nil && json.Unmarshal(text, &p) == nil && p.Name != "" && p.Version != "" {
			return p.Version
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// semver finds a version that's the name of a file or folder, as with programs that keep
// several of themselves.
var semver = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?)$`)

func pathVersion(file string) string {
	parts := strings.Split(filepath.ToSlash(file), "/")
	for i, part := range slices.Backward(parts) {
		if m := semver.FindStringSubmatch(part); m != nil && i > 0 && !slices.Contains(runtimes, parts[i-1]) {
			return m[1]
		}
	}
	return ""
}

// Untried reports whether a version is newer than all that a profile was tried with, or
// of an older major version than all of them. What's no version isn't.
func Untried(version string, tried []string) bool {
	now, ok := parseVersion(version)
	if !ok {
		return false
	}
	newest, oldest := [3]int{}, [3]int{}
	for i, v := range tried {
		known, ok := parseVersion(v)
		switch {
		case !ok:
			return false
		case i == 0:
			newest, oldest = known, known
		}
		if slices.Compare(known[:], newest[:]) > 0 {
			newest = known
		}
		if slices.Compare(known[:], oldest[:]) < 0 {
			oldest = known
		}
	}
	return len(tried) > 0 && (slices.Compare(now[:], newest[:]) > 0 || now[0] < oldest[0])
}

// NewestTried is the newest of some versions.
func NewestTried(tried []string) (newest string) {
	for _, v := range tried {
		if newest == "" || Untried(v, []string{newest}) {
			newest = v
		}
	}
	return newest
}

// parseVersion reads a version's numbers.
func parseVersion(v string) (numbers [3]int, ok bool) {
	m := semver.FindStringSubmatch(v)
	if m == nil {
		return numbers, false
	}
	v, _, _ = strings.Cut(m[1], "-")
	v, _, _ = strings.Cut(v, "+")
	for i, part := range strings.Split(v, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return numbers, false
		}
		numbers[i] = n
	}
	return numbers, true
}

// untried is what's said of a program of a version that nobody has tried; "": it was.
func untried(program, version string, tried []string) string {
	if !Untried(version, tried) {
		return ""
	}
	return fmt.Sprintf("%s %s runs here, which nobody has tried with this panebridge yet (the newest was %s): it may misread its screen. `panebridge doctor` says what helps.", program, version, NewestTried(tried))
}

// sayUntried is the line that says so, once for each version in a session.
func (o *Observer) sayUntried(now time.Time) []sessions.Line {
	p := o.program
	if p.versioned || p.process.PID == 0 {
		return nil
	}
	p.versioned = true
	version := p.process.Version()
	text := untried(p.profile.Name(), version, p.profile.MadeFrom())
	if text == "" || o.untried == p.profile.Name()+" "+version {
		return nil
	}
	o.untried = p.profile.Name() + " " + version
	return []sessions.Line{{Kind: sessions.KindNotice, Text: printable(text), At: now, Begins: true}}
}
