package commands

import (
	"crypto/rand"
	"sync"
)

// mostSought is how many texts are kept that were looked for.
const mostSought = 500

// soughtTexts are the texts that people looked for whose replies have buttons. They're kept in memory alone: a text may be of a
// session that's forgotten, and whose it is isn't known.
type soughtTexts struct {
	mu    sync.Mutex
	texts map[string]string // by name
	names []string          // the oldest first
}

// keep keeps a text and returns a name for it.
func (s *soughtTexts) keep(text string) (name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	name = rand.Text()
	s.texts[name] = text
	if s.names = append(s.names, name); len(s.names) > mostSought {
		delete(s.texts, s.names[0])
		s.names = s.names[1:]
	}
	return name
}

// get returns the text of a name; "": it isn't kept any more.
func (s *soughtTexts) get(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[name]
}
