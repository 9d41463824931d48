package adapters

import "cmp"

// Place is a place in a session's output log: right before byte Byte of the text
// of line Line. Line numbers count from 1.
type Place struct {
	Line int64 `json:"line"`
	Byte int   `json:"byte,omitempty"`
}

// Before says whether p stands before o.
func (p Place) Before(o Place) bool { return p.compare(o) < 0 }

func (p Place) compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Line, o.Line), cmp.Compare(p.Byte, o.Byte))
}

func laterPlace(a, b Place) Place {
	if a.Before(b) {
		return b
	}
	return a
}
