package config

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
