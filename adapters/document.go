package adapters

import "time"

// Document is how far a binding's target is. It holds no text: what a message
// shows is rendered from the output log, from the places kept here.
type Document struct {
	// Shown is the place before which everything is in the chat.
	Shown Place `json:"shown"`
	// Turn is the number of the newest turn whose end the chat was told of, and
	// Announced the line at which it ended.
	Turn      int64 `json:"turn,omitempty"`
	Announced int64 `json:"announced,omitempty"`
	// Chat and Thread are where the platform has the target now, if that's not what
	// the binding says: the chat has migrated, the thread was made for the document.
	Chat   string `json:"chat,omitempty"`
	Thread string `json:"thread,omitempty"`
	// Title is what Thread is called; "": not known.
	Title string `json:"title,omitempty"`
	// Proven says that a message was accepted in Thread.
	Proven bool `json:"proven,omitempty"`
	// Closed says that Thread was closed, because the session has ended.
	Closed bool `json:"closed,omitempty"`
	// Lost is about threads that were made for the document and couldn't be written to; nil:
	// there were none.
	Lost *Lost `json:"lost,omitempty"`
	// Withheld is about the message that the platform refused last for what it's to show; nil:
	// it has taken one since.
	Withheld *Withheld `json:"withheld,omitempty"`

	// Tail is the newest message, if more lines may be added to it, or if it shows
	// the screen.
	Tail *Message `json:"tail,omitempty"`
	// Stale is a message before Tail that still shows a live region of its time.
	// There's never one while Tail shows a live region too.
	Stale *Message `json:"stale,omitempty"`
	// Doubt is how far the chat might be, because of calls that weren't answered.
	Doubt Doubt `json:"doubt,omitzero"`
	// Intent is the call that's being made, or was made and not answered.
	Intent *Intent `json:"intent,omitempty"`
}

