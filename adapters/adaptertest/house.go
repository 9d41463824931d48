package adaptertest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/sessions"
)

// House has the sessions that are mirrored: it stands for manager, pollers and
// log, and outlives the processes. It's the reference for what a chat must show.
type House struct {
	backend Backend
	feed    *sessions.Feed // nil: nobody hears of events

	mu       sync.Mutex
	sessions []*resident
}

// resident is a session and all that it ever printed.
type resident struct {
	sessions.Session
	printed []string       // by line number - 1
	gaps    []sessions.Gap // as in the log
	live    *sessions.Live
	ends    []int64 // lines at which turns ended
}

var (
	_ adapters.Sessions = (*House)(nil)
	_ adapters.Screens  = (*House)(nil)
)

// NewHouse returns a house without sessions.
func NewHouse(b Backend) *House { return &House{backend: b} }

// Follower subscribes to what happens: a part of a process.
type Follower interface{ Follow(feed *sessions.Feed) }

// SetFollowers tells the parts of a new process of events from now on, and no others. None:
// nobody does.
func (h *House) SetFollowers(parts ...Follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.feed = nil
	if len(parts) == 0 {
		return
	}
	h.feed = new(sessions.Feed)
	for _, p := range parts {
		p.Follow(h.feed)
	}
}

// List implements adapters.Sessions.
func (h *House) List() []sessions.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []sessions.Session
	for _, r := range h.sessions {
		out = append(out, r.Session)
	}
	return out
}

// Get implements adapters.Sessions.
func (h *House) Get(id string) (sessions.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.find(sessions.ID(id)); r != nil {
		return r.Session, nil
	}
	return sessions.Session{}, fmt.Errorf("%w session %q", sessions.ErrUnknown, id)
}

// Live implements adapters.Screens.
func (h *House) Live(id sessions.ID) *sessions.Live {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.find(id); r != nil {
		return r.live
	}
	return nil
}

