// Package storebench makes databases as they are after years, for tests and benchmarks of what
// begins with one.
package storebench
