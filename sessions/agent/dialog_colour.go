package agent

import (
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// markedByColour returns the index of the option that stands on a background of its
// own, -1 if there isn't exactly one.
func markedByColour(f *dialogForm, d *sessions.Dialog, styled *sessions.Screen) int {
	if f.Row == nil || len(d.Options) < 2 {
		return -1
	}
	for n := min(d.Last, len(styled.Rows)-1); n >= d.First; n-- {
		text, grounds := backgrounds(styled.Rows[n])
		if at := placesOf(text, d.Options); at != nil {
			return oddOne(at, grounds)
		}
	}
	return -1
}

// placesOf finds options in a row, from left to right; nil: they aren't all there.
func placesOf(text string, options []sessions.DialogOption) []int {
	at, from := make([]int, len(options)), 0
	for i, o := range options {
		n := strings.Index(text[from:], o.Label)
		if n < 0 {
			return nil
		}
		at[i] = from + n
		from += n + len(o.Label)
	}
	return at
}

// oddOne is the index of the only place whose background isn't that of most of the row.
func oddOne(at []int, grounds []string) int {
	count, common := map[string]int{}, ""
	for _, g := range grounds {
		if count[g]++; count[g] > count[common] {
			common = g
		}
	}
	odd := -1
	for i, place := range at {
		if grounds[place] == common {
			continue
		}
		if odd >= 0 {
			return -1
		}
		odd = i
	}
	return odd
}

// backgrounds takes a row's escape sequences off and returns for each byte of the text
// what makes its background.
func backgrounds(row string) (text string, grounds []string) {
	var b strings.Builder
	ground := ""
	for row != "" {
		if params, rest, ok := cutSGR(row); ok {
			ground, row = groundAfter(ground, params), rest
			continue
		}
		b.WriteByte(row[0])
		grounds = append(grounds, ground)
		row = row[1:]
	}
	return b.String(), grounds
}

// cutSGR cuts a sequence that sets attributes off the beginning of a row.
func cutSGR(row string) (params, rest string, ok bool) {
	after, ok := strings.CutPrefix(row, "\x1b[")
	if !ok {
		return "", row, false
	}
	end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if end < 0 || after[end] != 'm' {
		return "", row, false
	}
	return after[:end], after[end+1:], true
}

// groundAfter is what makes the background behind a sequence: its parameters, and
// "inverse" where it's that.
func groundAfter(ground, params string) string {
	colour, inverse := strings.CutSuffix(ground, " inverse")
	list := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(list) == 0 {
		return ""
	}
	for i := 0; i < len(list); i++ {
		p := strings.TrimLeft(list[i], "0")
		switch {
		case p == "":
			colour, inverse = "", false
		case p == "7":
			inverse = true
		case p == "27":
			inverse = false
		case p == "49":
			colour = ""
		case len(p) == 2 && p[0] == '4' && p[1] < '8', len(p) == 3 && p[:2] == "10":
			colour = p
		case p == "48" || p == "38" || p == "58":
			n := 2
			if i+1 < len(list) && list[i+1] == "2" {
				n = 4
			}
			end := min(i+1+n, len(list))
			if p == "48" {
				colour = strings.Join(list[i:end], ";")
			}
			i = end - 1
		}
	}
	if inverse {
		colour += " inverse"
	}
	return colour
}
