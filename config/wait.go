package config

// Wait bounds `panebridge wait`.
type Wait struct {
	MaxTimeout Duration `yaml:"max_timeout" is:"duration" doc:"The longest time-out that a wait may ask for; a longer one is cut to it."`
}

func defaultWait() Wait { return Wait{MaxTimeout: "10m"} }
