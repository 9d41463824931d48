package tmux

import "strings"

// selfContained makes each row start from default attributes. tmux carries the
// attributes of a row's end over to the next row, so that a row alone would
// have the wrong colours: what is in force at a row's end is put before the
// next one.
func selfContained(rows []string) []string {
	carry := ""
	for i, row := range rows {
		rows[i] = carry + row
		carry = sgrInForce(carry, row)
	}
	return rows
}

// sgrInForce returns the SGR sequences in force behind row, given those before
// it. A reset empties them.
func sgrInForce(carry, row string) string {
	for {
		i := strings.Index(row, "\x1b[")
		if i < 0 {
			return carry
		}
		row = row[i+2:]
		end := strings.IndexFunc(row, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return carry
		}
		if row[end] == 'm' {
			params := row[:end]
			if params == "" || params == "0" {
				carry = ""
			} else {
				if strings.HasPrefix(params, "0;") {
					carry = ""
				}
				carry += "\x1b[" + params + "m"
			}
		}
		row = row[end+1:]
	}
}
