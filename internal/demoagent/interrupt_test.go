package demoagent_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/demoagent"
)

// interruptible starts an agent that takes its time; calling ctrlC interrupts it.
func interruptible(t *testing.T, again, lineEvery time.Duration) (term *terminal, ctrlC func()) {
	t.Helper()
	interrupts := make(chan os.Signal)
	term = start(t.Context(), t, demoagent.Options{Think: -1, LineEvery: lineEvery, BulkEvery: time.Hour, Interrupt: interrupts, Again: again})
	term.waitFor("\n> ")
	return term, func() { interrupts <- syscall.SIGINT }
}

func TestCtrlCInterruptsTheAnswerOnly(t *testing.T) {
	for name, c := range map[string]struct{ input, reached, said string }{
		"while it counts":  {"count 10", "line 1 of 10", "Interrupted"},
		"while it answers": {"hello", "I'll look", "Interrupted"},
		"in a dialog":      {"ask", "Esc to cancel", "You canceled"},
		"at the prompt":    {"", "", "Ctrl-C once more"},
	} {
		t.Run(name, func(t *testing.T) {
			lineEvery := time.Hour
			if name == "in a dialog" { // which has a reason
				lineEvery = -1
			}
			term, ctrlC := interruptible(t, time.Nanosecond, lineEvery)
			if c.input != "" {
				term.press(c.input + "\r")
			}
			term.waitFor(c.reached)
			ctrlC()
			term.waitFor(c.said)
			if c.input != "" {
				if rest := term.waitFor(over); strings.Contains(rest, "line 2") {
					t.Errorf("it went on: %q", rest)
				}
			}
			term.waitFor("\n> ")
			if !term.lineMode() {
				t.Error("the terminal wasn't restored")
			}
			term.press("count 3\r")
			term.waitFor("line 1 of 3")
		})
	}
}

func TestASecondCtrlCEndsTheAgent(t *testing.T) {
	term, ctrlC := interruptible(t, time.Hour, time.Hour)
	term.press("count 10\r")
	term.waitFor("line 1 of 10")
	ctrlC()
	term.waitFor("\n> ")
	ctrlC()
	err := <-term.ended
	term.ended <- err // for the clean-up
	if err != nil {
		t.Error(err)
	}
}
