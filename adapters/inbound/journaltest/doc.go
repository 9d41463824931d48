// Package journaltest has what every inbound.Journal must do, as a suite, and a
// journal in memory whose processes can be killed.
package journaltest
