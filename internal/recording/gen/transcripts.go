package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

// transcripts takes over the agent's files. times.json beside one says when each
// of its lines was seen in the file; without it that's the timestamp in the
// line, or that of the line before.
func (t *taker) transcripts() error {
	paths, err := filepath.Glob(filepath.Join(t.raw, "transcript*.jsonl"))
	if err != nil {
		return fmt.Errorf("look for transcripts: %w", err)
	}
	sort.Strings(paths)
	for _, p := range paths {
		if t.rec.Agent == "opencode" {
			break // an export of its rows
		}
		name := filepath.Base(p)
		b, err := t.read(name)
		if err != nil {
			return err
		}
		times, err := t.read(strings.Replace(strings.TrimSuffix(name, "l"), "transcript", "times", 1))
		if err != nil {
			return err
		}
		var seen struct {
			File string
			At   []float64
		}
		if times != nil {
			if err := json.Unmarshal(times, &seen); err != nil {
				return fmt.Errorf("read times: %w", err)
			}
		} else {
			seen.At, seen.File = t.stamps(b), t.path(b)
		}
		t.rec.Transcripts = append(t.rec.Transcripts, &recording.Transcript{File: name, Path: seen.File, At: seen.At})
		if err := writeGzip(filepath.Join(t.dir, name+".gz"), b); err != nil {
			return err
		}
	}
	return nil
}

// path is where a transcript was, below the home folder.
func (t *taker) path(b []byte) string {
	if len(t.places) > 0 {
		return strings.TrimPrefix(t.places[0], t.rec.Home+"/")
	}
	var first struct{ ID, Timestamp string } // pi
	line, _, _ := bytes.Cut(b, []byte("\n"))
	_ = json.Unmarshal(line, &first)
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(first.Timestamp)
	return ".pi/agent/sessions/--srv-agents-proj-pi--/" + stamp + "_" + first.ID + ".jsonl"
}

var stamp = regexp.MustCompile(`"(?:timestamp|lastUpdated)": ?"(20[^"]*Z)"`)

// stamps are the times in a transcript's lines, never going back.
func (t *taker) stamps(b []byte) []float64 {
	var out []float64
	waiting, last := 0, 0.0
	for line := range bytes.Lines(b) {
		at := -1.0
		if all := stamp.FindAllSubmatch(line, -1); len(all) > 0 {
			when, err := time.Parse(time.RFC3339, string(all[len(all)-1][1]))
			if err == nil {
				at = round(float64(when.UnixMilli())/1000 - t.epoch)
			}
		}
		if at < 0 && len(out) == waiting { // none had one: these came with the first that has
			waiting++
			out = append(out, 0)
			continue
		}
		last = max(last, at)
		if waiting > 0 && len(out) == waiting {
			for i := range out {
				out[i] = last
			}
			waiting = -1
		}
		out = append(out, last)
	}
	return out
}

// rows takes over opencode's rows: their versions as they were seen, or, from an
// export of the end, as they were made and as they were at the end.
func (t *taker) rows() error {
	if t.rec.Agent != "opencode" {
		return nil
	}
	b, err := t.read("rows.jsonl")
	if err != nil {
		return err
	}
	if b == nil {
		if b, err = t.read("transcript.jsonl"); err != nil {
			return err
		}
		if b, err = t.versions(b); err != nil {
			return err
		}
	}
	return writeGzip(filepath.Join(t.dir, "rows.jsonl.gz"), b)
}

type version struct {
	T     float64        `json:"t"`
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

// versions makes two versions of each row of an export.
func (t *taker) versions(b []byte) ([]byte, error) {
	var all []version
	for line := range bytes.Lines(b) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			return nil, fmt.Errorf("read rows: %w", err)
		}
		table, _ := row["table"].(string)
		delete(row, "table")
		made, err := t.newborn(row)
		if err != nil {
			return nil, err
		}
		all = append(all, version{t.when(row["time_created"]), table, made})
		done := clone(row)
		if done["data"] != nil {
			if done["data"], err = encode(row["data"]); err != nil {
				return nil, err
			}
		}
		all = append(all, version{t.when(row["time_updated"]), table, done})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].T < all[j].T })
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, v := range all {
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("encode row: %w", err)
		}
	}
	return out.Bytes(), nil
}

func (t *taker) when(v any) float64 {
	n, _ := v.(json.Number)
	ms, _ := n.Float64()
	return round(ms/1000 - t.epoch)
}

func clone(row map[string]any) map[string]any {
	return maps.Clone(row)
}

func encode(v any) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode row: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}

// newborn is a row as it was when it was made, by what newer recordings show: an
// answer's text is empty, a tool runs, an answer isn't completed.
func (t *taker) newborn(row map[string]any) (map[string]any, error) {
	out := clone(row)
	out["time_updated"] = row["time_created"]
	data, ok := row["data"].(map[string]any)
	if !ok {
		return out, nil
	}
	data = clone(data)
	if when, ok := data["time"].(map[string]any); ok {
		when = clone(when)
		if when["end"] != nil && (data["type"] == "text" || data["type"] == "reasoning") {
			data["text"] = ""
		}
		delete(when, "end")
		delete(when, "completed")
		data["time"] = when
	}
	delete(data, "finish")
	delete(data, "error")
	if state, ok := data["state"].(map[string]any); ok {
		running := map[string]any{"status": "running", "input": state["input"]}
		if when, ok := state["time"].(map[string]any); ok {
			running["time"] = map[string]any{"start": when["start"]}
		}
		data["state"] = running
	}
	var err error
	out["data"], err = encode(data)
	return out, err
}
