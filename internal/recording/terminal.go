package recording

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Terminal plays events on the terminal of this process, a tmux pane.
type Terminal struct{ input chan []byte }

// NewTerminal takes the terminal: recordings hold questions to it, whose answers
// mustn't be echoed.
func NewTerminal() (*Terminal, error) {
	raw := exec.Command("stty", "raw", "-echo") //nolint:noctx // ends at once
	raw.Stdin = os.Stdin
	if err := raw.Run(); err != nil {
		return nil, fmt.Errorf("set the terminal to raw: %w", err)
	}
	t := &Terminal{input: make(chan []byte, 64)}
	go t.read()
	return t, nil
}

// Play does what happened on the recorded terminal.
func (t *Terminal) Play(e Event) error {
	switch e.Kind {
	case "o":
		if _, err := os.Stdout.WriteString(e.Data); err != nil {
			return fmt.Errorf("write to the terminal: %w", err)
		}
	case "r":
		return t.resize(e.Data)
	}
	return nil
}

func (t *Terminal) read() {
	for {
		b := make([]byte, 4096)
		n, err := os.Stdin.Read(b)
		if err != nil {
			close(t.input)
			return
		}
		select {
		case t.input <- b[:n]:
		default: // nobody waits for it
		}
	}
}

// Sync asks the terminal for its status and waits for the answer: by then it
// has worked in all that was written before.
func (t *Terminal) Sync() error {
	for len(t.input) > 0 {
		<-t.input
	}
	if _, err := os.Stdout.WriteString("\x1b[5n"); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	var seen []byte
	for b := range t.input {
		if seen = append(seen, b...); bytes.Contains(seen, []byte("\x1b[0n")) {
			return nil
		}
	}
	return nil
}

// Wait waits until something is typed.
func (t *Terminal) Wait() {
	for len(t.input) > 0 {
		<-t.input
	}
	<-t.input
}

func (t *Terminal) resize(size string) error {
	w, h, _ := strings.Cut(size, "x")
	if err := t.Sync(); err != nil {
		return err
	}
	cmd := exec.Command("tmux", "resize-window", "-t", os.Getenv("TMUX_PANE"), "-x", w, "-y", h) //nolint:noctx,gosec // ends at once; sizes of a recording
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("resize: %w: %s", err, out)
	}
	time.Sleep(resizePause)
	return t.Sync()
}

// resizePause lets tmux resize the pane, which it puts off a moment, and a
// poller see it, as in life.
const resizePause = 400 * time.Millisecond
