package adaptertest_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
)

func reference(form adapters.Shape) adaptertest.New {
	return adaptertest.InMemory(func(c *adaptertest.Conn) adapters.Adapter { return &adaptertest.Adapter{Conn: c, Form: form} })
}

// shapes are those of platforms with different gifts.
func shapes() map[string]adapters.Shape {
	return map[string]adapters.Shape{
		"plain":      {MaxLen: 500},
		"files":      {MaxLen: 500, MaxFile: 1 << 20, MaxCaption: 200},
		"live":       {MaxLen: 700, LiveRows: 3},
		"nonces":     {MaxLen: 500, NonceFor: 5 * time.Minute, LiveRows: 2},
		"own thread": {MaxLen: 4096, OwnThread: true, ClosesThreads: true, LiveRows: 2, MaxFile: 1 << 20},
	}
}

func TestReferenceConforms(t *testing.T) {
	for name, form := range shapes() {
		t.Run(name, func(t *testing.T) { adaptertest.Run(t, reference(form)) })
	}
}

func TestMemoryConforms(t *testing.T) {
	adaptertest.Store(t, func(_ *testing.T, maxLines int64) func() adaptertest.Backend {
		m := adaptertest.NewMemory(maxLines)
		return func() adaptertest.Backend { return m }
	})
}

func TestHistories(t *testing.T) {
	for name, form := range shapes() {
		t.Run(name, func(t *testing.T) {
			form.MaxFile = min(form.MaxFile, 20000) // so that there are several
			adaptertest.Histories(t, drawtest.Times(2500, 100, 50), reference(form), nil)
		})
	}
}
