package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// model is what a session's log should be.
type model struct {
	id         sessions.ID
	lines      []sessions.Line
	gaps       []sessions.Gap // ascending by After
	turn       sessions.Turn
	engine     []byte
	lastOutput time.Time
}

func (m *model) head() int64 { return int64(len(m.lines)) }

// append does what polling.Batch says.
func (m *model) append(b polling.Batch) (want polling.Appended) {
	before := m.head()
	for i, l := range b.Lines {
		l.N = before + int64(i) + 1
		l.Text = strings.ToValidUTF8(l.Text, "\uFFFD")
		want.Lines = append(want.Lines, l)
		if l.Kind != sessions.KindUser && l.Kind != sessions.KindNotice {
			m.lastOutput = l.At
		}
	}
	for _, g := range b.Gaps {
		g.After += before
		want.Gaps = append(want.Gaps, g)
	}
	m.lines, m.gaps = append(m.lines, want.Lines...), append(m.gaps, want.Gaps...)
	if b.Engine != nil {
		m.engine = b.Engine
	}
	if b.Turn != nil {
		t := *b.Turn
		old := m.turn
		if old.Number != t.Number {
			old = sessions.Turn{}
		}
		if t.FirstLine += before; b.Turn.FirstLine == 0 {
			t.FirstLine = old.FirstLine
		}
		if t.LastLine += before; b.Turn.LastLine == 0 {
			t.LastLine = old.LastLine
		}
		if !t.Open && t.FirstLine > 0 && t.LastLine == 0 {
			t.LastLine = m.head()
		}
		m.turn = t
	}
	want.Turn, want.Head = m.turn, m.head()
	return want
}

// items are lines and gaps in the order a reader sees them.
func items(lines []sessions.Line, gaps []sessions.Gap) (all []string) {
	gap := func(g sessions.Gap) string { return fmt.Sprintf("gap after %d: %d %s", g.After, g.AtLeast, g.Reason) }
	for _, l := range lines {
		for ; len(gaps) > 0 && gaps[0].After < l.N; gaps = gaps[1:] {
			all = append(all, gap(gaps[0]))
		}
		all = append(all, fmt.Sprintf("line %d: %s %s", l.N, l.Kind, l.Text))
	}
	for _, g := range gaps {
		all = append(all, gap(g))
	}
	return all
}

func (m *model) items() []string { return items(m.lines, m.gaps) }

func drawBatch(t *rapid.T, m *model) polling.Batch {
	text := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }))
	kind := rapid.SampledFrom([]sessions.LineKind{sessions.KindPane, sessions.KindAnswer, sessions.KindUser, sessions.KindTool, sessions.KindNotice})
	b := polling.Batch{Session: m.id}
	n := rapid.IntRange(0, 5).Draw(t, "lines")
	for i := range n {
		b.Lines = append(b.Lines, sessions.Line{Kind: kind.Draw(t, "kind"), Text: text.Draw(t, "text"), At: at.Add(time.Duration(m.head()) * time.Second).Add(time.Duration(i))})
	}
	for _, after := range rapid.SliceOfN(rapid.Int64Range(0, int64(n)), 0, 2).Draw(t, "gaps") {
		b.Gaps = append(b.Gaps, sessions.Gap{After: after, AtLeast: rapid.Int64Range(0, 3).Draw(t, "at least"), Reason: "r"})
	}
	slices.SortStableFunc(b.Gaps, func(x, y sessions.Gap) int { return int(x.After - y.After) })
	b.Engine = rapid.SampledFrom([][]byte{nil, {}, []byte("state"), make([]byte, 5000)}).Draw(t, "engine")
	if rapid.Bool().Draw(t, "has turn") {
		place := rapid.Int64Range(0, int64(n))
		turn := sessions.Turn{
			Number: m.turn.Number + rapid.Int64Range(0, 1).Draw(t, "next turn"), Open: rapid.Bool().Draw(t, "open"),
			StartedAt: at, FirstLine: place.Draw(t, "first"), LastLine: place.Draw(t, "last"),
		}
		if !turn.Open {
			turn.EndedAt = at.Add(time.Minute)
		}
		b.Turn = &turn
	}
	return b
}

