package search

import "strings"

const (
	// tailLines is how many lines of a session are read at once to be looked through.
	tailLines = 64
	// sampleTails is after how many such looks it's known whether they pay.
	sampleTails = 8
	// findableIn is in one of how many lines what a search looks for is found there, at least. By a table, a word of one line in
	// 64 takes as long: pbbench search.
	findableIn = 64
	// frequentIn is in one of how many lines a word stands that the tables aren't asked for, at least.
	frequentIn = 4
	// checksPerHit is how many lines may be read for one that's found before the tables are asked for all words again.
	checksPerHit = 16
	// freeChecks are not counted for that.
	freeChecks = 64
)

// tailSample is what a search has seen in the newest lines. A frequent word is found there. By a table it would take longer: FTS5
// reads all rows of all words that begin with a prefix before it returns the last one.
type tailSample struct {
	query        WordQuery
	page         int   // lines of one look; 0: there are no looks
	lines, hits  int   // that were looked at, and that are found
	found        []int // in how many of the lines each text of the query stands
	checks, kept int   // lines of those that the tables named: that were read, and that are found
}

func newTailSample(q WordQuery, page int) *tailSample {
	return &tailSample{query: q, page: page, found: make([]int, len(q.texts))}
}

// look reports whether a line is found.
func (t *tailSample) look(line string) bool {
	t.lines++
	line = withoutAccents(line)
	isHit := true
	for i, text := range t.query.texts {
		if hasText(line, text) {
			t.found[i]++
		} else {
			isHit = false
		}
	}
	if isHit {
		t.hits++
	}
	return isHit
}

// pays reports whether more lines are to be looked through: few were, or enough of them are found.
func (t *tailSample) pays() bool {
	return t.lines < sampleTails*t.page || t.page > 0 && t.hits*findableIn >= t.lines
}

// countCheck counts a line that a table named, and whether it's found.
func (t *tailSample) countCheck(isHit bool) {
	t.checks++
	if isHit {
		t.kept++
	}
}

// match is what the tables are asked for: the query without its frequent texts. A line that they name is compared with all.
func (t *tailSample) match() string {
	if t.lines < t.page || t.page == 0 || t.checks > checksPerHit*t.kept+freeChecks {
		return t.query.match
	}
	rarest := -1
	for i, text := range t.query.texts {
		if text.match != "" && (rarest < 0 || t.found[i] < t.found[rarest]) {
			rarest = i
		}
	}
	var terms []string
	for i, text := range t.query.texts {
		if text.match != "" && (i == rarest || t.found[i]*frequentIn < t.lines) {
			terms = append(terms, text.match)
		}
	}
	return strings.Join(terms, " ")
}
