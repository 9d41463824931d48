package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/qos"
)

// callMetrics count what the schedulers do. Labels are adapters, classes, method
// families and outcomes, of which there are few; no chat is one.
type callMetrics struct {
	calls     *prometheus.CounterVec
	waits     *prometheus.HistogramVec
	takes     *prometheus.HistogramVec
	coalesced *prometheus.CounterVec
	shed      *prometheus.CounterVec
	refused   *prometheus.CounterVec
	penalties *prometheus.CounterVec
}

func newCallMetrics(r prometheus.Registerer) *callMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "panebridge", Name: name, Help: help}, append([]string{"adapter"}, labels...))
		r.MustRegister(c)
		return c
	}
	seconds := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "panebridge", Name: name, Help: help, Buckets: buckets}, []string{"adapter", "class"})
		r.MustRegister(h)
		return h
	}
	return &callMetrics{
		calls:     counter("calls_total", "Calls to chat platforms, and what came of them.", "class", "outcome"),
		waits:     seconds("call_wait_seconds", "How long what a call sent had waited for its slot.", []float64{.1, .3, 1, 3, 10, 30, 60, 120, 300, 600}),
		takes:     seconds("call_duration_seconds", "How long calls to chat platforms took.", prometheus.DefBuckets),
		coalesced: counter("coalesced_total", "Updates that needed no call of their own."),
		shed:      counter("shed_total", "Cosmetic calls that weren't made.", "family"),
		refused:   counter("too_many_requests_total", "Calls the platform answered with \"too many requests\".", "family"),
		penalties: counter("penalty_seconds_total", "Silence that the platform ordered."),
	}
}

// callMeter counts for one adapter.
type callMeter struct {
	*callMetrics
	adapter string
}

// Observe returns what counts the calls of one adapter.
func (m *Metrics) Observe(adapter string) qos.Meter { return callMeter{m.calls, adapter} }

func (o callMeter) CountCall(class qos.Class, _ qos.Family, outcome qos.CallOutcome, wait, took time.Duration) {
	o.calls.WithLabelValues(o.adapter, class.String(), outcome.String()).Inc()
	o.waits.WithLabelValues(o.adapter, class.String()).Observe(wait.Seconds())
	o.takes.WithLabelValues(o.adapter, class.String()).Observe(took.Seconds())
}

func (o callMeter) CountCoalesced(n int) { o.coalesced.WithLabelValues(o.adapter).Add(float64(n)) }

func (o callMeter) CountShed(family qos.Family) {
	o.shed.WithLabelValues(o.adapter, familyLabel(family)).Inc()
}

func (o callMeter) CountPenalty(family qos.Family, retryAfter time.Duration) {
	o.refused.WithLabelValues(o.adapter, familyLabel(family)).Inc()
	o.penalties.WithLabelValues(o.adapter).Add(retryAfter.Seconds())
}

func familyLabel(f qos.Family) string {
	if f == qos.FamilyMessage {
		return "message"
	}
	return string(f)
}
