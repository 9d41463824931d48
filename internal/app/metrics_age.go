package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ageCollector tells, when it's asked, how long the oldest of each class has
// waited for a slot.
type ageCollector struct {
	d    *daemon
	desc *prometheus.Desc
}

func newAgeCollector(d *daemon) *ageCollector {
	return &ageCollector{d: d, desc: prometheus.NewDesc("panebridge_queue_age_seconds",
		"How long the oldest of a class has waited for a slot.", []string{"adapter", "class"}, nil)}
}

func (c *ageCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

func (c *ageCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, name := range c.d.platforms {
		s, err := c.d.hub.Scheduler(name).Snapshot(ctx)
		if err != nil {
			continue // it's ending
		}
		oldest := map[string]float64{}
		for _, chat := range s.Chats {
			for class := range chat.Waiting {
				oldest[classes[class].String()] = max(oldest[classes[class].String()], chat.Waiting[class].Oldest.Seconds())
			}
		}
		for class, age := range oldest {
			out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, age, name, class)
		}
	}
}
