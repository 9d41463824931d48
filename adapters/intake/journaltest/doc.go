// Package journaltest has what every intake.Journal must do, as a suite, and a
// journal in memory whose processes can be killed.
package journaltest
