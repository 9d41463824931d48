package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

// header is the first line of a raw cast.
type header struct {
	Width, Height int
	Epoch         float64 // seconds since 1970
	ActionsOffset float64 `json:"actions_offset"`
}

// versions are those of the programs whose raw recordings don't say it.
var versions = map[string]string{ //nolint:gochecknoglobals // a constant table
	"claude": "2.1.329", "codex": "0.169.0", "gemini": "0.61.0", "opencode": "1.18.33", "qwen": "0.15.10", "pi": "0.73.1",
}

// take makes a recording of a raw one.
func take(raw, name string, busy bool) error {
	dir := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	cast, err := os.ReadFile(filepath.Join(raw, "cast.json"))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	first, events, _ := bytes.Cut(cast, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		return fmt.Errorf("read the cast's header: %w", err)
	}
	agent, _, _ := strings.Cut(name, "/")
	rec := recording.Recording{
		Agent: agent, Version: versions[agent], Width: h.Width, Height: h.Height,
		Epoch: epochTime(h.Epoch), Home: "/srv/agents/home/" + strings.ReplaceAll(name, "/", "-"), Cwd: "/srv/agents/proj/" + agent, Busy: busy,
	}
	if err := writeGzip(filepath.Join(dir, "cast.jsonl.gz"), events); err != nil {
		return err
	}
	t := &taker{raw: raw, dir: dir, rec: &rec, epoch: h.Epoch, offset: h.ActionsOffset}
	for _, f := range []func() error{t.actions, t.hooks, t.model, t.transcripts, t.rows, t.truth, t.shots} {
		if err := f(); err != nil {
			return err
		}
	}
	history, err := os.ReadFile(filepath.Join(raw, "final_history.txt"))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "final_history.txt"), history, 0o600); err != nil { //nolint:gosec // the folder of a recording
		return fmt.Errorf("write: %w", err)
	}
	return t.writeJSON("recording.json", rec)
}

func epochTime(s float64) time.Time {
	return time.UnixMilli(int64(s*1000 + 0.5)).UTC()
}

// taker takes over one raw recording.
type taker struct {
	raw, dir      string
	rec           *recording.Recording
	epoch, offset float64
	places        []string // absolute paths of transcripts that hooks told, in order
}

// read is a raw file, or nil if there's none.
func (t *taker) read(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(t.raw, name))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return b, nil
}

func (t *taker) writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	// Times and keys stay on one line.
	b = regexp.MustCompile(`\[[^\[\]{}]*\]`).ReplaceAllFunc(b, func(list []byte) []byte {
		return regexp.MustCompile(`\n *`).ReplaceAll(list, nil)
	})
	if err := os.WriteFile(filepath.Join(t.dir, name), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func round(s float64) float64 { return float64(int64(s*1000+0.5)) / 1000 }

func (t *taker) actions() error {
	b, err := t.read("actions.json")
	if err != nil {
		return err
	}
	var in []map[string]any
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("read actions: %w", err)
	}
	for _, a := range in {
		at, _ := a["t"].(float64)
		a["t"] = round(at - t.offset)
		delete(a, "info")
		delete(a, "cmd")
	}
	return t.writeJSON("actions.json", in)
}

var tmuxSocket = regexp.MustCompile(`"TMUX": ?"[^"]*"`)

// hooks takes over the calls of hooks; older recordings of Codex have the data of
// `notify` as an argument, now it comes on standard input like all others.
func (t *taker) hooks() error {
	b, err := t.read("hooks.jsonl")
	if err != nil || len(b) == 0 {
		return err
	}
	b = tmuxSocket.ReplaceAll(b, []byte(`"TMUX":"/run/tmux-0/agents,8256,0"`))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for line := range bytes.Lines(b) {
		var h struct {
			T     float64
			Label string
			Argv  []string
			Stdin json.RawMessage
			Env   map[string]string
		}
		if err := json.Unmarshal(line, &h); err != nil {
			return fmt.Errorf("read hooks: %w", err)
		}
		if h.Label == "--argv" {
			h.Label, h.Stdin = "notify", json.RawMessage(h.Argv[len(h.Argv)-1])
		}
		for k := range h.Env {
			if strings.HasPrefix(k, "AGENTLAB") || strings.HasPrefix(k, "CODEX_MANAGED") {
				delete(h.Env, k)
			}
		}
		var told struct {
			Path string `json:"transcript_path"`
		}
		if json.Unmarshal(h.Stdin, &told) == nil && told.Path != "" {
			t.places = append(t.places, told.Path)
		}
		if err := enc.Encode(map[string]any{"t": round(h.T - t.epoch), "event": h.Label, "stdin": h.Stdin, "env": h.Env}); err != nil {
			return fmt.Errorf("encode hook: %w", err)
		}
	}
	return writeGzip(filepath.Join(t.dir, "hooks.jsonl.gz"), out.Bytes())
}

func (t *taker) model() error {
	b, err := t.read("model.jsonl")
	if err != nil || len(b) == 0 {
		return err
	}
	return writeGzip(filepath.Join(t.dir, "model.jsonl.gz"), b)
}

func (t *taker) truth() error {
	b, err := t.read("truth.json")
	if err != nil {
		return err
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("read truth: %w", err)
	}
	for k := range v {
		if k != "rules" && k != "chunk" && k != "delay" {
			delete(v, k)
		}
	}
	return t.writeJSON("truth.json", v)
}

func (t *taker) shots() error {
	paths, err := filepath.Glob(filepath.Join(t.raw, "shot_*.txt"))
	if err != nil {
		return fmt.Errorf("look for shots: %w", err)
	}
	sort.Strings(paths)
	out := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		out[strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "shot_"), ".txt")] = string(b)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode shots: %w", err)
	}
	return writeGzip(filepath.Join(t.dir, "shots.json.gz"), b)
}

// writeGzip writes a compressed file that's the same each time.
func writeGzip(path string, b []byte) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if _, err := z.Write(b); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
