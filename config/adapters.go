package config

// Adapters says where sessions are shown: one key per platform.
type Adapters struct {
	Web       Web        `yaml:"web" doc:"The local web page and its HTTP API."`
	Platforms []Platform // each is a key; see Form
}
