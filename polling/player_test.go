package polling_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// playVar names the recording that this test binary plays instead of running
// tests, when it's the command of a pane.
const playVar = "PANEBRIDGE_PLAY"

func TestMain(m *testing.M) {
	if cast := os.Getenv(playVar); cast != "" {
		if err := play(cast, 8, 400*time.Millisecond); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// castEvent is one line of an asciicast v2 file: [time, kind, data].
type castEvent struct {
	at         time.Duration
	kind, data string
}

func (e *castEvent) UnmarshalJSON(b []byte) error {
	var at float64
	if err := json.Unmarshal(b, &[]any{&at, &e.kind, &e.data}); err != nil {
		return err
	}
	e.at = time.Duration(at * float64(time.Second))
	return nil
}

// readCast reads a compressed recording: its size and its events.
func readCast(path string) (size string, events []castEvent, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	var head struct{ Width, Height int }
	for lines.Scan() {
		if head.Width == 0 {
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
				return "", nil, err
			}
			continue
		}
		var e castEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return "", nil, err
		}
		events = append(events, e)
	}
	return fmt.Sprintf("%dx%d", head.Width, head.Height), events, lines.Err()
}

// player writes a recording to the terminal it runs in.
type player struct{ input chan []byte }

// playedVar names the file that's made when a recording has been played.
const playedVar = "PANEBRIDGE_PLAYED"

// play plays a recording faster than it was; no pause is longer than maxGap of
// the recording's time. When the terminal has worked all of it in, it says so
// and waits for a line.
func play(path string, speed float64, maxGap time.Duration) error {
	_, events, err := readCast(path)
	if err != nil {
		return err
	}
	// Recordings hold questions to the terminal; its answers mustn't be echoed.
	raw := exec.Command("stty", "raw", "-echo")
	raw.Stdin = os.Stdin
	if err := raw.Run(); err != nil {
		return err
	}
	p := &player{input: make(chan []byte, 64)}
	go p.read()
	var last time.Duration
	for _, e := range events {
		time.Sleep(time.Duration(float64(min(e.at-last, maxGap)) / speed))
		last = e.at
		switch e.kind {
		case "o":
			_, err = os.Stdout.WriteString(e.data)
		case "r":
			err = p.resize(e.data)
		}
		if err != nil {
			return err
		}
	}
	p.sync()
	if err := os.WriteFile(os.Getenv(playedVar), nil, 0o600); err != nil {
		return err
	}
	<-p.input
	return nil
}

func (p *player) read() {
	for {
		b := make([]byte, 4096)
		n, err := os.Stdin.Read(b)
		if err != nil {
			close(p.input)
			return
		}
		p.input <- b[:n]
	}
}

// sync asks the terminal for its status and waits for the answer: by then it
// has worked in all that was written before.
func (p *player) sync() {
	var seen []byte
	_, _ = os.Stdout.WriteString("\x1b[5n")
	for b := range p.input {
		if seen = append(seen, b...); bytes.Contains(seen, []byte("\x1b[0n")) {
			return
		}
	}
}

func (p *player) resize(size string) error {
	w, h, _ := strings.Cut(size, "x")
	p.sync()
	out, err := exec.Command("tmux", "resize-window", "-t", os.Getenv("TMUX_PANE"), "-x", w, "-y", h).CombinedOutput()
	if err != nil {
		return fmt.Errorf("resize: %w: %s", err, out)
	}
	time.Sleep(400 * time.Millisecond) // so that a poll sees it, as in life
	p.sync()
	return nil
}
