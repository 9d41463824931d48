package adaptertest

import (
	"os"
	"testing"
)

// Times is how many times a test is to play something at random: stress of them with
// PANEBRIDGE_STRESS, short with -short.
func Times(stress, usual, short int) int {
	switch {
	case os.Getenv("PANEBRIDGE_STRESS") != "":
		return stress
	case testing.Short():
		return short
	default:
		return usual
	}
}
