package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Sub-agents write while they're read, and the reader is begun anew from its cursor at any
// moment: what each says is given once, in its order, with who says it, and not before what
// the agent did earlier. What's internal (an agent that no call began, reminders, what it's
// asked) isn't given.
func TestWhatSubAgentsSay(t *testing.T) {
	for _, format := range []transcript.Format{transcript.Claude, transcript.Gemini, transcript.Codex, transcript.Qwen} {
		t.Run(string(format), func(t *testing.T) {
			random := drawtest.Rand(t, 0)
			for range drawtest.Times(60, 20, 20) {
				newFamily(t, format, random).play()
			}
		})
	}
}

// family is an agent of Claude Code, Gemini CLI, Codex or Qwen Code with its sub-agents, and who
// reads what they say.
type family struct {
	*testing.T
	random       *rand.Rand
	main, folder string
	clock        time.Time
	ids          int
	ref          transcript.Ref
	r            *transcript.Reader
	got          []transcript.Record
	want         map[string][]string // by who says it, "" the agent
	half         map[string]string   // the rest of a line that's half written
}

func newFamily(t *testing.T, format transcript.Format, random *rand.Rand) *family {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "s", "subagents")
	if format == transcript.Gemini {
		folder = filepath.Join(dir, "of-s")
	}
	f := &family{
		T: t, random: random, main: filepath.Join(dir, "s.jsonl"), folder: folder,
		clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), want: map[string][]string{}, half: map[string]string{},
	}
	if format == transcript.Codex {
		f.folder = filepath.Join(dir, "2026", "01", "02")
		f.main = filepath.Join(f.folder, "rollout-2026-01-02T03-04-05-s.jsonl")
		if err := os.MkdirAll(f.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		f.write(filepath.Join(f.folder, "rollout-2026-01-02T03-00-00-o.jsonl"), codexMeta("o", "s", "before")+f.codexSays("o", "never"))
	}
	if format == transcript.Qwen {
		f.folder, f.main = filepath.Join(dir, "subagents", "s"), filepath.Join(dir, "chats", "s.jsonl")
		if err := os.MkdirAll(filepath.Dir(f.main), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.ref = transcript.Ref{Format: format, Path: f.main}
	f.open(nil)
	if format == transcript.Gemini {
		f.write(f.main, `{"sessionId":"of-s","kind":"main"}`+"\n")
	}
	if format == transcript.Codex {
		f.write(f.main, codexMeta("s", "", ""))
	}
	return f
}

func (f *family) open(cursor []byte) {
	f.Helper()
	if f.r != nil {
		if err := f.r.Close(); err != nil {
			f.Fatal(err)
		}
	}
	var err error
	if f.r, err = transcript.Open(f.ref, cursor); err != nil {
		f.Fatal(err)
	}
}

func (f *family) write(path, text string) {
	f.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		f.Fatal(err)
	}
	if err := file.Close(); err != nil {
		f.Fatal(err)
	}
}

func (f *family) stamp() string {
	f.clock = f.clock.Add(time.Duration(1+f.random.IntN(900)) * time.Millisecond)
	return f.clock.Format("2006-01-02T15:04:05.000Z")
}

// codexMeta is the first line of one of Codex's transcripts, with instructions as long as
// they are.
func codexMeta(id, parent, nickname string) string {
	of := `,"thread_source":"user"`
	if parent != "" {
		of = fmt.Sprintf(`,"parent_thread_id":%q,"thread_source":"subagent","agent_nickname":%q`, parent, nickname)
	}
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"session_id":"s","id":%q%s,"base_instructions":{"text":%q}}}`+"\n", id, of, strings.Repeat("x", 50_000))
}

func (f *family) codexSays(id, text string) string {
	return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"item_completed","thread_id":%q,"item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":%q}]}}}`+"\n", f.stamp(), id, text)
}

