package agent

import (
	"os"
	"testing"
)

// BenchmarkProcesses looks at this process as a pane's is looked at, and finds where it was begun as
// for a call of the API.
func BenchmarkProcesses(b *testing.B) {
	p := NewProcesses()
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := p.Get(os.Getpid()); !ok {
				b.Fatal("it's gone")
			}
		}
	})
	b.Run("origin", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Origins(nil, "").Of(os.Getpid()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