// checkModel compares all there is to read of a log with its model.
func checkModel(ctx context.Context, t *rapid.T, s *Store, m *model) {
	equal := func(what string, want, got any) {
		if d := cmpDiff(want, got); d != "" {
			t.Fatalf("%s of %s (-want +got):\n%s", what, m.id, d)
		}
	}
	ok := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	engine, turn, err := s.Load(ctx, m.id)
	ok(err)
	equal("engine", m.engine, engine)
	equal("turn", m.turn, turn)

	n := rapid.IntRange(0, len(m.lines)+2).Draw(t, "tail")
	tail, err := s.Tail(ctx, m.id, n)
	ok(err)
	equal("tail", m.lines[max(0, len(m.lines)-n):], tail)

	// Pages by number: each line and gap once, the empty page at the end included.
	from := rapid.Int64Range(0, m.head()+1).Draw(t, "from")
	var lines []sessions.Line
	var gaps []sessions.Gap
	for next := from; ; {
		out, err := s.Read(ctx, m.id, next, rapid.IntRange(1, 7).Draw(t, "limit"))
		ok(err)
		lines, gaps = append(lines, out.Lines...), append(gaps, out.Gaps...)
		if out.Next == next {
			break
		}
		next = out.Next
	}
	first := max(from, 1)
	wantGaps := slices.DeleteFunc(slices.Clone(m.gaps), func(g sessions.Gap) bool { return g.After < first-1 })
	equal("lines by page", m.lines[min(first-1, m.head()):], lines)
	equal("gaps by page", wantGaps, gaps)

	// The same by cursor.
	lines, gaps = nil, nil
	for c := CursorAt(from); ; {
		out, next, err := s.ReadSince(ctx, m.id, c, rapid.IntRange(1, 7).Draw(t, "limit"))
		ok(err)
		lines, gaps = append(lines, out.Lines...), append(gaps, out.Gaps...)
		if next == c || len(out.Lines)+len(out.Gaps) == 0 {
			break
		}
		c = next
	}
	equal("lines by cursor", m.lines[min(first-1, m.head()):], lines)
	equal("gaps by cursor", wantGaps, gaps)
	end, err := s.End(ctx, m.id)
	ok(err)
	out, next, err := s.ReadSince(ctx, m.id, end, 0)
	ok(err)
	if len(out.Lines)+len(out.Gaps) > 0 || next != end || out.Next != m.head()+1 {
		t.Fatalf("behind the end of %s: got %+v and %+v", m.id, out, next)
	}
}

