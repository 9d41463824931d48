package app_test

import "testing"

// TestWhatMustComeSoon runs the tests that hold the daemon to seconds beside each other, and
// beside none of those that come after it.
func TestWhatMustComeSoon(t *testing.T) {
	alone(t)
	for name, check := range map[string]func(*testing.T){
		"lines that are asked for ring":              checkAskedLinesRing,
		"a question before any line rings":           checkFirstQuestionRings,
		"unknown dialogs ring":                       checkUnknownDialogsRing,
		"programs that are played ask and get texts": checkPlayedPrograms,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
}
