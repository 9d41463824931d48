package tmux

import "testing"

// What capture-pane can is read of its usage, as tmux of several versions writes it, and nothing is
// read into what's no usage.
func TestCapturesAreExactByWhatTheCommandCan(t *testing.T) {
	for usage, want := range map[string]string{
		"[-aCeJNpPq] [-b buffer-name] [-E end-line] [-S start-line] [-t target-pane]":   "N",  // 3.3a
		"[-aCeJNpPqT] [-b buffer-name] [-E end-line] [-S start-line] [-t target-pane]":  "NT", // with -T
		"[-aCeJMNpPqT] [-b buffer-name] [-E end-line] [-S start-line] [-t target-pane]": "NT", // and one more
		"[-aCeJNpPq] [-b buffer-name] [-E end-line] [-S start-line] [-T something]":     "N",  // with a value
		"":                                   "N",
		"unknown command: capture-pane THAT": "N",
	} {
		if got := exactFlags(usage); got != want {
			t.Errorf("%q: -%s, want -%s", usage, got, want)
		}
	}
}
