package config

// Web is the local web page. It is for browsers on this machine, or behind a tunnel that
// ends on it as the same user: it listens on loopback only.
type Web struct {
	Enabled bool   `yaml:"enabled" doc:"Whether to serve the page; the command line's socket is there in any case."`
	Listen  string `yaml:"listen" is:"loopback" doc:"Loopback host:port to serve it on; with port 0 the system chooses one."`
}

func defaultWeb() Web {
	return Web{Enabled: true, Listen: "127.0.0.1:7333"}
}
