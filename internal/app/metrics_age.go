package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/qos"
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
	for _, name := range c.d.outlets {
		s, err := c.d.hub.Scheduler(name).Snapshot(ctx)
		if err != nil {
			continue // it's ending
		}
		oldest := map[string]float64{}
		for class := range qos.Cosmetic { // which never waits
			oldest[class.String()] = 0
		}
		for _, chat := range s.Chats {
			for class := range chat.Waiting {
				name := qos.Class(class).String()
				oldest[name] = max(oldest[name], chat.Waiting[class].Oldest.Seconds())
			}
		}
		for class, age := range oldest {
			out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, age, name, class)
		}
	}
}
