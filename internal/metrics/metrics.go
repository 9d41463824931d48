package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/panebridge/panebridge/sessions"
)

// Metrics counts what passes through the daemon. Labels are bounded: no
// session, pane or person is one.
type Metrics struct {
	registry *listedRegistry
	lines    prometheus.Counter
	gaps     prometheus.Counter
	overruns prometheus.Counter // gaps of the kind that a longer history prevents
	missing  prometheus.Counter
	turns    prometheus.Counter
	ended    prometheus.Counter
	hangs    prometheus.Counter
	captures prometheus.Histogram
	panics   *prometheus.CounterVec
	calls    *callMetrics
	redis    *prometheus.HistogramVec
}

// New returns metrics of which nothing is counted yet; version is the program's.
func New(version string) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "panebridge", Name: name, Help: help})
	}
	m := &Metrics{
		registry: &listedRegistry{Registry: prometheus.NewRegistry()},
		lines:    counter("lines_total", "Lines that came into output logs."),
		gaps:     counter("gaps_total", "Places where output was, or may have been, lost."),
		overruns: counter("overruns_total", "Those of these places where more was printed between two looks than tmux's history keeps."),
		missing:  counter("missing_lines_total", "Lines known to be missing at those places, at least."),
		turns:    counter("turns_total", "Turns that ended."),
		ended:    counter("sessions_ended_total", "Sessions that ended."),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "panebridge", Name: "build_info", Help: "Always 1; the versions of panebridge and of the Go that built it are labels.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	m.hangs = counter("capture_hangs_total", "Times that tmux left a look or a pane's captures without an answer, however long each was.")
	m.panics = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "panebridge", Name: "panics_total", Help: "Faults of panebridge's own that were contained, by the worker that was begun anew.",
	}, []string{"worker"})
	m.captures = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "panebridge", Name: "capture_seconds", Help: "How long captures of panes took, with the comparison of their rows.",
		Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10},
	})
	m.registry.MustRegister(m.captures, m.lines, m.gaps, m.overruns, m.missing, m.turns, m.ended, m.hangs, m.panics, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.calls, m.redis = newCallMetrics(m.registry), newRedisMetrics(m.registry)
	return m
}

// CollectSearch has it be told how many lines can't be found by a search yet; nil: nothing can be searched.
func (m *Metrics) CollectSearch(behind func() int64) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "panebridge", Name: name, Help: help}, value))
	}
	up := 0.0
	if behind != nil {
		up = 1
		gauge("search_behind_lines", "Lines that can't be found by a search yet, about.", func() float64 { return float64(behind()) })
	}
	gauge("search_up", "1 if lines can be searched, else 0.", func() float64 { return up })
}

// CountPanic counts a worker that panicked and was begun anew.
func (m *Metrics) CountPanic(worker string) { m.panics.WithLabelValues(worker).Inc() }

// ObserveCapture counts a capture of a pane that took so long.
func (m *Metrics) ObserveCapture(took time.Duration) { m.captures.Observe(took.Seconds()) }

// CountHang counts that tmux left a look or a pane's captures without an answer.
func (m *Metrics) CountHang() { m.hangs.Inc() }

// Bounds of what's asked at once and of how long it takes: a part that hangs hangs nobody for longer.
const (
	maxScrapes   = 4
	scrapeWithin = 8 * time.Second // Prometheus gives up after ten
)

// Handler serves them as Prometheus reads them. It answers 503 where a part doesn't tell its state in time.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, Timeout: scrapeWithin})
}

// Follow counts what comes of the sessions.
func (m *Metrics) Follow(feed *sessions.Feed) { feed.OnOutput(m.countOutput) }

func (m *Metrics) countOutput(ev sessions.OutputEvent) {
	m.lines.Add(float64(len(ev.Lines)))
	m.gaps.Add(float64(len(ev.Gaps)))
	for _, g := range ev.Gaps {
		m.missing.Add(float64(g.AtLeast))
		if g.Reason == sessions.GapOverrun {
			m.overruns.Inc()
		}
	}
	if ev.Complete {
		m.turns.Inc()
	}
	if ev.State == sessions.StateEnded {
		m.ended.Inc()
	}
}
