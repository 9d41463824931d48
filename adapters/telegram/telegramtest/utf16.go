package telegramtest

import "unicode/utf8"

// notABoundary marks the second half of a surrogate pair in an offset table.
const notABoundary = -1

// utf16Len returns the length of s in UTF-16 code units, in which Telegram
// measures offsets, lengths and limits
// (core.telegram.org/api/entities#entity-length).
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

// unitsOf returns how many UTF-16 code units r takes.
func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// unitTable returns, for each UTF-16 offset of s and for its end, the byte it
// stands at, or notABoundary inside a surrogate pair.
func unitTable(s string) []int {
	table := make([]int, 0, len(s)+1)
	for i, r := range s {
		table = append(table, i)
		if unitsOf(r) == 2 {
			table = append(table, notABoundary)
		}
	}
	return append(table, len(s))
}

// unitsByByte returns the UTF-16 offset of each byte of s that begins a character,
// and of its end.
func unitsByByte(s string) []int {
	table := make([]int, len(s)+1)
	units := 0
	for i, r := range s {
		table[i] = units
		units += unitsOf(r)
	}
	table[len(s)] = units
	return table
}

// unitSlice returns the part of s from one UTF-16 offset, that many units long.
// Offsets that aren't boundaries are moved to the next one.
func unitSlice(s string, offset, length int) string {
	table := unitTable(s)
	return s[boundary(table, offset):boundary(table, offset+length)]
}

func boundary(table []int, offset int) int {
	for ; offset < len(table); offset++ {
		if table[offset] != notABoundary {
			return table[offset]
		}
	}
	return table[len(table)-1]
}

// validUTF8 reports whether s may go over Telegram's wire at all.
func validUTF8(s string) bool { return utf8.ValidString(s) }
