package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
	"github.com/panebridge/panebridge/sessions/typing"
)

// question is one dialog of an asker.
type question struct {
	title   string
	options []string
	text    bool      // its last option takes text
	unseen  bool      // not all of it can be seen
	part    int       // which part of it is drawn, where not all of it can be seen
	call    string    // that it's about, as the agent records it
	body    string    // what it draws of that; "": it's no permission
	torn    bool      // it's half drawn, so that nobody knows it
	stuck   bool      // it reads keys and does nothing
	deaf    time.Time // until then as well
	marked  int
	typed   string
}

func (q *question) sum() string {
	h := fnv.New64a()
	part := q.part
	if !q.unseen {
		part = 0
	}
	_, _ = fmt.Fprint(h, q.title, q.unseen, part, q.body, "\x00", strings.Join(q.options, "\x00"))
	return fmt.Sprintf("%016x", h.Sum64())
}

// took is an answer as the program understood it.
type took struct {
	q      *question
	option int
	text   string
	byHand bool // at the pane's own keyboard
}

// asker is a tmux server with one pane, whose program asks questions: Up and Down move
// the mark, Enter takes what's marked. It reads its input some time after it was typed.
type asker struct {
	sessionstest.Tmux // what isn't used here

	mu      sync.Mutex
	lag     time.Duration // until input is read
	tmux    time.Duration // that a command takes
	styled  bool          // what's marked is seen by its colour only
	now     *question     // nil: none is open
	unread  int
	keys    int // that were pressed or pasted
	took    []took
	stray   []string // keys that no dialog took
	dead    bool
	refuse  error // of Press and Paste
	spinner int
	queue   []func()
	byHand  bool // the key that's read was pressed at the pane's own keyboard
	digits  bool // a digit takes an option; what no question takes stands in its box
	box     string
	boxed   time.Time     // when the box was changed last
	inks    time.Duration // until its screen shows that
	draws   time.Duration // until its screen shows that a question has gone
	was     *question     // that has gone, and is drawn
	gone    time.Time
	ended   bool

	alone   bool          // nobody is attached, so that the pane may be made taller
	unwell  bool          // its program doesn't draw all of a question in a taller pane either
	redraws time.Duration // that its program takes to draw for another size
	tears   time.Duration // that its screen is half drawn then
	blank   bool          // half drawn is nothing, or else a dialog that nobody knows
	swaps   bool          // it asks about something else each time
	afresh  time.Duration // behind that, until it draws another part once more; 0: never
	drew    func()        // is called when it has drawn for another size, or afresh; may be nil
	drawing bool          // it's half drawn
	tall    bool          // it's taller
	covered bool          // only who made it taller may look
	grown   int           // how often it was made taller
}

func (p *asker) Terminal(string) (sessions.Terminal, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sessions.Terminal{Unread: p.unread}, nil
}

// rows are what's on the screen, and with colours. mu is held.
func (p *asker) rows() (plain, styled []string) {
	add := func(s string) { plain, styled = append(plain, s), append(styled, s) }
	add(fmt.Sprintf("output %d", p.spinner))
	now := p.now
	if now == nil && p.was != nil && time.Since(p.gone) < p.draws {
		now = p.was
	}
	if now == nil {
		box := p.box
		if time.Since(p.boxed) < p.inks {
			box = ""
		}
		add("> " + box)
		return plain, styled
	}
	if p.drawing && p.blank {
		add("")
		return plain, styled
	}
	title := now.title
	if now.unseen {
		title = "… " + title
	}
	if now.torn || p.drawing {
		title = "~ " + title
	}
	if now.part > 0 && now.unseen {
		title += fmt.Sprint(" part ", now.part)
	}
	if now.call != "" {
		title += " §" + now.call
	}
	if now.body != "" {
		title += " ¶" + now.body
	}
	add("? " + title)
	for i, o := range now.options {
		text := fmt.Sprintf("%d. %s", i+1, o)
		if now.text && i == len(now.options)-1 && now.typed != "" {
			text += ": " + now.typed
		}
		mark := "  "
		if i == now.marked && !p.styled {
			mark = "❯ "
		}
		plain = append(plain, mark+text)
		if i == now.marked && p.styled {
			text = "\x1b[7m" + text + "\x1b[0m"
		}
		styled = append(styled, mark+text)
	}
	return plain, styled
}

func (p *asker) Snapshot(_ context.Context, _ string, w sessions.RowWindow) (sessions.Snapshot, error) {
	defer time.Sleep(p.tmux)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.dead:
		return sessions.Snapshot{}, sessions.ErrUnknown
	case p.covered && !w.Tall:
		return sessions.Snapshot{}, sessions.ErrUnavailable
	}
	plain, _ := p.rows()
	return sessions.Snapshot{Server: run, Pane: "%1", Rows: plain}, nil
}

