package adapters

import "time"

// deaf is what's known of the chats in which no thread can be written to: what a document has
// learned holds for all of its chat's. Deliverer.mu guards it.
type deaf map[string]*deafChat

// deafChat is a chat in which threads can't be written to.
type deafChat struct {
	lost  Lost      // as the document has it that learned it last
	trial BindingID // the one that tries another thread for all; "": none does
	// named says that a message was accepted in another thread since, and its answer named that: so
	// does what tells of what people write.
	named bool
}

// learns takes in what became of a document's thread, and reports whether the chat's can be written
// to again.
func (c deaf) learns(id BindingID, chat string, before, after Document) (again bool) {
	known := c[chat]
	lost := after.Lost != nil && (before.Lost == nil || !before.Lost.At.Equal(after.Lost.At))
	if lost && known != nil {
		known.named = false
	}
	switch {
	case after.Proven && !before.Proven:
		delete(c, chat)
		return known != nil
	case !lost || after.Lost.Nowhere || after.Lost.Again.IsZero():
	case known == nil || known.trial == id || known.lost.Again.Before(after.Lost.Again):
		c[chat] = &deafChat{lost: *after.Lost}
	}
	return false
}

// inDeafChat is a document with what's known of its chat: while none can be written to there, it
// gets no thread either, and one document tries for all when the time has come.
func (c deaf) inDeafChat(id BindingID, chat string, doc Document, now time.Time) Document {
	known := c[chat]
	if known == nil || doc.Thread != "" {
		return doc
	}
	if !now.Before(known.lost.Again) {
		known.trial = id
		known.lost.Again = now.Add(min(firstTry<<min(known.lost.Times-1, 10), lastTry))
	}
	lost := known.lost
	if known.trial == id {
		lost.Again = now
	}
	doc.Lost = &lost
	return doc
}

// names takes in that a message was accepted in a chat's thread, and that the answer named it.
func (c deaf) names(chat string) {
	if known := c[chat]; known != nil {
		known.named = true
	}
}

// unnamed says that nobody knows whether it's told in which of a chat's threads people write: some
// couldn't be written to, and nothing has shown since that they're named.
func (c deaf) unnamed(chat string) bool {
	known := c[chat]
	return known != nil && !known.named
}

// lostUntil is when threads of a chat are tried again; zero: they can be written to, as far as is
// known.
func (c deaf) lostUntil(chat string) time.Time {
	if known := c[chat]; known != nil {
		return known.lost.Again
	}
	return time.Time{}
}
