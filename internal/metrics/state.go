package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/sessions"
)

// PartState is how well a part of the daemon works: a tmux server, an adapter, the store.
type PartState struct{ Name, State string }

// DiskUse is how much of its disk the daemon uses, and how much it may still write there, in bytes.
type DiskUse struct{ Database, Left int64 }

// StateSources are asked whenever somebody asks for the metrics. They return at once.
type StateSources struct {
	Sessions    func() []sessions.Session
	Parts       func() []PartState
	Disk        func() (DiskUse, error)
	Pollers     func() int // sessions whose panes are polled
	Connections func() int // tmux servers with a connection that works
	Healthy     func() bool
	Ready       func() bool
}

// partStates are the states that a part may have.
var partStates = []string{"ok", "degraded", "down"} //nolint:gochecknoglobals // a constant list

// stateCollector tells, when it's asked, how the daemon is.
type stateCollector struct {
	StateSources

	sessions, parts, database, left      *prometheus.Desc
	pollers, connections, healthy, ready *prometheus.Desc
}

// CollectState has it be told how many sessions are in which state, how each part works, and how much room there is.
func (m *Metrics) CollectState(from StateSources) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("panebridge_"+name, help, labels, nil)
	}
	m.registry.MustRegister(&stateCollector{
		StateSources: from,
		sessions:     desc("sessions", "Sessions that aren't forgotten, by state.", "state"),
		parts:        desc("part_state", "1 for the state that a part is in, as `panebridge status` lists it: ok, degraded or down.", "part", "state"),
		database:     desc("database_bytes", "What the database and the index for searches take on the disk."),
		left:         desc("disk_left_bytes", "What may still be written to the disk that they're on."),
		pollers:      desc("pollers", "Sessions whose panes are polled."),
		connections:  desc("tmux_connections", "tmux servers that are connected and answer."),
		healthy:      desc("healthy", "1 if /healthz says so, else 0: then the daemon has to be started anew."),
		ready:        desc("ready", "1 if /readyz says so, else 0: the database, tmux or a platform isn't ready."),
	})
}

func (c *stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.sessions, c.parts, c.database, c.left, c.pollers, c.connections, c.healthy, c.ready} {
		out <- d
	}
}

func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	count := map[sessions.State]int{}
	for _, s := range sessions.States() {
		count[s] = 0
	}
	for _, s := range c.Sessions() {
		count[s.State]++
	}
	for state, n := range count {
		out <- prometheus.MustNewConstMetric(c.sessions, prometheus.GaugeValue, float64(n), string(state))
	}
	gauge := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	gauge(c.pollers, float64(c.Pollers()))
	gauge(c.connections, float64(c.Connections()))
	gauge(c.healthy, oneIf(c.Healthy()))
	gauge(c.ready, oneIf(c.Ready()))
	for _, p := range c.Parts() {
		for _, state := range partStates {
			out <- prometheus.MustNewConstMetric(c.parts, prometheus.GaugeValue, oneIf(p.State == state), p.Name, state)
		}
	}
	if disk, err := c.Disk(); err == nil { // else the folder is gone, which the store's part says
		gauge(c.database, float64(disk.Database))
		gauge(c.left, float64(disk.Left))
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
