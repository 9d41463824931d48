package drawtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// failsVar has this program play tests that fail.
const failsVar = "PANEBRIDGE_TEST_FAILS"

// TestFails is what another process of this program plays, and whose output is looked at.
func TestFails(t *testing.T) {
	if os.Getenv(failsVar) == "" {
		t.Skip("played by others alone")
	}
	t.Run("once it's drawn", func(t *testing.T) {
		t.Fatal("drawn:", drawtest.Rand(t, 3).Uint64())
	})
	t.Run("many", func(t *testing.T) {
		for seed := range drawtest.Seeds(t, 1000) {
			if seed%50 == 17 {
				t.Errorf("drawn: %d", seed)
				break
			}
		}
	})
	t.Run("fatal", func(t *testing.T) {
		for seed := range drawtest.Seeds(t, 1000) {
			if seed%50 == 17 {
				t.Fatalf("drawn: %d", seed)
			}
		}
	})
	t.Run("property", func(t *testing.T) {
		drawtest.Check(t, func(t *rapid.T) {
			if n := rapid.Uint64().Draw(t, "n"); n%5 == 0 {
				t.Fatal("drawn:", n)
			}
		})
	})
}

// play has another process play what fails, and returns what was drawn in each part and the
// command that repeats it.
func play(t *testing.T, part string, env ...string) (drawn, command string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestFails$/^"+part+"$")
	cmd.Env, cmd.Dir = append(os.Environ(), failsVar+"=1", "PANEBRIDGE_STRESS=", "PANEBRIDGE_SEED="), t.TempDir()
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%s has passed: %s", part, out)
	}
	found := regexp.MustCompile(`(?s)drawn: (\d+).*to repeat it: ([^\n]+)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("%s says\n%s", part, out)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("%s has left %v, %v", part, left, err)
	}
	return string(found[1]), string(found[2])
}

func TestWhatFailsSaysHowToRepeatIt(t *testing.T) {
	for _, part := range []string{"once_it's_drawn", "many", "fatal", "property"} {
		t.Run(part, func(t *testing.T) {
			usual, command := play(t, part)
			if again, _ := play(t, part); again != usual {
				t.Errorf("%s was drawn, and then %s", usual, again)
			}
			if !strings.HasSuffix(command, fmt.Sprintf(` go test -count=1 -run '^TestFails$/^%s$' ./internal/drawtest`, strings.ReplaceAll(part, "'", "."))) {
				t.Errorf("it's repeated by %s", command)
			}
			fresh, command := play(t, part, "PANEBRIDGE_STRESS=1")
			if one, _ := play(t, part, "PANEBRIDGE_STRESS=1"); part == "once_it's_drawn" && one == fresh {
				t.Errorf("%s is drawn each time, though it's to be fresh", one)
			}
			words := strings.Fields(command)
			env := words[:slices.Index(words, "go")]
			if again, _ := play(t, part, env...); again != fresh || len(env) != 2 {
				t.Errorf("%s was drawn, and with %q %s", fresh, env, again)
			}
		})
	}
}
