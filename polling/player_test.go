package polling_test

import (
	"os"
	"testing"

	"github.com/panebridge/panebridge/internal/recording"
)

// The test binary is also the program of panes that play recordings.
func TestMain(m *testing.M) {
	recording.Main()
	os.Exit(m.Run())
}
