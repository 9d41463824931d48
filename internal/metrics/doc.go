// Package metrics counts what a daemon does, for Prometheus.
package metrics