// Message is a message in the chat and what it shows.
type Message struct {
	ID      string `json:"id"`
	View    View   `json:"view"`
	From    Place  `json:"from"`             // its text begins here
	To      Place  `json:"to"`               // and ends here
	Astray  string `json:"astray,omitempty"` // see Page.Astray
	Double  bool   `json:"double,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Dropped int64  `json:"dropped,omitempty"` // see Page.Dropped
	// Withheld takes the place of its lines; see Page.Withheld.
	Withheld string `json:"withheld,omitempty"`
	Live     bool   `json:"live,omitempty"`    // it shows a live region below its lines
	Writing  bool   `json:"writing,omitempty"` // of which a part is text that will be lines
	Sealed   bool   `json:"sealed,omitempty"`  // nothing may be added to it
	Hash     string `json:"hash,omitempty"`    // of what it looks like; "": not known
}

// page is a page that begins as the message does.
func (m Message) page() Page {
	return Page{Astray: m.Astray, Double: m.Double, Cut: m.Cut, Dropped: m.Dropped}
}

// Doubt says what unanswered calls may have shown: everything before To, the end
// of turn Turn, the screen or the live region.
type Doubt struct {
	To     Place `json:"to,omitzero"`
	Turn   int64 `json:"turn,omitempty"`
	Screen bool  `json:"screen,omitempty"`
}

// Intent is a call as it was announced before it was made.
type Intent struct {
	Kind Kind `json:"kind"`
	// Nonce is the same when the same send is made again.
	Nonce string    `json:"nonce,omitempty"`
	At    time.Time `json:"at"`
	// Message is the message as the call leaves it, without the ID of a new one.
	Message Message `json:"message"`
	// Ring says that the call rings, unless it's quiet there.
	Ring bool `json:"ring,omitempty"`
	// Shown, Turn and Announced are the document's after the call.
	Shown     Place `json:"shown"`
	Turn      int64 `json:"turn,omitempty"`
	Announced int64 `json:"announced,omitempty"`
}

// NewDocument is the document of a binding that begins behind a line of its
// session. Turns that have ended by then aren't announced any more.
func NewDocument(line int64, p Progress) Document {
	d := Document{Shown: Place{Line: line + 1}, Turn: p.Turn, Announced: p.TurnEnd}
	if p.TurnEnd > line {
		d.Turn, d.Announced = p.Turn-1, 0
	}
	return d
}

// Delivered is the number of the last line that's in the chat.
func (d Document) Delivered() int64 { return d.Shown.Line - 1 }

// target is where a binding's calls go.
func (d Document) target(b Binding) Target {
	t := b.Target
	if d.Chat != "" {
		t.Chat = d.Chat
	}
	if d.Thread != "" {
		t.Thread = d.Thread
	}
	return t
}

// after is the document when the call of an intent was accepted. id is that of the
// new message or thread.
func (d Document) after(in Intent, id string, existed bool) Document {
	d.Intent = nil
	d.Shown = laterPlace(d.Shown, in.Shown)
	d.Turn, d.Announced = max(d.Turn, in.Turn), max(d.Announced, in.Announced)
	m := in.Message
	if in.Kind == KindSend || in.Kind == KindFile {
		m.ID = id
	}
	if existed {
		m.Hash = "" // it shows what it was first sent with
	}
	switch {
	case in.Kind == KindThread:
		d.Thread, d.Closed, d.Proven = id, false, false
		if d.Lost != nil { // what was said until now stands elsewhere
			d.Tail, d.Stale = nil, nil
		}
	case in.Kind == KindClose:
		d.Closed = true
	case in.Kind == KindEdit && d.Stale != nil && d.Stale.ID == m.ID:
		d.Stale = nil
	default:
		if in.Kind != KindEdit {
			d = d.leaveTail()
			d.Withheld = nil
			d.Proven = d.Thread != ""
		}
		if d.Tail = nil; m.ID != "" && (!m.Sealed || m.View == ViewScreen) {
			d.Tail = &m
		}
		d.Doubt.Screen = false
	}
	d.Doubt = d.Doubt.settled(d)
	return d
}

// leaveTail has nothing added to the tail any more.
func (d Document) leaveTail() Document {
	if d.Tail != nil && d.Tail.Live && d.Tail.View != ViewScreen {
		d.Stale = d.Tail
	}
	d.Tail = nil
	return d
}

// unresolved is the document when a call that wasn't answered can't be made again
// as it was: whatever it may have shown is in doubt.
func (d Document) unresolved() Document {
	in := d.Intent
	d.Intent = nil
	if in == nil || in.Kind.aboutThread() {
		return d
	}
	if in.Kind == KindEdit {
		d = d.without(in.Message.ID)
	}
	d.Doubt = Doubt{
		To: laterPlace(d.Doubt.To, in.Shown), Turn: max(d.Doubt.Turn, in.Turn),
		Screen: d.Doubt.Screen || in.Kind == KindSend && (in.Message.View == ViewScreen || in.Message.Live),
	}.settled(d)
	return d
}

// movedTo is the document when its chat has another id. The messages there have other numbers,
// or are others': none of those that are known may be edited.
func (d Document) movedTo(chat string) Document {
	d = d.unresolved()
	d.Chat, d.Tail, d.Stale = chat, nil, nil
	return d
}

// without forgets a message that can't be edited any more.
func (d Document) without(id string) Document {
	if d.Tail != nil && d.Tail.ID == id {
		d.Tail = nil
	}
	if d.Stale != nil && d.Stale.ID == id {
		d.Stale = nil
	}
	return d
}

// showsLive says whether a message shows a live region, which may be out of date.
func (d Document) showsLive() bool { return d.Stale != nil || d.Tail != nil && d.Tail.Live }

// doubtful says whether something may be in the chat that Shown and Turn don't
// count.
func (d Document) doubtful() bool { return d.Doubt != (Doubt{}) }

// settled drops doubts that a document has caught up with.
func (u Doubt) settled(d Document) Doubt {
	if !d.Shown.Before(u.To) {
		u.To = Place{}
	}
	if d.Turn >= u.Turn {
		u.Turn = 0
	}
	return u
}
