package agent

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

//go:embed profiles/*.yaml
var builtIn embed.FS

// Generic is the name of the profile of a program that nothing is known about.
const Generic = "generic"

// Set is all profiles that there are. It doesn't change.
type Set struct {
	profiles map[string]*Profile
	names    []string // sorted
}

// Get returns a profile by its name, nil if there is none of that name.
func (s *Set) Get(name string) *Profile { return s.profiles[name] }

// Generic returns the profile of a program that nothing is known about.
func (s *Set) Generic() *Profile { return s.profiles[Generic] }

// Names are the names of all profiles, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Override changes profiles or adds some. Profiles is a mapping from names to
// profiles; a profile that there is already keeps what the override leaves out. A new
// one may say with `base:` which it's made from. Lists take the place of those they
// override; under `more:`, signs, dialogs, prompts, interrupted and what's in screen come before them.
type Override struct {
	File     string // that it was read from, for errors
	Profiles *yaml.Node
}

// maxProfiles is the size in bytes of the largest file of profiles; ours have 50 kB.
const maxProfiles = 4 << 20

// ReadOverrides reads the YAML files of a folder, in the order of their names. Each
// has profiles by their names. A folder that isn't there has none.
func ReadOverrides(folder string) ([]Override, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("find profiles: %w", err)
	}
	var out []Override
	var problems []error
	for _, file := range files {
		text, err := regular.Read(file, maxProfiles)
		if err != nil {
			problems = append(problems, fmt.Errorf("read profiles: %w", err))
			continue
		}
		o, err := ParseOverride(file, text)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, o)
	}
	return out, errors.Join(problems...)
}

// ParseOverride reads an override from YAML.
func ParseOverride(file string, text []byte) (Override, error) {
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return Override{}, located(file, "", nil, err)
	}
	o := Override{File: file, Profiles: &doc}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
		o.Profiles = doc.Content[0]
	}
	return o, nil
}

// LoadSet makes the profiles of the binary and of the overrides, in their order. An error
// tells all that's wrong, with file and line. A set never changes, and may be used by several.
func LoadSet(overrides ...Override) (*Set, error) {
	if len(overrides) == 0 {
		return builtInSet()
	}
	return makeSet(overrides)
}

// builtInSet is the set without overrides, which takes 30 ms to make.
var builtInSet = sync.OnceValues(func() (*Set, error) { return makeSet(nil) }) //nolint:gochecknoglobals // a constant

func makeSet(overrides []Override) (*Set, error) {
	specs, problems := map[string]spec{}, []error(nil)
	files, err := builtIn.ReadDir("profiles")
	if err != nil {
		return nil, fmt.Errorf("read the profiles in the binary: %w", err)
	}
	for _, f := range files {
		name := "profiles/" + f.Name()
		text, err := builtIn.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the profiles in the binary: %w", err)
		}
		o, err := ParseOverride(name, text)
		problems = append(problems, err, override(specs, o))
	}
	for _, o := range overrides {
		problems = append(problems, override(specs, o))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return newSet(specs), nil
}

func newSet(specs map[string]spec) *Set {
	s := &Set{profiles: map[string]*Profile{}, names: slices.Sorted(maps.Keys(specs))}
	for _, name := range s.names {
		sp := specs[name]
		sp.Quiet = sp.Quiet.orStandard()
		if sp.AllDialogs {
			for _, other := range s.names {
				sp.Dialogs = append(slices.Clone(sp.Dialogs), specs[other].Dialogs...)
			}
		}
		sp.Dialogs = unique(sp.Dialogs)
		s.profiles[name] = &Profile{name: name, spec: sp, phrases: indexPhrases(sp.Dialogs)}
	}
	for _, name := range s.names {
		p := s.profiles[name]
		for _, other := range s.names {
			if p.spec.AllDialogs && other != name && !s.profiles[other].spec.AllDialogs || p.spec.Shell && other == Generic {
				p.others = append(p.others, s.profiles[other])
			}
		}
	}
	return s
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// written is a profile as an override has it.
type written struct {
	Base string `yaml:"base"`
	More more   `yaml:"more"`
	spec `yaml:",inline"`
}

// more is put before the lists that there are.
type more struct {
	Dialogs     []string     `yaml:"dialogs"`
	Prompts     []dialogForm `yaml:"prompts"`
	Screen      furniture    `yaml:"screen"`
	Signs       []screenMark `yaml:"signs"`
	Interrupted []pattern    `yaml:"interrupted"`
}

// override works an override into specs.
func override(specs map[string]spec, o Override) error {
	n := o.Profiles
	if n == nil || n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return &LoadError{File: o.File, Line: n.Line, Column: n.Column, Problem: "must be a mapping from the names of profiles to profiles"}
	}
	var problems []error
	for _, i := range basesFirst(n.Content) {
		problems = append(problems, overrideOne(specs, o.File, n.Content[i], n.Content[i+1]))
	}
	return errors.Join(problems...)
}

// basesFirst are the indexes of the names in an override, those that others are made from
// before these.
func basesFirst(entries []*yaml.Node) (order []int) {
	seen := map[int]bool{}
	var add func(i int)
	add = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		base := nodeBelow(entries[i+1], "base")
		for j := 0; base != nil && j+1 < len(entries); j += 2 {
			if entries[j].Value == base.Value {
				add(j)
			}
		}
		order = append(order, i)
	}
	for i := 0; i+1 < len(entries); i += 2 {
		add(i)
	}
	return order
}

