package host

import (
	"os"
	"testing"

	"github.com/prometheus/procfs"
)

// BenchmarkReadStat reads this process's state, as it's done for all of the host twice a second,
// and as the library does.
func BenchmarkReadStat(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ReadStat(os.Getpid()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		fs, err := procfs.NewDefaultFS()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			p, err := fs.Proc(os.Getpid())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := p.Stat(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
