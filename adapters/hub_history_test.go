package adapters_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

func TestHubHistories(t *testing.T) {
	for name, form := range map[string]adapters.Shape{
		"a chat each":     {MaxLen: 1000, MaxFile: 1 << 20, LiveRows: 2},
		"one chat":        {MaxLen: 1000, OwnThread: true, ClosesThreads: true, LiveRows: 2, MaxFile: 1 << 20},
		"nonces, no file": {MaxLen: 4096, NonceFor: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.HubHistories(t, drawtest.Times(1000, 60, 15), adaptertest.Daemon{
				New: adaptertest.InMemory(func(c *adaptertest.Conn) adapters.Adapter {
					return &adaptertest.Adapter{Conn: c, Form: form, QoS: qos.Options{FlushLimit: 24 * time.Hour, Seed: 1}}
				}),
			})
		})
	}
}