func (p *asker) Screen(context.Context, string) (sessions.Screen, error) {
	defer time.Sleep(p.tmux)
	p.mu.Lock()
	defer p.mu.Unlock()
	_, styled := p.rows()
	return sessions.Screen{Rows: styled}, nil
}

func (p *asker) Press(_ context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	return p.input(g, func() {
		for _, k := range keys {
			p.key(k)
		}
	})
}

func (p *asker) Paste(_ context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	return p.input(g, func() {
		if q := p.now; q != nil && q.text && q.marked == len(q.options)-1 {
			q.typed += text
			return
		}
		p.stray = append(p.stray, text)
	})
}

// input is what a guarded step does: the check and the typing are one.
func (p *asker) input(g sessions.PaneGuard, read func()) (sessions.GuardOutcome, error) {
	time.Sleep(p.tmux)
	p.mu.Lock()
	defer p.mu.Unlock()
	plain, _ := p.rows()
	for _, i := range g.Rows {
		if i >= len(plain) || plain[i] != g.Saw.Rows[i] {
			return sessions.Moved, nil
		}
	}
	if len(g.Phrases) > 0 && p.now != nil {
		return sessions.Held, nil
	}
	if p.refuse != nil && !errors.Is(p.refuse, sessions.ErrUncertain) {
		return "", p.refuse
	}
	p.keys++
	p.unread++
	p.queue = append(p.queue, read)
	time.AfterFunc(p.lag, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.read()
	})
	if p.refuse != nil {
		return "", p.refuse
	}
	return sessions.Done, nil
}

// read has the program read the oldest input. mu is held.
func (p *asker) read() {
	if len(p.queue) == 0 {
		return
	}
	f := p.queue[0]
	p.queue, p.unread = p.queue[1:], p.unread-1
	f()
}

// key is what the program does at a key. mu is held.
func (p *asker) key(k string) {
	q := p.now
	switch {
	case q == nil && p.digits && k == "BSpace":
		p.box = p.box[:max(0, len(p.box)-1)]
	case q == nil && p.digits:
		p.box += k
		p.boxed = time.Now()
	case q == nil:
		p.stray = append(p.stray, k)
	case q.stuck, time.Now().Before(q.deaf):
	case k == "Down":
		q.marked = min(q.marked+1, len(q.options)-1)
	case k == "Up":
		q.marked = max(q.marked-1, 0)
	case k == "Enter":
		if p.take(q.marked, q.typed); p.ended {
			p.dead = true
		}
	case p.digits && k >= "1" && k <= "9":
		p.take(int(k[0]-'1'), "")
	default:
		p.stray = append(p.stray, k)
	}
}

// take ends the question with an answer. mu is held.
func (p *asker) take(option int, text string) {
	p.took = append(p.took, took{p.now, option, text, p.byHand})
	p.was, p.gone, p.now = p.now, time.Now(), nil
}

// press is a key at the pane's own keyboard. It's read behind what's unread.
func (p *asker) press(k string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	read := func() {
		if p.now == nil {
			return
		}
		p.byHand = true
		p.key(k)
		p.byHand = false
	}
	if len(p.queue) == 0 {
		read()
		return
	}
	p.queue = append(p.queue, read)
	p.unread++
	time.AfterFunc(p.lag, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.read()
	})
}

// ask shows a question, or none, when the program has read its input.
func (p *asker) ask(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		p.read()
	}
	p.now = q
}

