package agent

import (
	"path"
	"slices"
	"strings"
)

// runtimes run scripts in JavaScript. A script that Python or a shell runs isn't an
// agent program, whatever it's called: wrappers and recorders are.
var runtimes = []string{"node", "nodejs", "bun", "deno"} //nolint:gochecknoglobals // a constant table

// Match returns the profile of the program that a process is, or nil.
func (s *Set) Match(p Process) *Profile {
	for _, name := range s.names {
		if prof := s.profiles[name]; prof.isProgram(p) {
			return prof
		}
	}
	return nil
}

// isProgram reports whether a process is the profile's program.
func (p *Profile) isProgram(proc Process) bool {
	if len(proc.Args) == 0 {
		return found(p.spec.Program.Names, proc.Name) && p.hasOnly(nil)
	}
	// A program may write a title over its arguments: then all of it is the first.
	title, _, _ := strings.Cut(proc.Args[0], " ")
	name, args := baseName(title), proc.Args[1:]
	if slices.Contains(runtimes, name) || slices.Contains(runtimes, proc.Name) && name == proc.Name {
		script, rest := scriptOf(args)
		return script != "" && found(p.spec.Program.Scripts, script) && !p.excepted(rest)
	}
	return found(p.spec.Program.Names, name) && !p.excepted(args) && p.hasOnly(args)
}

// hasOnly reports whether the first argument is one that the program needs, if it needs any.
func (p *Profile) hasOnly(args []string) bool {
	only := p.spec.Program.Only
	return len(only) == 0 || len(args) > 0 && found(only, args[0])
}

// Program is the name of the file that runs the program; "": the profile tells none, as it's
// known by other things, or its name isn't that of a program.
func (p *Profile) Program() string {
	if found(p.spec.Program.Names, p.name) {
		return p.name
	}
	return ""
}

// found reports whether one of the patterns is in a text.
func found(patterns []pattern, text string) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool { return p.MatchString(text) })
}

// excepted reports whether arguments ask for something that draws nothing.
func (p *Profile) excepted(args []string) bool {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return found(p.spec.Program.Except, arg)
		}
	}
	return false
}

// scriptOf returns the script that a runtime's arguments name, and what's behind it.
func scriptOf(args []string) (script string, rest []string) {
	for i, arg := range args {
		switch {
		case arg == "-e" || arg == "--eval" || arg == "-p" || arg == "--print":
			return "", nil
		case arg == "-r" || arg == "--require" || arg == "--import" || arg == "run":
			continue
		case strings.HasPrefix(arg, "-"):
			continue
		case i > 0 && (args[i-1] == "-r" || args[i-1] == "--require" || args[i-1] == "--import"):
			continue
		}
		return strings.ReplaceAll(arg, `\`, "/"), args[i+1:]
	}
	return "", nil
}

// baseName is the name of a program without its folder, the hyphen of a login shell
// and Windows' ending.
func baseName(arg string) string {
	name := path.Base(strings.ReplaceAll(arg, `\`, "/"))
	return strings.TrimSuffix(strings.TrimPrefix(name, "-"), ".exe")
}
