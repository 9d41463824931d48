package config

import (
	"fmt"
	"slices"
	"strings"
)

// Form is what a configuration can have in it: the sections of these platforms, beside all that's
// panebridge's own.
type Form struct{ Platforms []PlatformForm }

// PlatformForm is the part of the form that's a platform's.
type PlatformForm struct {
	Name string // the key below adapters, and what stands before the colon in targets: "telegram"
	Doc  string // one line that says what's below the key
	// Default returns the section that nothing is given of.
	Default func() Section
	// IsID says whether a text can be a chat's id, a thread's or a person's. Nil: ids are numbers.
	IsID func(text string) bool
}

// Section is what the configuration says of a platform: a pointer to a struct whose tags describe its
// keys (doc.go).
type Section interface {
	Checker
	// IsEnabled says whether the platform is on.
	IsEnabled() bool
	// ChatIDs are the chats that it names, by the platform's ids.
	ChatIDs() []string
	// Pace is how its calls are shared out.
	Pace() QoS
}

// Platform is a platform's section in a configuration.
type Platform struct {
	Name, Doc string
	Section   Section
}

// Section returns a platform's; nil: the form has none of that name.
func (a Adapters) Section(platform string) Section {
	for _, p := range a.Platforms {
		if p.Name == platform {
			return p.Section
		}
	}
	return nil
}

// MarshalYAML has each platform be a key, as it's read.
func (a Adapters) MarshalYAML() (any, error) {
	out := map[string]any{"web": a.Web}
	for _, p := range a.Platforms {
		out[p.Name] = p.Section
	}
	return out, nil
}

func (f Form) defaultAdapters() Adapters {
	out := Adapters{Web: defaultWeb()}
	for _, p := range f.Platforms {
		out.Platforms = append(out.Platforms, Platform{p.Name, p.Doc, p.Default()})
	}
	return out
}

func (f Form) names() string {
	names := make([]string, len(f.Platforms))
	for i, p := range f.Platforms {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// read takes a target apart; problem says what's wrong with it.
func (f Form) read(target string) (chat, thread string, problem string) {
	const must = "must be ADAPTER:CHAT, such as telegram:-1001234567890, "
	adapter, chat, ok := strings.Cut(target, ":")
	if !ok || adapter == "" {
		return "", "", must + "with ADAPTER one of " + f.names()
	}
	i := slices.IndexFunc(f.Platforms, func(p PlatformForm) bool { return p.Name == adapter })
	if i < 0 {
		return "", "", "must name a known adapter before the colon: one of " + f.names()
	}
	isID, what := f.Platforms[i].IsID, "id"
	if isID == nil {
		isID, what = isNumber, "number"
	}
	chat, thread, threaded := strings.Cut(chat, "/")
	if !isID(chat) || threaded && !isID(thread) {
		return "", "", fmt.Sprintf("%swith the chat's %s, and after a / the thread's", must, what)
	}
	return chat, thread, ""
}

// isNumber is a number of 20 digits at most, also a negative one: such are those of some groups.
func isNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && len(digits) <= 20 && strings.Trim(digits, "0123456789") == ""
}

func (f Form) targetProblem(text string) string {
	_, _, problem := f.read(text)
	return problem
}

func (f Form) targetOrNoneProblem(text string) string {
	if text == "" {
		return ""
	}
	return f.targetProblem(text)
}

func (f Form) personProblem(text string) string {
	if person, thread, problem := f.read(text); problem != "" || strings.HasPrefix(person, "-") || thread != "" {
		return "must be PLATFORM:ID of a person, such as telegram:123 or discord:456; names can be taken by anybody"
	}
	return ""
}
