// Command gen makes the files of internal/recording/testdata:
//
//	go run ./internal/recording/gen [-import FOLDER [-busy]] [-again] [AGENT/NAME...]
//
// With -import it first takes over raw recordings: FOLDER holds AGENT/NAME
// folders with cast.json (asciicast v2 with "epoch" and "actions_offset" in its
// header), actions.json, hooks.jsonl, transcript*.jsonl, shot_*.txt, truth.json,
// final_history.txt, and perhaps model.jsonl (the model's clock), times*.json (when
// each line of a transcript was seen in its file) and rows.jsonl (opencode). Then
// it plays each recording that has no frames yet (-again: all,
// or those that are named) in a real tmux and writes down what that shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// root is where recordings are, seen from the module's root.
const root = "internal/recording/testdata"

func main() {
	if socket := os.Getenv(paneVar); socket != "" {
		if err := playPane(socket); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	from := flag.String("import", "", "folder of raw recordings to take over")
	again := flag.Bool("again", false, "make frames anew")
	busy := flag.Bool("busy", false, "what's taken over was recorded on an overloaded machine")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *from, *busy, *again, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, from string, busy, again bool, names []string) error {
	if from != "" {
		dirs, err := filepath.Glob(filepath.Join(from, "*", "*", "actions.json"))
		if err != nil {
			return fmt.Errorf("look for raw recordings: %w", err)
		}
		for _, actions := range dirs {
			raw := filepath.Dir(actions)
			name := filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(raw)), filepath.Base(raw)))
			if len(names) > 0 && !slices.Contains(names, name) {
				continue
			}
			if err := take(raw, name, busy); err != nil {
				return fmt.Errorf("take over %s: %w", name, err)
			}
		}
	}
	all, err := filepath.Glob(filepath.Join(root, "*", "*", "recording.json"))
	if err != nil {
		return fmt.Errorf("look for recordings: %w", err)
	}
	for _, path := range all {
		dir := filepath.Dir(path)
		name := strings.TrimPrefix(filepath.ToSlash(dir), root+"/")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "frames.json.gz")); err == nil && !again {
			continue
		}
		n, changed, err := frames(ctx, dir, name)
		if err != nil {
			return fmt.Errorf("make frames of %s: %w", name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d frames, %d of them differ from the one before\n", name, n, changed)
	}
	return nil
}