func TestLogsEqualTheirModel(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(100, 20, 20), func(rt *rapid.T) {
		ctx, path := t.Context(), dbPath(t)
		s, err := Open(ctx, path, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		models := make([]*model, rapid.IntRange(1, 5).Draw(rt, "sessions"))
		for i := range models {
			models[i] = &model{id: sessions.ID(fmt.Sprintf("pb_%d", i))}
			if err := s.PutSession(ctx, sessions.Session{ID: models[i].id}); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			appendTogether(ctx, rt, s, models)
			if rapid.Bool().Draw(rt, "reopen") {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = Open(ctx, path, Options{}); err != nil {
					rt.Fatal(err)
				}
			}
			all, err := s.Sessions(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			for i, m := range models {
				checkModel(ctx, rt, s, m)
				want := sessions.Session{ID: m.id, Lines: m.head(), Turn: m.turn, LastOutputAt: m.lastOutput}
				if d := cmpDiff(want, all[i]); d != "" {
					rt.Fatalf("session (-want +got):\n%s", d)
				}
			}
		}
	})
}

// appendTogether draws batches for every session and has one goroutine per
// session append them, all at once.
func appendTogether(ctx context.Context, t *rapid.T, s *Store, models []*model) {
	type step struct {
		batch polling.Batch
		want  polling.Appended
	}
	var wg sync.WaitGroup
	problems := make(chan string, 1000)
	for _, m := range models {
		var steps []step
		for range rapid.IntRange(0, 5).Draw(t, "batches") {
			b := drawBatch(t, m)
			steps = append(steps, step{b, m.append(b)})
		}
		wg.Go(func() {
			for _, st := range steps {
				got, err := s.Append(ctx, st.batch)
				if err != nil {
					problems <- err.Error()
				} else if d := cmpDiff(st.want, got); d != "" {
					problems <- d
				}
			}
		})
	}
	wg.Wait()
	close(problems)
	for p := range problems {
		t.Fatal(p)
	}
}

func TestReadersGetEachLineAndGapOnceWhileOthersAppend(t *testing.T) {
	const batches = 80
	s := mustOpen(t, dbPath(t), Options{})
	models := []*model{{id: "pb_0"}, {id: "pb_1"}, {id: "pb_2"}}
	mustPut(t, s, "pb_0", "pb_1", "pb_2")
	got := map[sessions.ID][][]string{}
	var wg sync.WaitGroup
	for _, m := range models {
		var done atomic.Bool
		seen := make([][]string, 3)
		got[m.id] = seen
		for i := range seen {
			wg.Go(func() { seen[i] = follow(t, s, m.id, i*5, &done) })
		}
		wg.Go(func() {
			defer done.Store(true)
			for i := range batches {
				b := randomBatch(m.id, i)
				m.append(b)
				if _, err := s.Append(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, m := range models {
		for _, seen := range got[m.id] {
			diff(t, "what a reader of "+string(m.id)+" saw", m.items(), seen)
		}
	}
}

func randomBatch(id sessions.ID, i int) polling.Batch {
	n := rand.IntN(5)
	b := polling.Batch{Session: id, Lines: paneLines(i*10, n)}
	for j := range rand.IntN(3) {
		b.Gaps = append(b.Gaps, sessions.Gap{After: rand.Int64N(int64(n) + 1), Reason: fmt.Sprint(i, j)})
	}
	slices.SortStableFunc(b.Gaps, func(x, y sessions.Gap) int { return int(x.After - y.After) })
	return b
}

// follow reads a log from its beginning, some pages by number first, until its
// writer is done.
func follow(t *testing.T, s *Store, id sessions.ID, pages int, done *atomic.Bool) (all []string) {
	t.Helper()
	from := int64(1)
	for range pages {
		out, err := s.Read(t.Context(), id, from, 1+rand.IntN(4))
		if err != nil {
			t.Error(err)
			return nil
		}
		if out.Next == from {
			break // the gaps at the end come again by cursor
		}
		all = append(all, items(out.Lines, out.Gaps)...)
		from = out.Next
	}
	for c := CursorAt(from); ; {
		last := done.Load()
		out, next, err := s.ReadSince(t.Context(), id, c, 1+rand.IntN(20))
		if err != nil {
			t.Error(err)
			return nil
		}
		all = append(all, items(out.Lines, out.Gaps)...)
		if last && len(out.Lines)+len(out.Gaps) == 0 {
			return all
		}
		c = next
	}
}

func TestAGapAtTheEndIsRepeatedByNumberAndNotByCursor(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 2)})
	_, c, err := s.ReadSince(ctx, "pb_1", Cursor{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []sessions.Gap
	for i := range 3 {
		g := sessions.Gap{After: 2, Reason: fmt.Sprint(i)}
		want = append(want, g)
		g.After = 0
		mustAppend(t, s, polling.Batch{Session: "pb_1", Gaps: []sessions.Gap{g}})

		out, err := s.Read(ctx, "pb_1", 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "by number", sessions.Output{Gaps: want, Next: 3, Oldest: 1}, out)
		out, c, err = s.ReadSince(ctx, "pb_1", c, 0)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "by cursor", sessions.Output{Gaps: want[i:], Next: 3}, out)
	}
}

func TestALogIsBoundedAndSaysWhatItDropped(t *testing.T) {
	for _, bound := range []int64{1, 10, 1000} {
		t.Run(fmt.Sprint(bound), func(t *testing.T) {
			ctx := t.Context()
			s := mustOpen(t, dbPath(t), Options{LogMaxLines: bound})
			mustPut(t, s, "pb_1")
			var slow Cursor
			var seen, missed int64 // by the slow reader
			for i := range 30 {
				n := int(bound)/7 + i%3
				a := mustAppend(t, s, polling.Batch{
					Session: "pb_1", Lines: paneLines(1, n), Gaps: []sessions.Gap{{Reason: "stored"}},
					Turn: &sessions.Turn{Number: int64(i), FirstLine: 1},
				})
				kept, err := s.Tail(ctx, "pb_1", 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				if got, low, high := int64(len(kept)), min(a.Head, bound), bound+min(bound/100, 100); got < low || got > high {
					t.Errorf("%d lines kept, want %d to %d", got, low, high)
				}
				checkTrimmed(t, s, a.Head, int64(len(kept)))
				if i%11 == 10 {
					out, next, err := s.ReadSince(ctx, "pb_1", slow, MaxLimit)
					if err != nil {
						t.Fatal(err)
					}
					for _, g := range out.Gaps {
						missed += g.AtLeast
					}
					seen += int64(len(out.Lines))
					slow = next
					if seen+missed != a.Head {
						t.Errorf("a slow reader saw %d and was told of %d missing lines, want %d together", seen, missed, a.Head)
					}
				}
			}
		})
	}
}

// checkTrimmed asks a log of which kept lines up to head are left for what is
// there, and for what was dropped.
func checkTrimmed(t *testing.T, s *Store, head, kept int64) {
	t.Helper()
	ctx, oldest := t.Context(), head-kept+1
	read := func(from int64) sessions.Output {
		out, err := s.Read(ctx, "pb_1", from, 1)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, from := range []int64{0, oldest} {
		out := read(from)
		if kept > 0 && out.Lines[0].N != oldest {
			t.Errorf("from %d: got line %d, want the oldest kept, %d", from, out.Lines[0].N, oldest)
		}
		if len(out.Gaps) > 0 && (out.Gaps[0].After < oldest-1 || out.Gaps[0].Reason != "stored") {
			t.Errorf("from %d: got gap %+v of what was dropped before %d", from, out.Gaps[0], oldest)
		}
	}
	for _, from := range []int64{1, oldest - 1} {
		if from < 1 || from >= oldest {
			continue
		}
		want := sessions.Gap{After: from - 1, AtLeast: oldest - from, Reason: trimmedReason}
		if out := read(from); len(out.Gaps) == 0 || out.Gaps[0] != want || out.Lines[0].N != oldest {
			t.Errorf("from %d: got %+v, want to begin with %+v", from, out, want)
		}
	}
}

func TestALoweredBoundShrinksALogBitByBit(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 2500)})
	s.SetLogMaxLines(100)
	for _, want := range []int{1501, 502, 100, 101, 100} {
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 1)})
		lines, err := s.Tail(t.Context(), "pb_1", 5000)
		if err != nil || len(lines) != want {
			t.Errorf("got %d lines, %v; want %d", len(lines), err, want)
		}
	}
}

