package adapters

import "time"

// digestAfter is how late a chat is that gets a digest: after an outage, a penalty, or
// when a mirror goes on that rested.
const digestAfter = 10 * time.Minute

// behind is for how long the first of what's pending could have been shown.
func (s *sight) behind() time.Duration {
	pending := s.pending()
	switch {
	case len(pending) == 0 || s.binding.View == ViewScreen:
		return 0
	case s.binding.View == ViewFinal:
		return s.now.Sub(s.progress.TurnEnded)
	default:
		return s.now.Sub(pending[0].Line.At)
	}
}

// when says from when to when the lines of a file were printed, if the chat is so late
// that it matters; else "".
func (s *sight) when(pieces []Piece) string {
	if s.behind() <= digestAfter {
		return ""
	}
	from, to := pieces[0].Line.At.Local(), pieces[len(pieces)-1].Line.At.Local()
	form := "15:04"
	if now := s.now.Local().Format(time.DateOnly); from.Format(time.DateOnly) != now || to.Format(time.DateOnly) != now {
		form = "2 Jan 15:04"
	}
	return "from " + from.Format(form) + " to " + to.Format(form)
}
