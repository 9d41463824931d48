package config

import "strings"

// Access says who may do what in chats. Nobody else may do anything, but for
// whom a pairing code has let in.
type Access struct {
	Viewers   []string `yaml:"viewers" is:"person" doc:"May see sessions and ask for screens: telegram:123, discord:456."`
	Operators []string `yaml:"operators" is:"person" doc:"May also type, press keys, begin and close sessions."`
	Approvers []string `yaml:"approvers" is:"person" doc:"May also answer an agent's questions."`
	Admins    []string `yaml:"admins" is:"person" doc:"May do all of it, and change who may."`

	PairingTTL Duration `yaml:"pairing_ttl" is:"duration" doc:"How long what a code gave in a group holds while the platform doesn't say whether its person is still in there."`
}

func defaultAccess() Access { return Access{PairingTTL: "720h"} }

func personProblem(text string) string {
	adapter, id, ok := strings.Cut(text, ":")
	if !ok || targetProblem(text) != "" || strings.HasPrefix(id, "-") || strings.Contains(id, "/") || adapter == "" {
		return "must be PLATFORM:ID of a person, such as telegram:123 or discord:456; names can be taken by anybody"
	}
	return ""
}