// fileOf is the file of a sub-agent. Those of Codex are in folders by day.
func (f *family) fileOf(who string) string {
	if f.ref.Format != transcript.Codex {
		return filepath.Join(f.folder, who+".jsonl")
	}
	folder := f.folder
	if who == "agent-1" {
		folder = filepath.Join(filepath.Dir(folder), "03")
	}
	return filepath.Join(folder, "rollout-2026-01-02T03-04-06-"+who+".jsonl")
}

// codexBegins writes how a sub-agent of Codex begins: it's asked, behind what was said in the
// conversation that called it, perhaps. Agent 2 is called by agent 0, and 3 by another
// conversation.
func (f *family) codexBegins(who string) {
	f.Helper()
	parent := map[string]string{"agent-2": "agent-0", "agent-3": "another"}[who]
	if parent == "" {
		parent = "s"
	}
	file := f.fileOf(who)
	meta := codexMeta(who, parent, "Explore")
	if f.random.IntN(2) == 0 {
		f.write(file, meta[:1000])
		f.read()
		meta = meta[1000:]
	}
	f.write(file, meta)
	if f.random.IntN(2) == 0 {
		f.write(file, f.codexSays("s", "what was said before"))
	}
	if f.random.IntN(2) == 0 {
		f.read() // it isn't asked yet
	}
	f.write(file, fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"item_completed","thread_id":%q,"item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":%q}]}}}`+"\n", f.stamp(), who, "look with "+who))
}

func (f *family) says(side bool, text string) string {
	if f.ref.Format == transcript.Gemini {
		f.ids++
		line := fmt.Sprintf(`{"id":"g%d","timestamp":%q,"type":"gemini","content":%q}`+"\n", f.ids, f.stamp(), text)
		if f.random.IntN(2) == 0 { // it's written once more with the tools that it called
			return line + strings.Replace(line, `"type"`, `"toolCalls":[],"type"`, 1)
		}
		return line
	}
	thought := ownThought
	if side {
		thought = "never" // a sub-agent's isn't given
	}
	if f.ref.Format == transcript.Qwen {
		return fmt.Sprintf(`{"type":"assistant","isSidechain":%t,"uuid":"u","timestamp":%q,"message":{"role":"model","parts":[{"text":%q,"thought":true},{"text":%q}]}}`+"\n", side, f.stamp(), thought, text)
	}
	return fmt.Sprintf(`{"type":"assistant","isSidechain":%t,"uuid":"u","timestamp":%q,"message":{"id":"m","model":"x","content":[{"type":"thinking","thinking":%q},{"type":"text","text":%q}]}}`+"\n", side, f.stamp(), thought, text)
}

// read reads all there is, with restarts.
func (f *family) read() {
	f.Helper()
	for {
		next, err := f.r.Read(f.Context(), 1+f.random.IntN(3))
		if err != nil {
			f.Fatal(err)
		}
		if f.got = append(f.got, withoutEnds(next)...); len(next) == 0 {
			return
		}
		if f.random.IntN(4) == 0 {
			f.open(f.r.Cursor())
		}
	}
}

// ownThought is what the agent itself thinks.
const ownThought = "hm"

// withoutEnds are records but for the ends of the agent's own turns, and what it thinks.
func withoutEnds(records []transcript.Record) []transcript.Record {
	return slices.DeleteFunc(records, func(r transcript.Record) bool {
		return r.By == "" && (r.Kind == transcript.TurnEnd || r.Kind == transcript.Thought && r.Text == ownThought)
	})
}

// step has one of them say something, or begin.
func (f *family) step(n int) {
	f.Helper()
	who := fmt.Sprintf("agent-%d", f.random.IntN(4))
	file := f.fileOf(who)
	switch {
	case f.random.IntN(3) == 0:
		text := fmt.Sprint("the agent's word ", n)
		f.want[""] = append(f.want[""], text)
		if f.ref.Format == transcript.Codex {
			f.write(f.main, f.codexSays("s", text))
			return
		}
		f.write(f.main, f.says(false, text))
	case f.ref.Format == transcript.Codex && who == "agent-2" && f.want["agent-0"] == nil:
	case f.want[who] == nil:
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			f.Fatal(err)
		}
		f.want[who] = []string{}
		if f.ref.Format == transcript.Codex {
			f.codexBegins(who)
			return
		}
		if f.ref.Format == transcript.Gemini {
			f.write(file, fmt.Sprintf(`{"sessionId":"x","startTime":%q,"kind":"subagent"}`+"\n", f.stamp()))
			if f.random.IntN(2) == 0 {
				f.read() // it isn't asked yet
			}
			f.write(file, fmt.Sprintf(`{"id":"u","timestamp":%q,"type":"user","content":[{"text":"look with %s"}]}`+"\n", f.stamp(), who))
			return
		}
		f.write(file, fmt.Sprintf(`{"type":"user","isSidechain":true,"timestamp":%q,"message":{"content":"helper, look","parts":[{"text":"helper, look"}]}}`+"\n", f.stamp()))
		call := fmt.Sprintf(`,"toolUseId":"toolu_%s"`, who)
		if who == "agent-3" { // it's the program's own
			call = ""
		}
		if f.random.IntN(2) == 0 {
			f.read() // it isn't described yet
		}
		f.write(filepath.Join(f.folder, who+".meta.json"), fmt.Sprintf(`{"agentType":"Explore","description":"look with %s"%s}`, who, call))
	case f.half[who] != "":
		f.write(file, f.half[who])
		f.half[who] = ""
	default:
		text := fmt.Sprintf("a word of %s, %d\n\nand more", who, n)
		line := f.says(true, text)
		if f.ref.Format == transcript.Codex {
			line = f.codexSays(who, text)
		}
		if f.ref.Format == transcript.Claude {
			line += `{"type":"attachment","isSidechain":true,"attachment":{"type":"date"},"rendered":[{"content":"<system-reminder>never</system-reminder>"}]}` + "\n"
		}
		f.want[who] = append(f.want[who], text)
		at := len(line)
		if f.random.IntN(4) == 0 {
			at = f.random.IntN(len(line))
		}
		f.write(file, line[:at])
		f.half[who] = line[at:]
	}
}

func (f *family) play() {
	f.Helper()
	for n := range 5 + f.random.IntN(60) {
		f.step(n)
		if f.random.IntN(2) == 0 {
			f.read()
		}
	}
	for who, line := range f.half {
		f.write(f.fileOf(who), line)
	}
	f.read()
	f.read()
	said := map[string][]string{}
	for _, one := range f.got {
		who := ""
		if one.Kind == transcript.Helper {
			who = strings.TrimPrefix(strings.TrimPrefix(one.By, "Explore"), "sub-agent")
			who = strings.TrimSuffix(strings.TrimPrefix(who, " (look with "), ")")
		} else if one.By != "" || one.Kind != transcript.Answer {
			f.Fatalf("%+v", one)
		}
		said[who] = append(said[who], one.Text)
	}
	if f.ref.Format != transcript.Gemini {
		delete(f.want, "agent-3")
	}
	for who, texts := range f.want {
		if !slices.Equal(said[who], texts) {
			f.Fatalf("%q said\n%q, want\n%q", who, said[who], texts)
		}
	}
	if len(said["agent-3"]) > len(f.want["agent-3"]) {
		f.Fatalf("what's internal is given: %q", said["agent-3"])
	}
	f.open(nil)
	all, err := f.r.Read(f.Context(), 1000)
	all = withoutEnds(all)
	if err != nil || len(all) != len(f.got) {
		f.Fatalf("%d records at once, %d before, %v", len(all), len(f.got), err)
	}
	if !slices.IsSortedFunc(all, func(a, b transcript.Record) int { return a.At.Compare(b.At) }) {
		f.Fatalf("read at once they aren't in the order of their times: %v", all)
	}
	if err := f.r.Close(); err != nil {
		f.Fatal(err)
	}
}
