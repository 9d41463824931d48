package agent

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Recordings that users sent are shown to the judge. Where it believes something else
// than the daemon did then, the test says so, and -v shows all of it. It fails where turns
// don't end as they began; what's right is for people to say.
func TestJudgeOnHeard(t *testing.T) {
	recordings, err := recording.Heard()
	if err != nil {
		t.Fatal(err)
	}
	set, _ := loadAll(t)
	for _, r := range recordings {
		then, err := r.Verdicts()
		if err != nil {
			t.Fatal(err)
		}
		verdicts := newReplay(t, set, partsOf(t, r), mode{hooks: true, records: true, talking: true}).run()
		last := Verdict{}
		for _, v := range verdicts {
			if v.State != last.State || v.Began || v.Ended {
				t.Logf("%s %8v now:  %s (%s) began %t ended %t", r.Name, v.at, v.State, v.Reason, v.Began, v.Ended)
			}
			last = v.Verdict
		}
		for _, v := range then {
			t.Logf("%s %8v then: %s (%s) began %t ended %t", r.Name, v.At, v.State, v.Reason, v.Began, v.Ended)
			if is := stateAt(verdicts, v.At+500*time.Millisecond); string(is) != v.State {
				t.Logf("%s %8v: the daemon believed %s, now it's %s", r.Name, v.At, v.State, is)
			}
		}
		if problem := alternate(verdicts); problem != "" {
			t.Errorf("%s: %s", r.Name, problem)
		}
	}
}

// What was recorded through the daemon is to the judge what the whole recording is.
func TestHeardRecordingsAreJudgedAlike(t *testing.T) {
	set, recordings := loadAll(t)
	m := mode{hooks: true, records: true, talking: true}
	for _, r := range recordings {
		parts := partsOf(t, r)
		again, err := recording.OpenArchive(bytes.NewReader(heardArchive(t, parts)))
		if err != nil {
			t.Fatal(err)
		}
		was, is := newReplay(t, set, parts, m).run(), newReplay(t, set, partsOf(t, again), m).run()
		if a, b := ends(was), ends(is); a != b {
			t.Errorf("%s: %d ends, want %d", r.Name, b, a)
		}
		total, same := 0, 0
		for at := time.Duration(0); at < parts.frames[len(parts.frames)-1].At; at += 100 * time.Millisecond {
			total++
			if stateAt(was, at) == stateAt(is, at) {
				same++
			}
		}
		if same*200 < total*199 { // reads at the same time are one there
			t.Errorf("%s: %d of %d states are the same", r.Name, same, total)
		}
	}
}

// heardArchive is a recording as the daemon would have recorded it.
func heardArchive(t *testing.T, p *parts) []byte {
	t.Helper()
	a := &recording.Archive{}
	add := func(it recording.Item) {
		if err := a.Add(it); err != nil {
			t.Fatal(err)
		}
	}
	add(recording.Item{Head: &recording.Head{Agent: p.Agent, Width: p.Width, Height: p.Height, Epoch: p.Epoch, Heard: true}})
	last := &sessions.Snapshot{}
	for i := range p.frames {
		if now := &p.frames[i].Snapshot; i == 0 || !recording.Same(last, now) {
			c := recording.Change(i, last, now)
			add(recording.Item{T: p.frames[i].At.Seconds(), Frame: &c})
			last = now
		}
	}
	for _, h := range (&replay{t: t, r: p.Recording, hooks: p.hooks}).comeHooks(time.Hour) {
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		add(recording.Item{T: h.At.Sub(p.Epoch).Seconds(), Hook: text})
	}
	for _, b := range p.batches {
		for _, rec := range b.records {
			it := recording.Item{T: b.at.Seconds(), Record: &recording.HeardRecord{
				Kind: string(rec.Kind), Text: rec.Text, Failed: rec.Failed, Interrupted: rec.Interrupted, Waits: rec.Waits,
			}}
			if !rec.At.IsZero() {
				it.Record.At = rec.At.Sub(p.Epoch).Seconds()
			}
			add(it)
		}
	}
	for _, at := range p.inputs {
		add(recording.Item{T: at.Seconds(), Typed: &recording.Typed{Event: "keys"}})
	}
	add(recording.Item{T: p.frames[len(p.frames)-1].At.Seconds(), End: &recording.End{Frames: len(p.frames)}})
	var out bytes.Buffer
	if err := a.WriteTo(&out, "again"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// heardHook is a hook as the daemon heard it.
func heardHook(t *testing.T, h recording.Hook) Hook {
	t.Helper()
	var hook Hook
	if err := json.Unmarshal(h.Heard, &hook); err != nil {
		t.Fatal(err)
	}
	return hook
}

// heardBatches are the transcript's records as the daemon read them.
func heardBatches(t *testing.T, r *recording.Recording) []batch {
	t.Helper()
	records, err := r.Records()
	if err != nil {
		t.Fatal(err)
	}
	var out []batch
	for _, rec := range records {
		full := transcript.Record{Kind: transcript.RecordKind(rec.Kind), Tool: rec.Tool, Text: rec.Text, Failed: rec.Failed, Interrupted: rec.Interrupted, Waits: rec.Waits}
		if rec.Own != 0 {
			full.At = r.Epoch.Add(rec.Own)
		}
		// What was read with one look has one time.
		if n := len(out); n > 0 && out[n-1].at == rec.Seen {
			out[n-1].records = append(out[n-1].records, full)
			continue
		}
		out = append(out, batch{rec.Seen, []transcript.Record{full}})
	}
	return out
}