func overrideOne(specs map[string]spec, file string, key, value *yaml.Node) error {
	name := key.Value
	w := written{spec: specs[name]}
	var base struct {
		Base string `yaml:"base"`
	}
	if value.Load(&base) == nil && base.Base != "" {
		from, known := specs[base.Base]
		if !known {
			return placed(file, name, value, fault{at: []any{"base"}, problem: fmt.Sprintf("must be a profile that there is (%s), not %q", strings.Join(slices.Sorted(maps.Keys(specs)), ", "), base.Base)})
		}
		w.spec = from
	}
	if err := value.Load(&w, yaml.WithKnownFields()); err != nil {
		return located(file, name, value, err)
	}
	w.mergeMore()
	var problems []error
	for _, f := range w.check() {
		problems = append(problems, placed(file, name, value, w.unmerged(f)))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	specs[name] = w.spec
	return nil
}

// mergeMore puts what's in More before the lists.
func (w *written) mergeMore() {
	w.Dialogs = append(w.More.Dialogs, w.Dialogs...)
	w.Prompts = append(w.More.Prompts, w.Prompts...)
	w.Signs = append(w.More.Signs, w.Signs...)
	w.Interrupted = append(w.More.Interrupted, w.Interrupted...)
	s, m := &w.Screen, &w.More.Screen
	s.Header = append(m.Header, s.Header...)
	s.Foot = append(m.Foot, s.Foot...)
	s.Above = append(m.Above, s.Above...)
	s.Dialog = append(m.Dialog, s.Dialog...)
	s.Menu = append(m.Menu, s.Menu...)
	s.Inside = append(m.Inside, s.Inside...)
	s.Behind = append(m.Behind, s.Behind...)
	s.Asked = append(m.Asked, s.Asked...)
	s.Rows = append(m.Rows, s.Rows...)
	s.Prompt = append(m.Prompt, s.Prompt...)
	s.Scrollbar = append(m.Scrollbar, s.Scrollbar...)
}

var (
	states  = []sessions.State{sessions.StateStarting, sessions.StateIdle, sessions.StateWorking, sessions.StateWaiting, sessions.StateError, unsure}               //nolint:gochecknoglobals // a constant table
	places  = []where{inTitle, inDialog, inFoot, inEnd, inCursor, inScreen}                                                                                         //nolint:gochecknoglobals // a constant table
	formats = []transcript.Format{"", transcript.Claude, transcript.Codex, transcript.Gemini, transcript.OpenCode, transcript.Qwen, transcript.Pi, transcript.Demo} //nolint:gochecknoglobals // a constant table
)

// check returns what's wrong with a profile that could be read.
func (w *written) check() (out []fault) {
	wrong := func(problem string, at ...any) { out = append(out, fault{at, problem}) }
	for i, phrase := range w.Dialogs {
		if !phraseForm.MatchString(phrase) {
			wrong(fmt.Sprintf("must be a phrase of 4 to 48 characters in lower case that begins with two letters and has only letters, digits, blanks and , : ' / - in them, not %q", phrase), "dialogs", i)
		}
	}
	for i, s := range w.Signs {
		if !slices.Contains(states, s.State) {
			wrong(fmt.Sprintf("must be one of %s, not %q", list(states), s.State), "signs", i, "state")
		}
		if !slices.Contains(places, s.In) {
			wrong(fmt.Sprintf("must be one of %s, not %q", list(places), s.In), "signs", i, "in")
		}
		if s.Match == nil && (s.In == inScreen || s.In == inTitle || s.In == inEnd) {
			wrong(fmt.Sprintf("match must be given with in: %s", s.In), "signs", i)
		}
	}
	if !slices.Contains(formats, w.Transcript) {
		wrong(fmt.Sprintf("must be one of %s, or left out, not %q", list(formats[1:]), w.Transcript), "transcript")
	}
	for i, box := range w.Input.Box {
		if box.NumSubexp() == 0 {
			wrong("must have a group in round brackets for what stands in it", "input", "box", i)
		}
	}
	if i, problem := checkForms(w.Prompts); problem != "" {
		wrong(problem, "prompts", i)
	}
	return out
}

func list[T ~string](of []T) string {
	var b strings.Builder
	for i, v := range of {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}

// LoadError is something wrong in a profile.
type LoadError struct {
	File         string
	Line, Column int    // from 1; 0: unknown
	Profile      string // "": not of one profile
	Path         string // of the value in the profile, as signs[0].state; "": the profile itself
	Problem      string
}

func (e *LoadError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", e.File, e.Line, max(1, e.Column))
	}
	if e.Profile != "" {
		at += ": profile " + e.Profile
	}
	if e.Path != "" {
		at += ": " + e.Path
	}
	return at + ": " + e.Problem
}

// plainProblem says without the names of Go's types that a key isn't known.
func plainProblem(message string) string {
	if key, ok := strings.CutPrefix(message, "field "); ok {
		if key, _, ok = strings.Cut(key, " not found in type"); ok {
			return "unknown key " + strconv.Quote(key) + "; the profiles in the binary show which there are"
		}
	}
	return message
}

// located gives the errors of the YAML library their file, and the path in a profile.
func located(file, profile string, in *yaml.Node, err error) error {
	all, ok := errors.AsType[*yaml.LoadErrors](err)
	if !ok {
		if one, ok := errors.AsType[*yaml.LoadError](err); ok {
			return &LoadError{file, one.Mark.Line, one.Mark.Column, profile, pathTo(in, one.Mark.Line, one.Mark.Column), one.Message}
		}
		return &LoadError{File: file, Profile: profile, Problem: err.Error()}
	}
	out := make([]error, len(all.Errors))
	for i, e := range all.Errors {
		out[i] = &LoadError{file, e.Mark.Line, e.Mark.Column, profile, pathTo(in, e.Mark.Line, e.Mark.Column), plainProblem(e.Message)}
	}
	return errors.Join(out...)
}