func TestABatchThatContradictsItselfIsRefused(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	for name, b := range map[string]polling.Batch{
		"gap behind the batch": {Gaps: []sessions.Gap{{After: 1}}},
		"gap before the batch": {Gaps: []sessions.Gap{{After: -1}}},
		"turn behind":          {Turn: &sessions.Turn{FirstLine: 2}},
		"turn before":          {Turn: &sessions.Turn{LastLine: -2}},
		"turn that ended":      {Ended: []sessions.Turn{{FirstLine: -1}}},
	} {
		b.Session = "pb_1"
		if _, err := s.Append(t.Context(), b); !errors.Is(err, sessions.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

func TestTurnsKeepTheirLines(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	for i, step := range []struct {
		lines             int
		number            int64
		open              bool
		first, last       int64
		wantFirst, wantTo int64
	}{
		{3, 1, true, 2, 0, 2, 0},  // begins within the batch
		{2, 1, true, 0, 0, 2, 0},  // goes on
		{2, 1, false, 0, 1, 2, 6}, // ends before the batch does
		{0, 2, true, 0, 0, 0, 0},  // a new one has no lines yet, and not those of the last
		{2, 2, true, 1, 0, 8, 0},
		{1, 2, false, 0, 0, 8, 10}, // ended by a hook: at the newest line
		{0, 3, false, 0, 0, 0, 0},  // said nothing
	} {
		turn := sessions.Turn{Number: step.number, Open: step.open, FirstLine: step.first, LastLine: step.last}
		a := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, step.lines), Turn: &turn})
		turn.FirstLine, turn.LastLine = step.wantFirst, step.wantTo
		diff(t, fmt.Sprintf("turn after batch %d", i+1), turn, a.Turn)
		_, stored, err := s.Load(t.Context(), "pb_1")
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "stored turn", turn, stored)
	}
}
