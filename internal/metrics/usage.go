package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/panebridge/panebridge/sessions"
)

// usageCollector tells, when it's asked, what agents have used, and how their accounts stand. Labels are names of
// profiles, not of sessions.
type usageCollector struct {
	sums                            func(ctx context.Context) ([]sessions.UsageSum, error)
	list                            func() []sessions.Session
	tokens, cost, answers           *prometheus.Desc
	context, left, limited, windows *prometheus.Desc
}

// CollectUsage has what agents use be told whenever somebody asks, for which sums is called, for a second at
// most, and list, which returns at once.
func (m *Metrics) CollectUsage(sums func(ctx context.Context) ([]sessions.UsageSum, error), list func() []sessions.Session) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("panebridge_"+name, help, append([]string{"agent"}, labels...), nil)
	}
	m.registry.MustRegister(&usageCollector{
		sums: sums, list: list,
		tokens:  desc("tokens_total", "Tokens that models have read and written, as agents say: input (anew), cache_read, cache_write, output.", "kind"),
		cost:    desc("cost_usd_total", "What that cost in US dollars, where agents say so."),
		answers: desc("answers_total", "Answers of models that were counted."),
		context: desc("context_used_tokens", "Tokens in the context of the conversation that has most."),
		left:    desc("context_left_tokens", "Tokens that still fit into the context of the conversation in which least do, where agents say so."),
		limited: desc("limited_sessions", "Sessions whose agent's account has used all that it may."),
		windows: desc("account_used_ratio", "How much of a window of its account an agent said last that was used, in the session in which that's most; minutes is the window's length.", "minutes"),
	})
}

func (c *usageCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.tokens, c.cost, c.answers, c.context, c.left, c.limited, c.windows} {
		out <- d
	}
}

func (c *usageCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if all, err := c.sums(ctx); err == nil { // else it's ending, or the disk is slow: the next time has them
		for _, u := range sessions.SumUsage(all, sessions.ByAgent) {
			for kind, n := range map[string]int64{"input": u.Tokens.Input, "cache_read": u.Tokens.CacheRead, "cache_write": u.Tokens.CacheWrite, "output": u.Tokens.Output} {
				out <- prometheus.MustNewConstMetric(c.tokens, prometheus.CounterValue, float64(n), u.Agent, kind)
			}
			out <- prometheus.MustNewConstMetric(c.cost, prometheus.CounterValue, u.CostUSD, u.Agent)
			out <- prometheus.MustNewConstMetric(c.answers, prometheus.CounterValue, float64(u.Answers), u.Agent)
		}
	}
	c.collectNow(out, time.Now())
}

// agentNow is how things stand with the living sessions of an agent.
type agentNow struct {
	used    int64
	left    int64 // -1: nobody says
	limited int
	windows map[int64]float64 // by minutes, in percent
}

func (c *usageCollector) collectNow(out chan<- prometheus.Metric, now time.Time) {
	agents := map[string]*agentNow{}
	for _, s := range c.list() {
		if s.State == sessions.StateEnded || s.Usage == nil {
			continue
		}
		a := agents[s.Usage.Agent]
		if a == nil {
			a = &agentNow{left: -1, windows: map[int64]float64{}}
			agents[s.Usage.Agent] = a
		}
		a.addSession(s.Usage, now)
	}
	for name, a := range agents {
		out <- prometheus.MustNewConstMetric(c.context, prometheus.GaugeValue, float64(a.used), name)
		if a.left >= 0 {
			out <- prometheus.MustNewConstMetric(c.left, prometheus.GaugeValue, float64(a.left), name)
		}
		out <- prometheus.MustNewConstMetric(c.limited, prometheus.GaugeValue, float64(a.limited), name)
		for minutes, percent := range a.windows {
			out <- prometheus.MustNewConstMetric(c.windows, prometheus.GaugeValue, percent/100, name, strconv.FormatInt(minutes, 10))
		}
	}
}

func (a *agentNow) addSession(u *sessions.Usage, now time.Time) {
	if u.Context != nil {
		a.used = max(a.used, u.Context.Used)
		if left, known := u.Context.Left(); known && (a.left < 0 || left < a.left) {
			a.left = left
		}
	}
	if u.LimitAt(now) != nil {
		a.limited++
	}
	for _, w := range u.WindowsAt(now) {
		a.windows[w.Minutes] = max(a.windows[w.Minutes], w.UsedPercent)
	}
}
