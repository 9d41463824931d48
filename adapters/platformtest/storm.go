package platformtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Coast is a platform with an Office, on which storms can be played: what the suite of storms
// needs of it.
type Coast interface {
	// Office is where everything happens; it has no session yet.
	Office() *Office
	// Print has a session print; Begin makes it.
	Print(id sessions.ID, o adaptertest.Output)
	Begin(id sessions.ID, name string)
	// SetFates has a function say what happens to each call from now on; nil: nothing does.
	SetFates(fate func(c StormCall) faults.Fate)
	// Wrongs are what the platform, and what stands before it, may do wrong.
	Wrongs() []Wrong
	// States are how the platform may be.
	States() []StormState
	// Seen are all messages of the bot in all places, oldest first; Places are all threads that
	// were made for the session of a name, oldest first.
	Seen() []StormMessage
	Places(name string) []StormPlace
	// Command asks for the list of sessions in the chat, and returns what tells its answer from
	// others.
	Command() (id string, err error)
	// Write writes a text where the session of a name is shown, as the approver or as the operator,
	// and returns its message; "": it isn't shown yet. Edit changes a text.
	Write(name string, approver bool, text string) (message string, err error)
	Edit(approver bool, message, text string) error
	// Jolt disturbs the way on which updates come, as the platform does: some come twice, late,
	// or in another order.
	Jolt(random *rand.Rand) Jolt
	// Deafs are the states in which nothing comes that people write, and about which one of them
	// has to be told.
	Deafs() []StormState
	// Slash gives a command whose reply has a text as the platform's own form for it, and Push
	// pushes a button of a message, both as the approver. They return what tells them from others;
	// "": it can't be done here. Unheard reports whether who did sees that nobody answers.
	Slash(word string) (id, reply string, err error)
	Push(m StormMessage, label string) (id string, err error)
	Unheard(id string) bool
	// Misjudged says what the daemon takes the platform for that it isn't; "": nothing.
	Misjudged() string
	// PressButton presses a button of a message, and Reply answers it, both as the approver.
	PressButton(m StormMessage, label string) error
	Reply(m StormMessage, text string) error
}

// Jolt is what was disturbed.
type Jolt struct {
	Name   string
	Settle func()        // ends it; nil: it's over by itself
	Rest   time.Duration // how long it may last then until that's noticed, and the platform takes the bot back
	// Forgets says that the platform doesn't bring again what it hasn't brought yet; what's written
	// can still be read, but not that it was changed.
	Forgets bool
}

// StormCall is what a fate is drawn by.
type StormCall struct {
	Reads   bool   // it looks at something, or waits for updates
	Makes   string // the name of the session that it makes a thread for; "": it makes none
	Place   string // the thread that it's a message for; "": it's for none
	Buttons bool   // it has buttons

	Chat string // whose slot it takes
	Kind string // "post", "reply" or "edit"; "": it's something else
}

// Wrong is one thing that goes wrong with calls.
type Wrong struct {
	Name string
	// Fits reports whether it can happen to a call. Nil: to all.
	Fits func(c StormCall) bool
	// Draw draws it: what happens, and for how long silence is ordered.
	Draw func(random *rand.Rand) (f faults.Fate, silence time.Duration)
	// Hides says that all that waits for the chat is given up with it, replies too.
	Hides bool
	// Loses says that it tells of a thread that it's gone.
	Loses bool
	// Lasts says that it can be an outage: nothing's done while it happens to all calls.
	Lasts bool
}

// StormMessage is a message of the bot's as people see it.
type StormMessage struct {
	ID, Place string // Place is what the platform calls it
	At        time.Time
	Text      string // with an attached file's
	Buttons   []string
	ReplyTo   string
	Gone      bool // with its place, which a person deleted: somebody has seen it
}

// marked says that the message says of itself that it may be there already.
func (m StormMessage) marked() bool { return strings.Contains(m.Text, "[sent once more") }

// calm is how long everything may take to be there once a storm and what it ordered are over,
// if the budget has room for it in that time.
const calm = time.Minute

