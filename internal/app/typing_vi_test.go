package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// noteCommands has each shell write down what it runs.
func noteCommands(log string) map[string]string {
	return map[string]string{
		"bash": fmt.Sprintf(`set -o vi; trap 'case $BASH_COMMAND in __panebridge*) ;; *) printf "%%s\n" "$BASH_COMMAND" >> %s;; esac' DEBUG`, log),
		"zsh":  fmt.Sprintf(`bindkey -v; preexec() { print -r -- "$1" >> %s }`, log),
		"fish": fmt.Sprintf(`fish_vi_key_bindings; function p --on-event fish_preexec; string join \n $argv[1] >> %s; end`, log),
	}
}

// Somebody has left a shell in vi's command mode, in which a text's letters are commands:
// what comes of them is never run. A shell that takes the text as a text runs it.
func TestTextsForAShellInViCommandMode(t *testing.T) {
	slow(t)
	h := newTypingHouse(t, drawtest.Seed(t))
	h.run()
	h.awaitTmux()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		h.enter("r"+shell, shell)
		r, log := h.rooms[len(h.rooms)-1], filepath.Join(h.dir, shell+".log")
		h.write(r)
		h.submitted(r)
		h.ranAll()
		h.keys(r, "-l", noteCommands(log)[shell])
		h.keys(r, "Enter")
		time.Sleep(time.Second)
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var submitted []string
		for range 3 {
			text := "printf " + h.drawWords()
			h.keys(r, "Escape")
			time.Sleep(700 * time.Millisecond) // keys behind an Escape at once are another key
			got, err := h.api.Input(h.ctx(), string(r.id), text, true)
			if err != nil {
				t.Fatal(err)
			}
			if got = h.final(got); got.Submitted() {
				submitted = append(submitted, text+"\n")
			} else {
				t.Logf("%s, %q: %s: %s", shell, text, got.State, got.Reason)
			}
			h.keys(r, "C-c")
			time.Sleep(300 * time.Millisecond)
		}
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if ran := slices.Collect(strings.Lines(string(b))); !slices.Equal(ran, submitted) {
			t.Errorf("%s ran %q, and %q was called submitted", shell, ran, submitted)
		}
		if shell != "bash" && len(submitted) != 3 {
			t.Errorf("%s took %d of 3", shell, len(submitted))
		}
	}
}

// drawWords draws three words, with those letters among them that begin or change a line in
// vi's command mode, and one that shells draw otherwise than it's written.
func (h *typingHouse) drawWords() string {
	words := make([]string, 3)
	for i := range words {
		var b strings.Builder
		for range 1 + h.random.IntN(6) {
			b.WriteByte("abcdeiIAxrsSyphjklw0$"[h.random.IntN(19)])
		}
		words[i] = b.String()
	}
	return strings.Join(append(words, "e\u0301n\u200dd"), " ")
}
