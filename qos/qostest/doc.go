// Package qostest holds what qos and its implementations are tested with: the
// conformance suites of qos.Budget and qos.Ledger, a ledger in memory, and budgets
// that are slow or fail. It's test code in ordinary files, so that other packages
// can run the suites.
package qostest
