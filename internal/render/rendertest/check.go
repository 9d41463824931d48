package rendertest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// perCheck is how many documents one check of rapid is about: shrinking what fails
// takes seconds then, and a million documents don't take a million set-ups.
const perCheck = 20

// Documents has rapid check a property of many documents: of short ones with
// -short, of 10,000 ordinarily, and of a million with PANEBRIDGE_STRESS. make is
// given seeds, of which rapid tries to do with fewer when the property fails, and
// share of them is the part that a test takes of all: 1 for all.
func Documents(t *testing.T, share float64, property func(t *rapid.T, seeds []uint64)) {
	t.Helper()
	n := drawtest.Times(1_000_000, 4000, 1000)
	drawtest.CheckTimes(t, int(float64(n)*share)/perCheck+1, func(t *rapid.T) {
		for range perCheck {
			property(t, rapid.SliceOfN(rapid.Uint64(), 1, 5).Draw(t, "seeds"))
		}
	})
}
