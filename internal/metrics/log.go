package metrics

import (
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/internal/events"
)

// logCollector tells, when it's asked, how much is logged.
type logCollector struct {
	count            func() events.Counts
	written, omitted *prometheus.Desc
}

// CollectLog has it be told what became of the log's records. A nil count tells nothing.
func (m *Metrics) CollectLog(count func() events.Counts) {
	m.registry.MustRegister(&logCollector{
		count:   count,
		written: prometheus.NewDesc("panebridge_log_events_total", "Events in the log, by level.", []string{"level"}, nil),
		omitted: prometheus.NewDesc("panebridge_log_omitted_total", "Events that came too often to be written to the log.", nil, nil),
	})
}

func (c *logCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.written
	out <- c.omitted
}

func (c *logCollector) Collect(out chan<- prometheus.Metric) {
	if c.count == nil {
		return
	}
	counts := c.count()
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		out <- prometheus.MustNewConstMetric(c.written, prometheus.CounterValue, float64(counts.Written[level]), strings.ToLower(level.String()))
	}
	out <- prometheus.MustNewConstMetric(c.omitted, prometheus.CounterValue, float64(counts.Omitted))
}
