package faults_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/faults"
)

// The first fault that fits hits, as often as it's meant to, and not after it was taken
// back.
func TestTheFirstFaultThatFitsHits(t *testing.T) {
	var l faults.List[string]
	l.Add("once", 1)
	remove := l.Add("always", 0)
	l.Add("twice", 2)
	take := func(hits func(string) bool) string {
		if f := l.Take(hits); f != nil {
			return *f
		}
		return "none"
	}
	every := func(string) bool { return true }
	var got []string
	for range 3 {
		got = append(got, take(every))
	}
	got = append(got, take(func(f string) bool { return f == "twice" }), take(func(string) bool { return false }))
	remove()
	remove() // again, which is nothing
	for range 2 {
		got = append(got, take(every))
	}
	if want := "once always always twice none twice none"; strings.Join(got, " ") != want {
		t.Errorf("calls were hit by %q, want %q", got, want)
	}
}
