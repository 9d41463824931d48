package render

import (
	"sort"
	"unicode/utf8"
)

// MessageForm is how a platform takes a message.
type MessageForm struct {
	// Size is how much of a message a text takes, and Max how much there is. Any text
	// of one rune must fit.
	Size func(MessageText) int
	Max  int
}

// Fits says whether a text can be one message.
func (f MessageForm) Fits(t MessageText) bool { return f.Size(t) <= f.Max }

// Next returns what the next message shows of parts, from a place on, and where the
// one after it begins. done says that the message shows all there is: then it may be
// changed when more comes. Otherwise it's complete.
//
// The text is blank if there's nothing to see, and then done is true.
func (f MessageForm) Next(parts []Part, from TextPosition) (t MessageText, next TextPosition, done bool) {
	for {
		v := newView(parts, inSource(parts, from))
		ends := f.window(v)
		n := most(len(ends), f.guess(v, ends), func(n int) bool { return f.Fits(v.until(ends[n-1])) })
		switch {
		case n < len(ends):
			next = f.cut(v, ends[n])
		case n > 0:
			next = inSource(v.parts, ends[n-1])
		default:
			next = v.from
		}
		done = next.Part >= len(parts)
		if t = v.until(next); done || !t.Blank() {
			return t, next, done
		}
		from = next
	}
}

// perUnit is how many bytes of source one message is made of at most, for each unit
// of its room: so that the work doesn't depend on how much there is. Only what's
// hardly shown takes as many: empty lines, long targets of links.
const perUnit = 6

// window returns where the lines end that are tried for a message. A line that's
// longer than all of the window ends with it.
func (f MessageForm) window(v *view) (ends []TextPosition) {
	left := f.Max * perUnit
	for at := v.from; at.Part < len(v.parts) && left > 0; at = inSource(v.parts, at) {
		s := v.parts[at.Part].Source
		n := len(firstLine(s[at.Byte:]))
		if n > left {
			n = max(runeStart(s, at.Byte+left)-at.Byte, 1)
		}
		at.Byte += n
		left -= n
		ends = append(ends, at)
	}
	return ends
}

// guess is about how many lines fit: text takes about as much as its source.
func (f MessageForm) guess(v *view, ends []TextPosition) int {
	left, from := f.Max, v.from
	for i, to := range ends {
		if from.Part != to.Part {
			from = TextPosition{to.Part, v.parts[to.Part].From}
		}
		if left -= to.Byte - from.Byte; left < 0 {
			return i
		}
		from = to
	}
	return len(ends)
}

// most returns the largest n up to a limit that's fine, where what's larger than one
// that isn't fine isn't either. It tries those around a guess first. Should that not
// hold (a mark that's closed further down may make a text shorter) it returns one
// that's fine all the same.
func most(limit, guess int, fine func(n int) bool) int {
	low, high := 0, limit+1 // fine, and not fine
	n := min(max(guess, 1), limit)
	for step := 1 + limit/64; low < n && n < high; step *= 2 {
		if fine(n) {
			low = n
			n = min(n+step, limit)
		} else {
			high = n
			n = max(n-step, 1)
		}
		if low > 0 && high <= limit {
			break
		}
	}
	return low + sort.Search(high-low-1, func(i int) bool { return !fine(low + i + 1) })
}

// cut is the place where a message ends that's too long if it goes on to over.
func (f MessageForm) cut(v *view, over TextPosition) TextPosition {
	t := v.until(over)
	cuts := t.cuts(v.from)
	for len(cuts) > 0 {
		n := sort.Search(len(cuts), func(i int) bool { return !f.Fits(t.until(cuts[i].at)) })
		cuts = cuts[:max(n, 1)]
		i := best(cuts)
		// What's known of the text behind the end is less now, which may make the
		// message longer.
		if f.Fits(v.until(cuts[i].place)) {
			return cuts[i].place
		}
		cuts = cuts[:i]
	}
	return f.divide(v, over)
}

// divide is where a message ends whose first character, as people see it, is too
// long for it: between two runes, and behind at least one.
func (f MessageForm) divide(v *view, over TextPosition) TextPosition {
	s := v.parts[v.from.Part].Source[v.from.Byte:]
	if over.Part == v.from.Part {
		s = s[:over.Byte-v.from.Byte]
	}
	var ends []TextPosition
	for i, r := range s {
		ends = append(ends, TextPosition{v.from.Part, v.from.Byte + i + utf8.RuneLen(r)})
	}
	n := most(len(ends), f.Max, func(n int) bool { return f.Fits(v.until(ends[n-1])) })
	return ends[max(n, 1)-1]
}
