package platformtest

// State is how a platform, or a place on it, may be for a while.
type State struct {
	Name string
	// Enter has it be so, and Leave as it was before. Without a Leave it stays so, and all's
	// well with it.
	Enter, Leave func() error
	// Hides and Loses are as of Wrong.
	Hides, Loses bool
	// Bare says that messages can't answer others.
	Bare bool
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
	if state.Loses {
		s.loses++
	}
}
