// Package archtest holds the tests that keep the house as docs/architecture.md
// describes it: which folder may import which, who may speak SQL, and that the
// description itself names every folder and stays short enough to be read.
//
// It has no code besides its tests. The table they enforce is rules, in
// rules_test.go; a new folder needs an entry there and a line in
// docs/architecture.md.
package archtest
