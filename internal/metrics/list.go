package metrics

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric is one of those that are served, as a reference tells it.
type Metric struct {
	Name   string
	Kind   string // counter, gauge, histogram
	Labels []string
	Help   string
}

// namespace is what all of panebridge's own metrics begin with.
const namespace = "panebridge_"

// List returns all of panebridge's own metrics, sorted by their names.
func List() []Metric {
	m := New("")
	m.CollectState(StateSources{})
	m.CollectLoad(nil, nil)
	m.CollectRedis(nil)
	m.CollectUsage(nil, nil)
	m.CollectSearch(func() int64 { return 0 })
	m.CollectLog(nil)
	slices.SortFunc(m.registry.listed, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return m.registry.listed
}

// listedRegistry is a registry that knows what's registered.
type listedRegistry struct {
	*prometheus.Registry

	listed []Metric
}

// description is how a Desc is printed, which is the only way in which it tells what it has.
var description = regexp.MustCompile(`^Desc\{fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", unit: "[^"]*", constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

// MustRegister implements prometheus.Registerer.
func (r *listedRegistry) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		r.Registry.MustRegister(c)
		descs := make(chan *prometheus.Desc, 64)
		go func() { defer close(descs); c.Describe(descs) }()
		for d := range descs {
			found := description.FindStringSubmatch(d.String())
			if found == nil || !strings.HasPrefix(found[1], namespace) {
				continue
			}
			one := Metric{Name: found[1], Kind: kindOf(c, found[1]), Help: strings.ReplaceAll(found[2], `\"`, `"`)}
			for part := range strings.SplitSeq(found[3], ",") {
				if name, _, ok := strings.Cut(part, "="); ok {
					one.Labels = append(one.Labels, name)
				}
			}
			for name := range strings.SplitSeq(found[4], ",") {
				if name != "" {
					one.Labels = append(one.Labels, name)
				}
			}
			r.listed = append(r.listed, one)
		}
	}
}

func kindOf(c prometheus.Collector, name string) string {
	switch c.(type) {
	case prometheus.Histogram, *prometheus.HistogramVec:
		return "histogram"
	}
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
}
