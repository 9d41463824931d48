package discord

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// sharedFor is how long a bot counts as shared after another program was last seen with it:
	// longer than people are on holiday.
	sharedFor = 30 * 24 * time.Hour
	// sharedNoteEvery is how often that's noted anew.
	sharedNoteEvery = time.Hour
	// makingFor is how long a thread may yet appear whose making wasn't answered.
	makingFor = 10 * time.Minute
	// manyThreads bounds what's remembered of threads. It can be learned again.
	manyThreads = 50_000
	// maxClaims bounds the interactions that are remembered, and those of them that are noted.
	maxClaims = 500
)

// What's noted: with a thread's id behind it that this daemon made it, which threads it was about to
// make, when another program was last seen with the bot, and which interactions this daemon has begun
// to answer.
const (
	noteMade   = "made "
	noteMaking = "making"
	noteShared = "shared"
	noteTried  = "answered"
)

// botSharing tells the places of this daemon from those of others that run with the same bot:
// Discord brings every event to each of them. A thread is this daemon's if it made it, or mirrors
// a session in it. It's another's if the bot made it or speaks in it, and this daemon doesn't.
// It's safe for concurrent use.
type botSharing struct {
	notes platform.Notes             // nil: others are not looked for
	bound func(adapters.Target) bool // whether a place mirrors a session of this daemon's

	noting sync.Mutex // held while it's noted which threads are being made

	mu     sync.Mutex
	made   map[string]bool          // threads: whether this daemon made them, as far as it was looked up
	spoke  map[string]bool          // channels and threads where this process said something
	theirs map[string]bool          // threads where another program did
	owners map[string]string        // who made threads, as far as it's known
	making map[threadName]time.Time // threads that are being made, and when that ended without an answer; zero: it hasn't
	seen   time.Time                // when another program was seen last
	noted  time.Time                // the same, as the note has it
	claims map[string]answerClaim   // of interactions, by id
	order  []string                 // the same, the oldest first
	tried  []string                 // interactions that this daemon has begun to answer, or had before it was killed
}

// threadName names a thread before it has an id.
type threadName struct{ channel, name string }

// threadJSON is one that was being made when the daemon ended, as it's noted.
type threadJSON struct {
	Channel string `json:"channel"`
	Name    string `json:"name"`
}

// answerClaim says who answered an interaction first: Discord takes one answer.
type answerClaim int

const (
	claimOpen  answerClaim = iota // that's not known
	claimWon                      // this daemon
	claimLost                     // another program with the same bot
	claimOther                    // it was left to another, in whose place it is
)

func newSharing(opt Options) *botSharing {
	return &botSharing{
		notes: opt.Notes, bound: opt.Shows,
		made: map[string]bool{}, spoke: map[string]bool{}, theirs: map[string]bool{}, owners: map[string]string{},
		making: map[threadName]time.Time{}, claims: map[string]answerClaim{},
	}
}

// load reads what's known of others that use the bot.
func (s *botSharing) load(ctx context.Context) error {
	noted := map[string]string{}
	for _, key := range []string{noteShared, noteTried, noteMaking} {
		var err error
		if noted[key], err = s.notes.Note(ctx, key); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, _ = time.Parse(time.RFC3339, noted[noteShared]) // else nobody was seen
	s.noted = s.seen
	if json.Unmarshal([]byte(noted[noteTried]), &s.tried) != nil {
		s.tried = nil
	}
	var left []threadJSON
	if json.Unmarshal([]byte(noted[noteMaking]), &left) == nil {
		for _, t := range left {
			s.making[threadName{t.Channel, t.Name}] = time.Now() // a call of the process before may arrive yet
		}
	}
	return nil
}

// shared reports whether another program uses the bot, as far as is known.
func (s *botSharing) shared() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.seen.IsZero() && time.Since(s.seen) < sharedFor
}

