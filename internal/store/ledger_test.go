package store

import (
	"testing"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

func TestLedgerConforms(t *testing.T) {
	qostest.Ledger(t, func(t *testing.T) func() qos.Ledger {
		t.Helper()
		path := dbPath(t)
		var open *Store
		return func() qos.Ledger {
			if open != nil {
				_ = open.Close()
			}
			open = mustOpen(t, path, Options{})
			return open.Ledger("telegram")
		}
	})
}
