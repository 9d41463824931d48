package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/qos"
)

// loadCollector tells, when it's asked, how much there is to do for each adapter and at what
// pace it's done: how long the oldest of each class has waited for a slot, the mode, the tick
// and who's active.
type loadCollector struct {
	adapters                []string
	snapshot                func(ctx context.Context, adapter string) (qos.SchedulerStatus, error)
	age, mode, tick, active *prometheus.Desc
	waiting, pace, reserve  *prometheus.Desc
}

// CollectLoad has the load of these adapters be told whenever somebody asks, for which snapshot is
// called, for a second at most.
func (m *Metrics) CollectLoad(adapters []string, snapshot func(ctx context.Context, adapter string) (qos.SchedulerStatus, error)) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("panebridge_"+name, help, append([]string{"adapter"}, labels...), nil)
	}
	m.registry.MustRegister(&loadCollector{
		adapters: adapters, snapshot: snapshot,
		age:     desc("queue_age_seconds", "How long the oldest of a class has waited for a slot.", "class"),
		mode:    desc("qos_mode", "1 for the mode of qos that an adapter is in.", "mode"),
		tick:    desc("tick_seconds", "The time between two streams, in the busy chat in which it's longest; 0: there's no pace."),
		waiting: desc("queue_length", "What waits for a slot, by class.", "class"),
		pace:    desc("pace_ratio", "What the pace is multiplied by in the busy chat in which that's least; 1: nowhere reduced by a penalty."),
		reserve: desc("reserved_slots", "Slots of a window that streams leave to what matters more, in the busy chat in which they're most."),
		active:  desc("active_sessions", "Sessions that print, averaged, of all of an adapter's chats."),
	})
}

func (c *loadCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.age, c.mode, c.tick, c.active, c.waiting, c.pace, c.reserve} {
		out <- d
	}
}

func (c *loadCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, name := range c.adapters {
		s, err := c.snapshot(ctx, name)
		if err != nil {
			continue // it's ending
		}
		for class := range qos.Cosmetic { // which never waits
			w := s.Load.Waiting[class]
			out <- prometheus.MustNewConstMetric(c.age, prometheus.GaugeValue, w.Oldest.Seconds(), name, class.String())
			out <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(w.Count), name, class.String())
		}
		out <- prometheus.MustNewConstMetric(c.pace, prometheus.GaugeValue, s.Load.Pace, name)
		out <- prometheus.MustNewConstMetric(c.reserve, prometheus.GaugeValue, float64(s.Load.Reserve), name)
		out <- prometheus.MustNewConstMetric(c.mode, prometheus.GaugeValue, 1, name, s.Mode.String())
		out <- prometheus.MustNewConstMetric(c.tick, prometheus.GaugeValue, s.Load.Tick.Seconds(), name)
		out <- prometheus.MustNewConstMetric(c.active, prometheus.GaugeValue, s.Load.ActiveSessions, name)
	}
}