// storm is one history.
type storm struct {
	Coast
	testing.TB
	random *rand.Rand

	mu     sync.Mutex
	silent time.Time // until when silence is ordered
	slow   time.Time // until when a call that reads takes
	broken time.Time // until when a connection may be broken without anybody's notice
	hidden bool      // something that waits may have been given up
	makes  int       // calls that make threads, of which nobody knows what came
	loses  int       // calls that were told that their thread is gone
	deaf   bool      // no thread could be written to
	over   bool      // nothing goes wrong any more
	guests []*guest

	leave   func() error //  ends the state that it's in; nil: none, or it stays
	bare    bool         // messages can't answer others
	forgets bool         // changes of texts may have been lost

	noting  sync.Mutex
	history []string // what went wrong

	restarts int
	unsaid   int // of the commands so many needn't be answered
	commands []string
	texts    []written
	slashes  []interaction
	pushes   []interaction
}

// Storms plays 200 storms, each in a bubble that in makes, with a folder made outside of it;
// 50,000 with PANEBRIDGE_STRESS. known are seeds of storms in which something was wrong once:
// they're played before, unless a seed is given.
func Storms(t *testing.T, in func(t *testing.T, dir string, play func(testing.TB, Coast)), known ...uint64) {
	t.Helper()
	for seed := range drawtest.Seeds(t, drawtest.Times(50_000, 100, 50), known...) {
		if t.Failed() {
			break
		}
		dir, err := os.MkdirTemp("", "storm")
		if err != nil {
			t.Fatal(err)
		}
		in(t, dir, func(tb testing.TB, c Coast) { tb.Helper(); playStorm(tb, c, seed) })
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

// playStorm plays a storm at random: two sessions print, ask and are asked about while calls go
// wrong in all ways. A minute after it, and after the silence that it ordered, every line is
// seen, once unless it's marked, every command is answered, every question can be answered,
// nothing says any more that something is wrong, and of each session no more places were made than
// were lost.
func playStorm(tb testing.TB, c Coast, seed uint64) {
	tb.Helper()
	s := &storm{Coast: c, TB: tb, random: rand.New(rand.NewPCG(seed, 5)), guests: []*guest{newGuest(AskingText, "agent", 0), newGuest(Second, "second", 1000)}}
	o := c.Office()
	o.Open()
	defer func() {
		o.Close()
		if tb.Failed() {
			s.noting.Lock()
			tb.Logf("seed %d\n%s", seed, strings.Join(s.history, "\n"))
			s.noting.Unlock()
			for _, t := range o.Keyboard().Typed() {
				tb.Logf("typed: %q", t.Text)
			}
			for _, m := range c.Seen() {
				tb.Logf("%s %s at %s, answers %s: %q %q", m.At.Format(time.TimeOnly), m.ID, m.Place, m.ReplyTo, m.Text, m.Buttons)
			}
		}
	}()
	early := s.random.IntN(3) == 0
	if early {
		s.enter()
		s.begin()
	}
	s.arrive(s.guests[0])
	if s.random.IntN(2) == 0 {
		s.arrive(s.guests[1])
	}
	if !early {
		o.Pass(20 * time.Second)
		s.enter()
		s.begin()
	}
	for range 1 + s.random.IntN(3) {
		s.rage()
		s.SetFates(nil)
		o.Pass(time.Duration(s.random.IntN(20)) * time.Second)
		if s.random.IntN(2) == 0 {
			s.begin()
		}
		s.arrive(s.guests[1])
	}
	s.SetFates(nil)
	for _, g := range s.guests {
		s.checkPlaces(g)
		g.places = len(s.Places(g.name))
	}
	s.over = true
	if s.leave != nil {
		if err := s.leave(); err != nil {
			s.Error(err)
		}
	}
	s.note("it's over")
	s.mu.Lock()
	silent := max(time.Until(s.silent), 0)
	s.mu.Unlock()
	o.Pass(silent)
	s.catchUp()
	s.reopen()
	s.tryPlaces()
	s.note("all is to be there")
	s.check()
}

// catchUp lets the time pass in which everything is to be there: a minute. After orders of
// silence calls are further apart for a while; where a chat has made as many in that minute as
// its pace allows, what's left has the time that it needs at that pace. What takes several calls, as a
// session whose thread is made anew, has it again for each of them.
func (s *storm) catchUp() {
	s.Helper()
	const calls = 4 // to close a message, to be told that the thread is gone, to make one, and to write there
	more := calm
	for range 1 + calls {
		if more = s.passAtPace(more); more == 0 {
			return
		}
	}
}

// passAtPace lets time pass, and returns how long what's left then takes where a chat has made as many
// calls meanwhile as its pace allows: the slower one of begin and end, since what's slow after a silence
// begins when that ends, which is up to a second after what was ordered.
func (s *storm) passAtPace(d time.Duration) (more time.Duration) {
	s.Helper()
	made := map[string]int{} // calls, by chat
	s.SetFates(func(c StormCall) faults.Fate {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !c.Reads {
			made[c.Chat]++
		}
		return faults.Fate{}
	})
	ticks := map[qos.ChatKey]time.Duration{}
	for _, c := range s.Office().Chats() {
		ticks[c.Chat] = c.Tick
	}
	s.Office().Pass(d)
	s.SetFates(nil)
	for _, c := range s.Office().Chats() {
		left := c.Waiting[qos.Final].Count + c.Waiting[qos.Stream].Count
		tick := max(ticks[c.Chat], c.Tick)
		if left > 0 && made[string(c.Chat)] >= max(1, int(d/max(tick, time.Second))-1) {
			s.note("%d calls were made in %s, %d are left, %s apart", made[string(c.Chat)], c.Chat, left, tick)
			more = max(more, time.Duration(left)*tick)
		}
	}
	return more
}

// reopen lets mirrors go on that rest though their thread is open again: where a person closed it, and a
// call was then told that it's gone, its opening says nothing of any mirror. A person does what /reopen does.
func (s *storm) reopen() {
	s.Helper()
	if s.loses == 0 || !s.Office().Rests() {
		return
	}
	s.note("a person has the mirrors go on")
	hub := s.Office().bridge.Hub
	for _, st := range hub.Status("") {
		if st.Binding.Resting {
			if err := hub.SetResting(context.Background(), st.Binding.ID, false); err != nil {
				s.Error(err)
			}
		}
	}
	s.catchUp()
}

// tryPlaces has the sessions print where it's said that another place is tried with the next output: so
// it is ten minutes after none could be written to.
func (s *storm) tryPlaces() {
	s.Helper()
	if !strings.Contains(s.Office().Wrong(), "another is tried with its next output") {
		return
	}
	s.note("the sessions print again")
	for _, g := range s.guests {
		s.print(g)
	}
	s.Office().Pass(calm)
}

// note writes down what happened, for who looks why something is wrong.
func (s *storm) note(format string, args ...any) {
	s.noting.Lock()
	defer s.noting.Unlock()
	s.history = append(s.history, time.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
}

// begin has calls go wrong from now on.
func (s *storm) begin() {
	var wrongs []Wrong
	for _, w := range s.Wrongs() {
		if s.random.IntN(3) == 0 {
			wrongs = append(wrongs, w)
		}
	}
	part := []int{10, 50, 100}[s.random.IntN(3)] // percent of the calls
	draws := rand.New(rand.NewPCG(s.random.Uint64(), 6))
	s.SetFates(func(c StormCall) faults.Fate {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(wrongs) == 0 || draws.IntN(100) >= part {
			return faults.Fate{}
		}
		w := wrongs[draws.IntN(len(wrongs))]
		if w.Fits != nil && !w.Fits(c) {
			return faults.Fate{}
		}
		f, silence := w.Draw(draws)
		s.note("%s (%s, %s, silence %s) of %+v", w.Name, f.Here, f.Back, silence, c)
		if until := time.Now().Add(silence + f.Here + f.Back); silence > 0 && until.After(s.silent) {
			s.silent = until
		}
		if until := time.Now().Add(f.Here + f.Back); c.Reads && until.After(s.slow) {
			s.slow = until
		}
		s.hidden = s.hidden || w.Hides
		s.mark(c, f, w.Loses)
		return f
	})
}

// rage has things happen while calls go wrong.
func (s *storm) rage() {
	o := s.Office()
	if s.random.IntN(6) == 0 {
		s.outage()
		return
	}
	settle := func() {}
	defer func() { settle() }()
	for range 2 + s.random.IntN(6) {
		switch s.random.IntN(11) {
		case 0:
			s.ask(s.guest())
		case 8:
			s.restart()
		case 2, 3:
			s.write()
		case 4:
			settle()
			settle = s.jolt()
		case 9:
			s.slash()
		case 10:
			s.push()
		case 1:
			id, err := s.Command()
			if err != nil {
				s.Error(err)
			}
			s.commands = append(s.commands, id)
			s.note("a command is written: %s", id)
		default:
			s.print(s.guest())
		}
		o.Pass(time.Duration(s.random.IntN(12000)) * time.Millisecond)
	}
}

// restart ends the daemon, in order or not, and begins it again, if each session has its place.
// What it was about to say to people about what they wrote is gone with it.
func (s *storm) restart() {
	if s.restarts == 2 || !s.placed() {
		return
	}
	s.restarts++
	s.unsaid = len(s.commands)
	for i := range s.texts {
		s.texts[i].unsaid = true
	}
	for _, all := range [][]interaction{s.slashes, s.pushes} {
		for i := range all {
			all[i].unsaid = true
		}
	}
	s.mu.Lock()
	s.slow = time.Time{}
	s.mu.Unlock()
	if s.random.IntN(2) == 0 {
		s.note("a kill")
		had := map[*guest]int{}
		for _, g := range s.guests {
			had[g] = len(s.Places(g.name))
		}
		s.Office().Kill()
		for _, g := range s.guests {
			if len(s.Places(g.name)) > had[g] { // made by a call that was under way
				g.unsure++
			}
		}
	} else {
		s.note("a restart")
		s.Office().Restart()
	}
}

// ask has a session ask.
func (s *storm) ask(g *guest) {
	g.asked++
	n := g.first + g.asked
	d := adaptertest.Permission()
	d.Title = questionText(n)
	s.Office().Questions().Change(sessions.Prompt{ID: questionID(n), Session: g.id, Dialog: d, State: sessions.PromptOpen, OpenedAt: time.Now()})
}

func questionID(n int) string { return fmt.Sprintf("pr_%012d", n) }

func questionText(n int) string { return fmt.Sprintf("question <%d>", n) }

// check looks at what's there in the end.
func (s *storm) check() {
	s.Helper()
	wrong := s.Office().Wrong() // before time passes, in which another place may be due
	seen := s.Seen()
	for _, g := range s.guests {
		for n := range g.lines {
			s.checkOnce("line", lineText(g.first+n+1), seen)
		}
	}
	answers := 0
	for _, m := range seen {
		if strings.Contains(m.Text, "As of ") || strings.Contains(m.Text, "Run it now?") { // which is asked of what's ten minutes old
			answers++
		}
	}
	if most := len(s.commands) - s.unsaid; answers < most && !s.hidden && !s.mayMiss() {
		s.Errorf("%d answers are there to %d commands", answers, most)
	}
	for i, id := range s.commands {
		s.checkCommand(id, i < s.unsaid, seen)
	}
	s.checkTexts(seen)
	s.checkInteractions(seen)
	for _, g := range s.guests {
		for n := range g.asked {
			s.checkQuestion(g.first+n+1, seen)
		}
		s.checkPlaces(g)
		s.checkApart(g, seen)
	}
	if m := s.Misjudged(); m != "" {
		s.Error(m)
	}
	if wrong != "" && !strings.Contains(wrong, "another is tried at") { // said for ten minutes
		s.Errorf("it's said that something's wrong: %s", wrong)
	}
}

// checkOnce wants a text somewhere, and once but for messages that say that it may be there
// already.
func (s *storm) checkOnce(what, text string, seen []StormMessage) {
	s.Helper()
	marked, plain, gone := 0, 0, 0
	for _, m := range seen {
		switch {
		case !strings.Contains(m.Text, text):
		case m.Gone:
			gone++
		case m.marked():
			marked++
		default:
			plain++
		}
	}
	if plain+marked+gone == 0 || plain > 1 {
		s.Errorf("%s %q is there %d times, and %d times more with a mark", what, text, plain, marked)
	}
}

// checkCommand wants a command to be answered, and once but for messages with a mark. What was
// given up with its chat isn't, nor what was unsaid when the daemon ended.
func (s *storm) checkCommand(id string, unsaid bool, seen []StormMessage) {
	s.Helper()
	marked, plain := 0, 0
	for _, m := range seen {
		switch {
		case m.ReplyTo != id:
		case m.marked():
			marked++
		default:
			plain++
		}
	}
	if plain > 1 || plain+marked == 0 && !s.hidden && !s.bare && !unsaid {
		s.Errorf("command %s was answered %d times, and %d times more with a mark", id, plain, marked)
	}
}

// checkQuestion wants a question to be seen, and answers it there.
func (s *storm) checkQuestion(n int, seen []StormMessage) {
	s.Helper()
	plain := map[string]int{}
	shown, answered := false, s.isAnswered(n) // by a button that was pushed
	for _, m := range seen {
		if m.Gone || !strings.Contains(m.Text, questionText(n)) {
			continue
		}
		shown = true
		if !m.marked() && !strings.Contains(m.Text, "Answered by") { // what became of it has no mark any more
			plain[m.Place]++
		}
		answered = answered || s.answer(m) // one that nobody knows of stands there, too, where its call wasn't answered
	}
	if !shown || !answered {
		s.Errorf("%s is shown: %v, can be answered: %v", questionText(n), shown, answered)
	}
	for place, count := range plain {
		if count > 1 {
			s.Errorf("%s is %d times at %s without a mark", questionText(n), count, place)
		}
	}
}

// answer answers a question with its third option, by the button of its message or, where
// there's none, by its number, and reports whether that counted.
func (s *storm) answer(m StormMessage) bool {
	s.Helper()
	s.Office().Questions().Took()
	var err error
	if len(m.Buttons) > 0 {
		err = s.PressButton(m, "No")
	} else {
		err = s.Reply(m, "#3")
	}
	s.Office().Pass(5 * time.Second)
	took := s.Office().Questions().Took()
	return err == nil && len(took) == 1 && len(took[0].Options) == 1 && took[0].Options[0] == 2
}

// StormState is how a platform, or a place on it, may be for a while.
type StormState struct {
	Name string
	// Enter has it be so, and Leave as it was before. Without a Leave it stays so, and all's
	// well with it.
	Enter, Leave func() error
	// Hides and Loses are as of Wrong, and Deaf says that no thread can be written to: each session
	// loses one by it, if it has got one, and the one that's made anew then.
	Hides, Loses, Deaf bool
	// Bare says that messages can't answer others.
	Bare bool
	// Says is a part of what a person has to be told at once, Rest how long it may take then until
	// the platform is asked again: both of states in which nothing comes.
	Says string
	Rest time.Duration
	// Forgets is as of Jolt.
	Forgets bool
}

// enter has one of the states be, or none.
func (s *storm) enter() {
	states := s.States()
	if s.random.IntN(3) == 0 || len(states) == 0 {
		return
	}
	state := states[s.random.IntN(len(states))]
	s.note("it's so: %s", state.Name)
	if err := state.Enter(); err != nil {
		s.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave = state.Leave
	s.hidden = s.hidden || state.Hides
	s.bare = state.Bare
	s.deaf = state.Deaf
	if state.Loses || state.Deaf {
		s.loses++
	}
}