// noteOtherProgram takes note of another program that uses the bot. If that can't be written down it's for
// this run alone.
func (s *botSharing) noteOtherProgram(ctx context.Context) {
	if s.notes == nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	s.seen = now
	due := now.Sub(s.noted) >= sharedNoteEvery
	if due {
		s.noted = now
	}
	s.mu.Unlock()
	if due && s.notes.PutNote(ctx, noteShared, now.UTC().Format(time.RFC3339)) != nil {
		s.mu.Lock()
		s.noted = time.Time{}
		s.mu.Unlock()
	}
}

// beginThread takes in that a thread is about to be made, and notes it, so that it's known after a crash.
// ended says what came of it: its id; "" and whether it may have been made all the same.
func (s *botSharing) beginThread(ctx context.Context, channel, name string) (ended func(ctx context.Context, id string, unsure bool) error) {
	t := threadName{channel, name}
	s.mu.Lock()
	before := s.making[t] // a call that wasn't answered may make one yet, whatever comes of this one
	s.making[t] = time.Time{}
	s.mu.Unlock()
	_ = s.noteMaking(ctx) // without it the bot may count as shared after a crash
	return func(ctx context.Context, id string, unsure bool) error {
		err := s.noteMade(ctx, id)
		s.mu.Lock()
		for other, at := range s.making {
			if !mayAppear(at) {
				delete(s.making, other)
			}
		}
		switch {
		case id == "" && unsure:
			s.making[t] = time.Now()
		case !before.IsZero():
			s.making[t] = before
		default:
			delete(s.making, t)
		}
		s.mu.Unlock()
		return errors.Join(err, s.noteMaking(ctx))
	}
}

// noteMaking notes which threads are being made.
func (s *botSharing) noteMaking(ctx context.Context) error {
	if s.notes == nil {
		return nil
	}
	s.noting.Lock() // so that the newest is written last
	defer s.noting.Unlock()
	s.mu.Lock()
	list := []threadJSON{}
	for t := range s.making {
		list = append(list, threadJSON{t.channel, t.name})
	}
	s.mu.Unlock()
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.notes.PutNote(ctx, noteMaking, string(text))
}

// noteMade notes that this daemon made a thread. If that can't be written down it's known for this
// run alone.
func (s *botSharing) noteMade(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	makeRoom(s.made)
	s.made[id] = true
	s.mu.Unlock()
	if s.notes == nil {
		return nil
	}
	return s.notes.PutNote(ctx, noteMade+id, "1")
}

func makeRoom[V any](m map[string]V) {
	if len(m) >= manyThreads {
		clear(m)
	}
}

// noteSpeaking takes in that this process is about to say something in a channel or thread.
func (s *botSharing) noteSpeaking(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	makeRoom(s.spoke)
	s.spoke[channel] = true
}

// noteOwner takes in who made a thread.
func (s *botSharing) noteOwner(c channelJSON) {
	if !isThread(c.Type) || !isID(c.ID) || !isID(c.Owner) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	makeRoom(s.owners)
	s.owners[c.ID] = c.Owner
}

