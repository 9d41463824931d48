package transcript

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Sub-agents of opencode write while they're read, and the reader is begun anew from its
// cursor at any moment: what each says is given once, in its order, with who says it, and
// in the order of time where all of it is read at once. What they're asked, other
// conversations and the ends of their turns aren't given.
func TestWhatSubAgentsOfOpenCodeSay(t *testing.T) {
	r := drawtest.Rand(t, 0)
	script := string(unzip(t, "testdata/opencode-all.sql.gz"))
	var made strings.Builder
	for line := range strings.SplitSeq(script, "\n") {
		if !strings.HasPrefix(line, "insert into message") && !strings.HasPrefix(line, "insert into part") {
			made.WriteString(line + "\n")
		}
	}
	for range 25 {
		f := &house{T: t, random: r, clock: 2_000_000_000_000, want: map[string][]string{}, open: map[string]string{}}
		f.ref = Ref{Format: OpenCode, Path: filepath.Join(t.TempDir(), "opencode.db"), Session: "main"}
		f.db = writable(t, f.ref.Path)
		f.exec(made.String())
		f.begin("main", "", "A conversation")
		f.begin("other", "", "Another")
		f.play()
		_ = f.db.Close()
	}
}

// house is an agent of opencode with its sub-agents, and who reads what they say.
type house struct {
	*testing.T
	random *rand.Rand
	db     *sql.DB
	clock  int64
	ids    int
	ref    Ref
	r      *Reader
	got    []Record
	want   map[string][]string // by who says it, "" the agent
	open   map[string]string   // by conversation: the update that ends what it's saying
}

func (f *house) exec(script string, args ...any) {
	f.Helper()
	if _, err := f.db.Exec(script, args...); err != nil {
		f.Fatal(err)
	}
}

func (f *house) id(kind string) string { f.ids++; return fmt.Sprintf("%s_%08d", kind, f.ids) }

func (f *house) tick() int64 { f.clock += 1 + f.random.Int64N(900); return f.clock }

func (f *house) begin(id, parent, title string) {
	f.Helper()
	now := f.tick()
	f.exec(`INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)
		VALUES (?, 'p', nullif(?, ''), ?, '/', ?, '1', ?, ?)`, id, parent, id, title, now, now)
}

// says has a conversation say something, some time in two steps.
func (f *house) says(conversation, text string) {
	f.Helper()
	if end := f.open[conversation]; end != "" {
		f.exec(end)
		delete(f.open, conversation)
	}
	m, p, now := f.id("msg"), f.id("prt"), f.tick()
	done := f.tick()
	f.exec("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)", m, conversation, now, now,
		fmt.Sprintf(`{"role":"assistant","time":{"created":%d}}`, now))
	f.exec("INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?, ?)", p, m, conversation, now, now,
		fmt.Sprintf(`{"type":"text","text":%q,"time":{"start":%d,"end":%d}}`, text, now, done))
	end := fmt.Sprintf(`UPDATE message SET data = '{"role":"assistant","finish":"stop","time":{"created":%d,"completed":%d}}' WHERE id = '%s'`, now, done, m)
	if f.random.IntN(3) == 0 {
		f.open[conversation] = end
		return
	}
	f.exec(end)
}

func (f *house) reopen(cursor []byte) {
	f.Helper()
	if f.r != nil {
		if err := f.r.Close(); err != nil {
			f.Fatal(err)
		}
	}
	var err error
	if f.r, err = Open(f.ref, cursor); err != nil {
		f.Fatal(err)
	}
}

func (f *house) read() {
	f.Helper()
	for {
		next, err := f.r.Read(f.Context(), 1+f.random.IntN(3))
		if err != nil {
			f.Fatal(err)
		}
		if f.got = append(f.got, next...); len(next) == 0 {
			return
		}
		if f.random.IntN(4) == 0 {
			f.reopen(f.r.Cursor())
		}
	}
}

func (f *house) step(n int) {
	f.Helper()
	who := fmt.Sprint("child", f.random.IntN(3))
	switch {
	case f.random.IntN(3) == 0:
		text := fmt.Sprint("the agent's word ", n)
		f.want[""] = append(f.want[""], text)
		f.says("main", text)
	case f.random.IntN(8) == 0:
		f.says("other", "nobody's business")
	case f.want[who] == nil:
		parent := "main"
		if f.want["child0"] != nil && who == "child2" {
			parent = "child0" // a sub-agent's own
		}
		f.want[who] = []string{}
		f.begin(who, parent, "Look with "+who+" (@general subagent)")
		now := f.tick()
		f.exec("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)", f.id("msg"), who, now, now, `{"role":"user","time":{"created":1}}`)
	default:
		text := fmt.Sprintf("a word of %s, %d\n\nand more", who, n)
		f.want[who] = append(f.want[who], text)
		f.says(who, text)
	}
}

func (f *house) play() {
	f.Helper()
	f.reopen(nil)
	for n := range 5 + f.random.IntN(40) {
		f.step(n)
		if f.random.IntN(2) == 0 {
			f.read()
		}
	}
	for _, end := range f.open {
		f.exec(end)
	}
	f.read()
	f.read()
	said := map[string][]string{}
	for _, one := range f.got {
		who := ""
		if one.Kind == TurnEnd {
			continue
		}
		if one.Kind == Helper {
			who = strings.TrimSuffix(strings.TrimPrefix(one.By, "general (Look with "), ")")
		}
		said[who] = append(said[who], one.Text)
	}
	for who, texts := range f.want {
		if !slices.Equal(said[who], texts) {
			f.Fatalf("%q said\n%q, want\n%q", who, said[who], texts)
		}
		delete(said, who)
	}
	if len(said) > 0 {
		f.Fatalf("others speak: %q", said)
	}
	f.reopen(nil)
	all, err := f.r.Read(f.Context(), 1000)
	if err != nil || len(all) != len(f.got) {
		f.Fatalf("%d records at once, %d before, %v", len(all), len(f.got), err)
	}
	if !slices.IsSortedFunc(all, func(a, b Record) int { return a.At.Compare(b.At) }) {
		f.Fatalf("read at once they aren't in the order of their times: %v", all)
	}
	if err := f.r.Close(); err != nil {
		f.Fatal(err)
	}
}
