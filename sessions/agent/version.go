package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(p.PID), "exe"))
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
		if info, err := os.Stat(path); err == nil && info.Size() < maxPackage {
			text, err := os.ReadFile(path)
			if err == nil && json.Unmarshal(text, &p) == nil && p.Name != "" && p.Version != "" {
				return p.Version
			}
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

// OtherMajor reports whether a version is of another major version than all of those
// that a profile was made from. What's no version isn't.
func OtherMajor(version string, madeFrom []string) bool {
	major := func(v string) string {
		m, _, ok := strings.Cut(v, ".")
		if !ok {
			return ""
		}
		return m
	}
	now := major(version)
	return now != "" && len(madeFrom) > 0 && !slices.ContainsFunc(madeFrom, func(v string) bool { return major(v) == now })
}