func (p *asker) with(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// asked reads an asker's dialogs.
type asked struct{}

func (asked) Read(_ sessions.ID, s *sessions.Snapshot, styled *sessions.Screen) *sessions.Dialog {
	d := &sessions.Dialog{Kind: sessions.PromptChoice, Marked: -1, First: -1}
	part := 0
	var labels []string
	for i, row := range s.Rows {
		if title, ok := strings.CutPrefix(row, "? "); ok {
			if strings.HasPrefix(title, "~ ") {
				d.Kind = sessions.PromptUnread
			}
			d.Title, d.Unseen = strings.CutPrefix(title, "… ")
			d.Title, d.Body, _ = strings.Cut(d.Title, " ¶")
			if d.Body != "" && d.Kind != sessions.PromptUnread {
				d.Kind = sessions.PromptPermission
			}
			d.Title, d.Call, _ = strings.Cut(d.Title, " §")
			d.Call, d.Disputed = strings.CutPrefix(d.Call, "?")
			if path, ok := strings.CutPrefix(d.Call, "edit "); ok {
				d.Edits, d.Whole = []sessions.FileEdit{{Path: path}}, "file: "+path
			}
			if title, nth, ok := strings.Cut(d.Title, " part "); ok {
				d.Title = title
				part, _ = strconv.Atoi(nth)
			}
			d.First, d.Last = i, i
			continue
		}
		if d.First < 0 {
			continue
		}
		if strings.HasPrefix(row, "❯ ") || styled != nil && strings.Contains(styled.Rows[i], "\x1b[7m") {
			d.Marked = len(labels)
		}
		_, label, _ := strings.Cut(row, ". ")
		if at := strings.Index(label, "write"); at >= 0 {
			d.Text, label = "write", "write"
		}
		labels = append(labels, label)
		d.Options, d.Last = append(d.Options, sessions.DialogOption{Label: label, Refuses: strings.HasPrefix(label, "No")}), i
	}
	if d.First < 0 {
		return nil
	}
	d.Styled = d.Marked < 0 || styled != nil
	d.Print = (&question{title: d.Title, unseen: d.Unseen, part: part, body: d.Body, options: labels}).sum()
	return d
}

var errColours = errors.New("it has to be seen with its colours")

func (asked) Next(_ sessions.ID, d *sessions.Dialog, a sessions.Answer) (sessions.DialogStep, error) {
	to := len(d.Options) - 1
	if a.Text == "" {
		to = a.Options[0]
	}
	switch {
	case d.Marked < 0:
		return sessions.DialogStep{}, errColours
	case d.Marked < to:
		return sessions.DialogStep{Keys: []string{"Down"}}, nil
	case d.Marked > to:
		return sessions.DialogStep{Keys: []string{"Up"}}, nil
	}
	return sessions.DialogStep{Keys: []string{"Enter"}, Last: true}, nil
}

// memory is a store in memory.
type memory struct {
	sessions.Store // what isn't used here

	mu       sync.Mutex
	sessions []sessions.Session
	prompts  map[string]sessions.Prompt
	refuse   func(sessions.Prompt) bool
}

func (s *memory) Sessions(context.Context) ([]sessions.Session, error)     { return s.sessions, nil }
func (s *memory) ClosedPanes(context.Context) ([]sessions.Pane, error)     { return nil, nil }
func (s *memory) OpenReceipts(context.Context) ([]sessions.Receipt, error) { return nil, nil }
func (s *memory) UnansweredReceipts(context.Context, time.Time) ([]sessions.Receipt, error) {
	return nil, nil
}
func (s *memory) PutReceipt(context.Context, sessions.Receipt) error { return nil }
func (s *memory) PutSession(_ context.Context, one sessions.Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(slices.DeleteFunc(s.sessions, func(o sessions.Session) bool { return o.ID == one.ID }), one)
	return nil
}

func (s *memory) PutPrompt(_ context.Context, p sessions.Prompt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil && s.refuse(p) {
		return sessions.ErrUnavailable
	}
	p.Dialog.Edits, p.Dialog.Kept = nil, nil // neither is stored
	s.prompts[p.ID] = p
	return nil
}

func (s *memory) Prompt(_ context.Context, id string) (sessions.Prompt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.prompts[id]
	if !ok {
		return p, sessions.ErrUnknown
	}
	return p, nil
}

func (s *memory) OpenPrompts(context.Context) (all []sessions.Prompt, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.prompts {
		if !p.Final() {
			all = append(all, p)
		}
	}
	return all, nil
}

// desk is a manager with one session that asks, and a poller that looks every second,
// and when something was typed.
type desk struct {
	testing.TB
	pane    *asker
	manager *sessions.Manager
	id      sessions.ID
	poke    chan struct{}
	stop    func()

	mu    sync.Mutex
	told  []sessions.Prompt
	notes []string // in the log
	shown string   // Print that the poller told
}

func newDesk(tb testing.TB, pane *asker, db sessions.Store, changes ...func(*options)) *desk {
	tb.Helper()
	d := &desk{TB: tb, pane: pane, poke: make(chan struct{}, 1)}
	o := options{Options: sessions.Options{
		Servers: []sessions.TmuxServer{pane}, Store: db, Pollers: pollers{d}, Notes: d, Feed: new(sessions.Feed), Shell: "sh",
	}, Hands: typing.Options{
		Dialogs: asked{}, Phrases: []string{"."}, Dialog: func(rows []string) string {
			if strings.HasPrefix(rows[1], "?") {
				return "?"
			}
			return ""
		},
	}}
	o.Feed.OnPrompt(func(p sessions.Prompt) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.told = append(d.told, p)
	})
	for _, change := range changes {
		change(&o)
	}
	pane.drew = func() { pollers{d}.NoteTyped("", "") }
	d.manager = o.manager()
	if err := d.manager.Load(context.Background()); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = d.manager.Run(ctx) })
	if all := d.manager.List(); len(all) > 0 {
		d.id = all[0].ID
	} else {
		s, err := d.manager.New(ctx, sessions.NewRequest{Name: "s", Cwd: "/"})
		if err != nil {
			tb.Fatal(err)
		}
		d.id = s.ID
	}
	running.Go(func() { d.poll(ctx) })
	d.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	return d
}