func (h *House) find(id sessions.ID) *resident {
	i := slices.IndexFunc(h.sessions, func(r *resident) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return h.sessions[i]
}

// Begin makes a session that was adopted. While nobody hears of events it's one that an earlier
// process has taken up.
func (h *House) Begin(id sessions.ID, name string) error { return h.begin(id, name, false) }

// BeginOwned makes a session that somebody has begun.
func (h *House) BeginOwned(id sessions.ID, name string) error { return h.begin(id, name, true) }

func (h *House) begin(id sessions.ID, name string, owned bool) error {
	s := sessions.Session{ID: id, Name: name, State: sessions.StateStarting, CreatedAt: time.Now(), Owned: owned}
	if err := h.backend.AddSession(context.Background(), s); err != nil {
		return err
	}
	h.mu.Lock()
	h.sessions = append(h.sessions, &resident{Session: s})
	feed := h.feed
	h.mu.Unlock()
	if feed == nil { // an earlier process had it
		return h.backend.TakeUp(context.Background(), id)
	}
	feed.PublishSession(s)
	return nil
}

// Output is what a session does at once.
type Output struct {
	Lines []string
	Kind  sessions.LineKind // of Lines; "": pane
	// Author and Origin are of Lines.
	Author, Origin string

	Gap  *sessions.Gap // before the first of Lines
	Ends bool          // the turn ends with these lines
	// Status is the exit status of the command that the turn was; nil: it was none.
	Status *int
	Failed string   // Turn.Failed
	Late   bool     // they belong to the turn that has ended already
	Live   []string // nil: unchanged
	// Known, if not nil, is the live region of a program that's known.
	Known *sessions.Live
	// Begins says that the first of Lines begins a block, and Tool of which call of a tool it's a part.
	Begins bool
	Tool   *sessions.ToolPart
}

// Print prints lines of a session: a line that comes while no turn is open opens one.
func (h *House) Print(id sessions.ID, o Output) error { return h.print(id, o, false) }

// print is Print; last says that the session ends with it.
func (h *House) print(id sessions.ID, o Output, last bool) error {
	h.mu.Lock()
	r := h.find(id)
	b := Batch{Session: id}
	for i, text := range o.Lines {
		b.Lines = append(b.Lines, sessions.Line{
			Kind: cmp.Or(o.Kind, sessions.KindPane), Text: text, At: time.Now(), Author: o.Author, Origin: o.Origin, Begins: o.Begins && i == 0,
		})
		if i == 0 {
			b.Lines[0].Tool = o.Tool
		}
	}
	if o.Gap != nil {
		b.Gaps = []sessions.Gap{*o.Gap}
	}
	turn := r.Turn
	if late := o.Late && !turn.Open && turn.Number > 0; late {
		turn.FirstLine, turn.LastLine = 0, int64(len(o.Lines))
		b.Turn = &turn
	} else if opens := !turn.Open && len(o.Lines) > 0; opens || turn.Open && o.Ends {
		if opens {
			turn = sessions.Turn{Number: turn.Number + 1, Open: true, StartedAt: time.Now(), FirstLine: 1}
		} else {
			turn.FirstLine = 0
		}
		if turn.LastLine = 0; o.Ends {
			turn.Open, turn.EndedAt, turn.LastLine, turn.Status, turn.Failed = false, time.Now(), int64(len(o.Lines)), o.Status, o.Failed
		}
		b.Turn = &turn
	}
	h.mu.Unlock()

	done, err := h.backend.Append(context.Background(), b)
	if err != nil {
		return err
	}
	h.hear(r, o, done, last)
	return nil
}

// hear takes a stored batch in and publishes it.
func (h *House) hear(r *resident, o Output, done Appended, last bool) {
	ev := sessions.OutputEvent{Session: r.ID, Lines: done.Lines, Gaps: done.Gaps, Turn: done.Turn}
	if len(done.Lines) > 0 {
		ev.First = done.Lines[0].N
	}
	h.mu.Lock()
	if o.Live != nil {
		r.live = &sessions.Live{Rows: o.Live}
		ev.Live = r.live
	}
	if o.Known != nil {
		r.live, ev.Live = o.Known, o.Known
	}
	r.printed = append(r.printed, o.Lines...)
	r.gaps = append(r.gaps, done.Gaps...)
	r.Lines = int64(len(r.printed))
	if ev.Complete = o.Ends && r.Turn != done.Turn; ev.Complete {
		r.ends = append(r.ends, done.Turn.LastLine)
	}
	r.Turn = done.Turn
	if last {
		r.State, r.EndedAt, r.live = sessions.StateEnded, time.Now(), nil
	}
	s, feed := r.Session, h.feed
	h.mu.Unlock()
	if feed == nil {
		return
	}
	feed.PublishOutput(ev)
	if last {
		feed.PublishSession(s)
	}
}

// SetState puts a session into another state.
func (h *House) SetState(id sessions.ID, state sessions.State, reason string) {
	h.mu.Lock()
	r := h.find(id)
	r.State, r.Reason = state, reason
	s, feed := r.Session, h.feed
	h.mu.Unlock()
	if feed != nil {
		feed.PublishOutput(sessions.OutputEvent{Session: id, Turn: s.Turn, State: state, Reason: reason})
		feed.PublishSession(s)
	}
}

// Rename gives a session another name.
func (h *House) Rename(id sessions.ID, name string) {
	h.mu.Lock()
	r := h.find(id)
	r.Name = name
	s, feed := r.Session, h.feed
	h.mu.Unlock()
	if feed != nil {
		feed.PublishSession(s)
	}
}

// End ends a session with a notice in its log. It has ended when that's told.
func (h *House) End(id sessions.ID, notice string) error {
	return h.print(id, Output{Lines: []string{notice}}, true)
}

// Bridge is a hub with the adapter of a real platform, and the sessions that it mirrors.
// What it keeps outlives its processes. It's made and used in one bubble.
type Bridge struct {
	House *House
	Rules []adapters.MirrorRule
	// Others are outlets of other platforms. Nil: there are none.
	Others func() []adapters.Outlet
	// RingAfter is Settings.RingAfter.
	RingAfter time.Duration

	Hub  *adapters.Hub // of the newest process
	Stop func()
	Kill func() // what happens from then on isn't kept

	tb      testing.TB
	adapter func() adapters.Adapter
	backend *Memory
	ledger  *qostest.MemLedger
}

// NewBridge returns one without sessions, whose processes have an adapter each. Where a rule doesn't say how much of long output
// is shown, it's each line.
func NewBridge(tb testing.TB, adapter func() adapters.Adapter, rules ...adapters.MirrorRule) *Bridge {
	tb.Helper()
	m := NewMemory(0)
	for i := range rules {
		rules[i].Work.Output = cmp.Or(rules[i].Work.Output, adapters.LengthAll)
	}
	return &Bridge{House: NewHouse(m), Rules: rules, tb: tb, adapter: adapter, backend: m, ledger: qostest.NewMemLedger()}
}

// Start begins a process, which Stop ends.
func (b *Bridge) Start() {
	b.tb.Helper()
	ledger, store := b.ledger.Process(), &Process{Store: b.backend}
	b.Kill = func() {
		ledger.Kill()
		store.Kill()
	}
	outlets := []adapters.Outlet{{Adapter: b.adapter(), Budget: qos.NewLocalBudget(ledger)}}
	if b.Others != nil {
		outlets = append(outlets, b.Others()...)
	}
	hub, err := adapters.NewHub(adapters.HubOptions{
		Outlets: outlets, Store: store, Log: b.backend, Sessions: b.House, Screens: b.House,
		Settings: adapters.Settings{Rules: b.Rules, RingAfter: b.RingAfter}, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = hub.Load(context.Background())
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	b.Hub = hub
	b.House.SetFollowers(hub)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(ctx) }()
	b.Stop = func() {
		b.tb.Helper()
		b.House.SetFollowers()
		cancel()
		if err := <-ended; err != nil && !store.Killed() {
			b.tb.Error(err)
		}
	}
}

// Print prints lines of a session.
func (b *Bridge) Print(id sessions.ID, o Output) {
	b.tb.Helper()
	b.must(b.House.Print(id, o))
}

// Begin makes a session.
func (b *Bridge) Begin(id sessions.ID, name string) {
	b.tb.Helper()
	b.must(b.House.Begin(id, name))
}

// End ends a session.
func (b *Bridge) End(id sessions.ID) {
	b.tb.Helper()
	b.must(b.House.End(id, "session ended"))
}

// Compare holds what a person sees against all that a session has printed.
func (b *Bridge) Compare(seen []Message, id sessions.ID) {
	b.tb.Helper()
	s, err := b.House.Get(string(id))
	b.must(err)
	for _, wrong := range b.House.Compare(seen, Want{Session: id, To: s.Lines, Oldest: 1}) {
		b.tb.Errorf("%s: %s", s.Name, wrong)
	}
}

func (b *Bridge) must(err error) {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatal(err)
	}
}

// Block is a block of an agent's transcript.
type Block struct {
	Kind sessions.LineKind
	Text string
	Ends bool // the turn ends with it
}

// Status is what the program of a session that speaks says it's doing.
const Status = "✢ Osmosing… (3s · ↓ 28 tokens)"

// Speak has a session do what a known agent does: what it answers is on its screen, bit
// by bit and without its markup, before the whole block is in the log. pass lets time
// pass.
func (h *House) Speak(id sessions.ID, blocks []Block, pass func(time.Duration)) error {
	for _, b := range blocks {
		if b.Kind == sessions.KindAnswer {
			if err := h.write(id, b.Text, pass); err != nil {
				return err
			}
		}
		region := &sessions.Live{Rows: []string{"❯ "}, Known: true, Status: Status}
		if b.Ends {
			region.Status = ""
		}
		o := Output{Lines: strings.Split(b.Text, "\n"), Kind: b.Kind, Begins: true, Ends: b.Ends, Known: region}
		if err := h.Print(id, o); err != nil {
			return err
		}
		pass(2 * time.Second)
	}
	return nil
}

// write shows an answer on the screen, until all of it is there.
func (h *House) write(id sessions.ID, text string, pass func(time.Duration)) error {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimLeft(strings.NewReplacer("`", "", "**", "").Replace(row), "#> ")
	}
	const steps = 8
	for i := range steps {
		shown := rows[:len(rows)*(i+1)/steps]
		shown = shown[max(0, len(shown)-30):] // what the screen holds
		region := &sessions.Live{Rows: append(shown, "❯ "), Known: true, Writing: shown, Status: Status}
		if err := h.Print(id, Output{Known: region}); err != nil {
			return err
		}
		pass(1500 * time.Millisecond)
	}
	return nil
}

// Letters counts what can be read of texts, whatever they look like, but for what
// panebridge and the program say of themselves.
func Letters(texts ...string) int {
	n := 0
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if line == Status || isEnding(line) {
				continue
			}
			for _, r := range line {
				if unicode.IsLetter(r) {
					n++
				}
			}
		}
	}
	return n
}

// WithoutEndings are texts without the lines that say that a turn has ended.
func WithoutEndings(texts []string) string {
	var out strings.Builder
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if !isEnding(line) {
				out.WriteString(line + "\n")
			}
		}
	}
	return out.String()
}
