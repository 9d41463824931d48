package qos_test

import (
	"testing"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

func TestMemLedgerConformance(t *testing.T) {
	qostest.Ledger(t, func(*testing.T) func() qos.Ledger {
		ledger := qostest.NewMemLedger()
		return func() qos.Ledger { return ledger.Process() }
	})
}