func withDesk(t *testing.T, test func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, &asker{lag: 10 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}})
		defer d.stop()
		test(d)
	})
}

func (d *desk) AppendLines(_ context.Context, _ sessions.ID, lines []sessions.Line, _ *sessions.Gap) ([]sessions.Line, []sessions.Gap, error) {
	lines[0].N = 1
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, lines[0].Text)
	return lines, nil, nil
}

type pollers struct{ *desk }

func (pollers) Start(sessions.Session) error            { return nil }
func (pollers) Stop(context.Context, sessions.ID) error { return nil }
func (pollers) ServerGone(string)                       {}

func (p pollers) NoteTyped(sessions.ID, string) {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

func (d *desk) poll(ctx context.Context) {
	for {
		d.look() //nolint:contextcheck // what a poller tells has no context
		select {
		case <-ctx.Done():
			return
		case <-d.poke:
		case <-time.After(time.Second):
		}
	}
}

func (d *desk) look() {
	snap, err := d.pane.Snapshot(context.Background(), "%1", sessions.RowWindow{})
	if errors.Is(err, sessions.ErrUnavailable) {
		return
	}
	if err != nil {
		d.manager.Ended(d.id, nil, "the pane is gone")
		return
	}
	ev := sessions.OutputEvent{Session: d.id, Prompt: asked{}.Read(d.id, &snap, nil)}
	if ev.Prompt != nil && ev.Prompt.Kind == sessions.PromptUnread { // which a poller tells later
		return
	}
	shown := ""
	if ev.Prompt != nil {
		shown = ev.Prompt.Print + ev.Prompt.Call
	}
	d.mu.Lock()
	ev.Asked = shown != d.shown
	d.shown = shown
	d.mu.Unlock()
	d.manager.Output(ev)
}

// asks shows a question and returns its prompt.
func (d *desk) asks(q *question) sessions.Prompt {
	d.Helper()
	d.pane.ask(q)
	d.pass(1500 * time.Millisecond)
	return d.open()
}

// open is the prompt that's open.
func (d *desk) open() sessions.Prompt {
	d.Helper()
	p, ok := d.manager.PromptOf(d.id)
	if !ok {
		d.Fatal("no prompt is open")
	}
	return p
}

func (d *desk) pass(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}

func (d *desk) answer(id string, by string, options ...int) (sessions.Prompt, error) {
	return d.manager.Answer(context.Background(), id, sessions.Answer{Options: options, Author: by})
}

// states are those that were told, in order, with why.
func (d *desk) states() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, p := range d.told {
		s := string(p.State)
		if p.Reason != "" {
			s += " (" + p.Reason + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func (d *desk) wantStates(want string) {
	d.Helper()
	if got := d.states(); got != want {
		d.Errorf("told %s\nwant %s", got, want)
	}
}

func permission(marked int) *question {
	return &question{title: "May I?", options: []string{"Yes", "Yes, always", "No"}, marked: marked}
}

// Grow makes the pane taller, unless somebody is at the terminal.
func (p *asker) Grow(context.Context, string, sessions.ServerIdentity, int, time.Duration) (sessions.Snapshot, error) {
	time.Sleep(p.tmux)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alone || p.dead {
		return sessions.Snapshot{}, sessions.ErrConflict
	}
	plain, _ := p.rows()
	p.tall, p.covered = true, true
	p.grown++
	p.resized()
	return sessions.Snapshot{Server: run, Pane: "%1", Rows: plain}, nil
}

func (p *asker) Shrink(context.Context, string) error {
	time.Sleep(p.tmux)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tall {
		p.tall = false
		p.resized()
	}
	return nil
}

func (p *asker) Settle(string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.covered = false
}

// resized has the program draw its question for the pane's size, some time later. In a pane
// that's as high as it was it draws another part of it. mu is held.
func (p *asker) resized() {
	q, tall := p.now, p.tall
	if q == nil || q.part == 0 {
		return
	}
	draw := func(f func()) {
		p.with(f)
		if p.drew != nil {
			p.drew()
		}
	}
	time.AfterFunc(p.redraws, func() { p.with(func() { p.drawing = p.tears > 0 && p.tall == tall }) })
	time.AfterFunc(p.redraws+p.tears, func() {
		draw(func() {
			if p.tall != tall {
				return
			}
			p.drawing = false
			if p.swaps {
				q.body = fmt.Sprintf("sort %d-%t.txt", p.grown, tall)
			}
			if q.unseen = !tall || p.unwell; q.unseen {
				q.part = q.part%3 + 1
			}
		})
	})
	if p.afresh > 0 && !tall {
		time.AfterFunc(p.redraws+p.tears+p.afresh, func() {
			draw(func() {
				if q.unseen && !p.tall {
					q.part = q.part%3 + 1
				}
			})
		})
	}
}
