package platformtest

import "time"

// State is how a platform, or a place on it, may be for a while.
type State struct {
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
