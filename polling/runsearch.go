package polling

// runSearch finds a run of rows or lines among others, in a time proportional to both however often rows repeat
// themselves (Knuth, Morris and Pratt, 1977).
type runSearch[T comparable] struct {
	run []T
	// border has for each beginning of run how long its longest border is: what it both begins and ends with, shorter
	// than itself.
	border []int
}

// newRunSearch prepares the search of a run, which has at least one element.
func newRunSearch[T comparable](run []T) runSearch[T] {
	s := runSearch[T]{run, make([]int, len(run))}
	for i := 1; i < len(run); i++ {
		s.border[i] = s.match(s.border[i-1], run[i])
	}
	return s
}

// match returns how many of the run's first elements the last ones searched are, v included, where they were matched
// without it.
func (s runSearch[T]) match(matched int, v T) int {
	for matched > 0 && (matched == len(s.run) || s.run[matched] != v) {
		matched = s.border[matched-1]
	}
	if s.run[matched] == v {
		matched++
	}
	return matched
}

// period returns the shortest distance at which the run is itself again as far as it reaches; its length if there's none.
func (s runSearch[T]) period() int {
	return len(s.run) - s.border[len(s.run)-1]
}
