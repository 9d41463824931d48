package config

// nearest returns the word that was probably meant by a mistyped one, or "".
func nearest(typed string, words []string) string {
	best, bestDistance := "", 3 // more than two slips is another word
	for _, word := range words {
		// A slip in every second letter isn't a slip any more.
		if d := distance(typed, word); d < bestDistance && 2*d < len(word) {
			best, bestDistance = word, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes; keys are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
