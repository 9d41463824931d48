package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/qos/redisbucket"
)

func newRedisMetrics(r prometheus.Registerer) *prometheus.HistogramVec {
	questions := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "panebridge", Name: "redis_question_seconds", Help: "How long questions for a slot took, by what was answered.",
		Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5},
	}, []string{"adapter", "answer"})
	r.MustRegister(questions)
	return questions
}

// ObserveRedis returns what measures the questions of one adapter's shared budget.
func (m *Metrics) ObserveRedis(adapter string) redisbucket.Meter {
	return redisMeter{m.redis, adapter}
}

type redisMeter struct {
	questions *prometheus.HistogramVec
	adapter   string
}

func (o redisMeter) CountQuestion(answer string, took time.Duration) {
	o.questions.WithLabelValues(o.adapter, answer).Observe(took.Seconds())
}

// redisCollector tells, when it's asked, how each budget stands.
type redisCollector struct {
	standings      func() map[string]redisbucket.MemberStatus
	state, members *prometheus.Desc
}

// CollectRedis has the standing of shared budgets, by their adapter, be told whenever somebody asks.
func (m *Metrics) CollectRedis(standings func() map[string]redisbucket.MemberStatus) {
	m.registry.MustRegister(&redisCollector{
		standings: standings,
		state: prometheus.NewDesc("panebridge_redis_state", "1 for how a shared budget stands with Redis, 0 for the others.",
			[]string{"adapter", "state"}, nil),
		members: prometheus.NewDesc("panebridge_redis_members", "Processes that share the bot, and those whose share is held back because they vanished.",
			[]string{"adapter", "state"}, nil),
	})
}

func (c *redisCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.state
	out <- c.members
}

func (c *redisCollector) Collect(out chan<- prometheus.Metric) {
	for adapter, s := range c.standings() {
		gauge := func(desc *prometheus.Desc, value float64, label string) {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, adapter, label)
		}
		for _, state := range redisbucket.MemberStates() {
			is := 0.0
			if state == s.State {
				is = 1
			}
			gauge(c.state, is, state)
		}
		there, vanished := 0.0, 0.0
		for _, m := range s.Members {
			if m.Vanished && m.ID != s.Member {
				vanished++
			} else {
				there++
			}
		}
		gauge(c.members, there, "there")
		gauge(c.members, vanished, "vanished")
	}
}
