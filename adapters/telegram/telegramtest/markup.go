package telegramtest

import "strings"

// markup collects the text and the entities that a parser finds, and knows where
// it is in UTF-16 units.
type markup struct {
	text     strings.Builder
	units    int
	entities []Entity
}

func (m *markup) write(r rune) {
	m.text.WriteRune(r)
	m.units += unitsOf(r)
}

// add makes an entity of what has been written since an offset; of nothing, none.
func (m *markup) add(e Entity, from int) {
	if e.Offset, e.Length = from, m.units-from; e.Length > 0 {
		m.entities = append(m.entities, e)
	}
}

// since returns the text written since a byte of it.
func (m *markup) since(from int) string { return m.text.String()[from:] }