// isMine reports whether a place is this daemon's: it shows a session there, or made the thread.
// It may read a note.
func (s *botSharing) isMine(ctx context.Context, t adapters.Target) bool {
	if s.bound(t) {
		return true
	}
	if t.Thread == "" {
		return false
	}
	s.mu.Lock()
	made, known := s.made[t.Thread]
	s.mu.Unlock()
	if known || s.notes == nil {
		return made
	}
	note, err := s.notes.Note(ctx, noteMade+t.Thread)
	if err != nil {
		return true // so that nothing is left out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	makeRoom(s.made)
	s.made[t.Thread] = s.made[t.Thread] || note != ""
	return s.made[t.Thread]
}

// isOfBot reports whether the bot made a thread, whichever program did.
func (s *botSharing) isOfBot(thread, bot string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bot != "" && s.owners[thread] == bot
}

// isOthers reports whether a place is another program's, which uses the same bot.
func (s *botSharing) isOthers(ctx context.Context, t adapters.Target, bot string) bool {
	if t.Thread == "" || !s.shared() {
		return false
	}
	s.mu.Lock()
	theirs := s.theirs[t.Thread]
	s.mu.Unlock()
	return (theirs || s.isOfBot(t.Thread, bot)) && !s.isMine(ctx, t)
}

// isCommon reports whether a place is of none of those who share the bot: each of them gets what's
// written there.
func (s *botSharing) isCommon(ctx context.Context, t adapters.Target) bool {
	return s.shared() && !s.isMine(ctx, t)
}

// noteThread takes in that the bot made a thread, as an event says: who doesn't know of it meets another
// program.
func (s *botSharing) noteThread(ctx context.Context, t adapters.Target, name string) {
	s.mu.Lock()
	_, making := s.making[threadName{t.Chat, name}]
	s.mu.Unlock()
	if !making && !s.isMine(ctx, t) {
		s.noteOtherProgram(ctx)
	}
}

// noteSpokenIn takes in that the bot said something in a thread. Where nobody knows what came of a thread that this daemon
// was making in the channel, it may be that one, and the process before may have said it.
func (s *botSharing) noteSpokenIn(ctx context.Context, t adapters.Target) {
	s.mu.Lock()
	mine := s.spoke[t.Thread] || s.makesIn(t.Chat)
	s.mu.Unlock()
	if mine || s.isMine(ctx, t) {
		return
	}
	s.mu.Lock()
	makeRoom(s.theirs)
	s.theirs[t.Thread] = true
	s.mu.Unlock()
	s.noteOtherProgram(ctx)
}

// makesIn reports whether a thread is being made in a channel, or was without an answer a while ago. mu is held.
func (s *botSharing) makesIn(channel string) bool {
	for t, ended := range s.making {
		if t.channel == channel && mayAppear(ended) {
			return true
		}
	}
	return false
}

// mayAppear reports whether a thread may appear yet whose making ended without an answer at a time; zero: it hasn't.
func mayAppear(ended time.Time) bool { return ended.IsZero() || time.Since(ended) <= makingFor }

// noteAnswering notes that an interaction is about to be answered, so that after a crash it's known that
// it may have been this daemon that did.
func (s *botSharing) noteAnswering(ctx context.Context, id string) error {
	s.mu.Lock()
	s.tried = append(s.tried, id)
	if n := len(s.tried) - maxClaims; n > 0 {
		s.tried = s.tried[n:]
	}
	s.mu.Unlock()
	return s.writeAnswering(ctx)
}

func (s *botSharing) writeAnswering(ctx context.Context) error {
	s.mu.Lock()
	text, err := json.Marshal(s.tried)
	s.mu.Unlock()
	if err != nil || s.notes == nil {
		return err
	}
	return s.notes.PutNote(ctx, noteTried, string(text))
}

// noteClaim takes in who answered an interaction.
func (s *botSharing) noteClaim(ctx context.Context, id string, c answerClaim) {
	s.mu.Lock()
	if s.claims[id] == claimOpen {
		s.order = append(s.order, id)
	}
	s.claims[id] = c
	if len(s.order) > maxClaims {
		delete(s.claims, s.order[0])
		s.order = s.order[1:]
	}
	was := len(s.tried)
	if c != claimWon {
		s.tried = slices.DeleteFunc(s.tried, func(x string) bool { return x == id })
	}
	changed := len(s.tried) != was
	s.mu.Unlock()
	if changed {
		_ = s.writeAnswering(ctx) // else it may be done twice after a crash
	}
	if c == claimLost {
		s.noteOtherProgram(ctx)
	}
}

// claimOf is who answered an interaction, and whether this daemon has begun to, maybe before it
// was killed.
func (s *botSharing) claimOf(id string) (c answerClaim, tried bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims[id], slices.Contains(s.tried, id)
}

// letOthers is how long an answer to a slash command waits where it rather concerns another program
// with the same bot: Discord takes the first that comes.
const letOthers = 700 * time.Millisecond

// mayAnswer reports whether an interaction is answered here, and waits where another program with
// the same bot should come first. What isn't is noted.
func (g *Gateway) mayAnswer(ctx context.Context, bot string, o *owedAnswer, e intake.Event) bool {
	s := g.adapter.sharing
	pressed, press := e.Action.(intake.Pressed)
	switch {
	case s.isOthers(ctx, e.Place, bot), press && s.isCommon(ctx, e.Place) && !g.opt.Offered(ctx, pressed.Data):
		s.noteClaim(ctx, o.id, claimOther)
		return false
	case s.isMine(ctx, e.Place), press:
	case isPairing(e): // whose code it is, is seen by who knows it
	case !s.shared() && s.isOfBot(e.Place.Thread, bot), s.shared() && namesSomething(e) && !g.opt.Concerns(e):
		_ = sessions.Pause(ctx, letOthers)
	}
	if s.shared() {
		if err := s.noteAnswering(ctx, o.id); err != nil {
			g.log.WarnContext(ctx, "noting that an interaction is answered failed", "interaction", o.id, "err", err)
		}
	}
	return true
}

// isPairing reports whether somebody writes a pairing code, which one daemon knows.
func isPairing(e intake.Event) bool {
	said, ok := e.Action.(intake.Said)
	return ok && strings.HasPrefix(said.Text, "/pair")
}

// namesSomething reports whether a command has arguments.
func namesSomething(e intake.Event) bool {
	said, ok := e.Action.(intake.Said)
	return ok && len(strings.Fields(said.Text)) > 1
}

// HandleOwn returns a handler that passes on to handle only the events that are this daemon's, where
// others use the bot, too: a slash command in a place of nobody's belongs to who answered it first, a
// button to who made it. What's written in such a place is Event.Common. It may block until it's known
// who answered.
func (g *Gateway) HandleOwn(handle func(ctx context.Context, e intake.Event) error) func(ctx context.Context, e intake.Event) error {
	return func(ctx context.Context, e intake.Event) error {
		switch a := e.Action.(type) {
		case intake.Said:
			id, command := strings.CutPrefix(e.Key, Name+":"+replyMark)
			if command && !g.isOwnCommand(ctx, e, id) {
				return nil
			}
			e.Common = !command && !isPairing(e) && g.adapter.sharing.isCommon(ctx, e.Place)
		case intake.Pressed:
			if !g.isOwnPress(ctx, e, a) {
				return nil
			}
		}
		return handle(ctx, e)
	}
}

// isOwnCommand reports whether a slash command is done here. It waits until that's known.
func (g *Gateway) isOwnCommand(ctx context.Context, e intake.Event, id string) bool {
	s := g.adapter.sharing
	if s.isMine(ctx, e.Place) || isPairing(e) {
		return true
	}
	switch c, tried := g.awaitClaim(ctx, id); c {
	case claimWon:
		return true
	case claimLost, claimOther:
		return false
	default:
		return tried || !s.shared()
	}
}

// isOwnPress reports whether a pressed button is handled here.
func (g *Gateway) isOwnPress(ctx context.Context, e intake.Event, p intake.Pressed) bool {
	if g.adapter.sharing.isMine(ctx, e.Place) || g.opt.Offered(ctx, p.Data) {
		return true
	}
	id := strings.TrimPrefix(e.Key, Name+":"+replyMark)
	c, _ := g.awaitClaim(ctx, id)
	return c != claimLost && c != claimOther && !g.adapter.sharing.shared()
}

// awaitClaim waits until it's known who answered an interaction first, as long as that can take.
func (g *Gateway) awaitClaim(ctx context.Context, id string) (_ answerClaim, tried bool) {
	waiting, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	g.adapter.interactions.awaitAnswer(waiting, id)
	return g.adapter.sharing.claimOf(id)
}
