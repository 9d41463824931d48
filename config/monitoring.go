package config

import (
	"net/netip"
	"strings"
)

// Monitoring is the port for whoever watches the daemon.
type Monitoring struct {
	Enabled      bool     `yaml:"enabled" doc:"Whether to serve /healthz, /readyz and /metrics on a port of their own, without a token: everybody who reaches it can read which agents are used and how much, and nothing that anybody wrote."`
	Listen       string   `yaml:"listen" is:"host_port" doc:"host:port to serve them on; with port 0 the system chooses one. Beyond loopback they're for everybody there."`
	AllowedHosts []string `yaml:"allowed_hosts" eg:"[\"box.internal\"]" doc:"Names, without a port, by which others call it; addresses and localhost need none."`
}

func defaultMonitoring() Monitoring { return Monitoring{Listen: "127.0.0.1:7334"} }

// Check implements Checker.
func (m *Monitoring) Check(p Part) {
	for _, name := range m.AllowedHosts {
		if _, err := netip.ParseAddr(name); err == nil || strings.Contains(name, ":") || hostProblem(name) != "" {
			p.Problem("allowed_hosts", "must be exact names without a port, such as box.internal, not "+name)
		}
	}
}
