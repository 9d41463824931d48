package qos

// Chat is the platform's key of limits: everything that shares a limit there
// shares the key. On one platform a chat with all its threads is one chat here, on
// another each thread is a chat of its own. Opaque here.
type Chat string

// DocID names a document: the binding's id. Opaque here.
type DocID string

// Session names the session whose output a document mirrors. Slots are shared
// fairly between the sessions of a chat. Opaque here.
type Session string

// Family names the methods that share a window within a chat, beside the
// chat's own. A family that Options.Families doesn't list counts in the chat's
// windows, like FamilyMessage.
type Family string

// Families that platforms have limits of their own for.
const (
	// FamilyMessage is sending, editing, deleting and the creation of topics, which
	// share one budget. Documents always use it. It's the zero value.
	FamilyMessage Family = ""
	// FamilyTyping is the "is typing" indicator.
	FamilyTyping Family = "typing"
	// FamilyDraft is a message preview that vanishes by itself.
	FamilyDraft Family = "draft"
	// FamilyRename is renaming a channel, thread or topic.
	FamilyRename Family = "rename"
)

// Class says how much something matters. A lower value goes first.
type Class uint8

// The classes.
const (
	// Interactive answers a person: command and button replies, prompts, errors.
	Interactive Class = iota
	// Final is the end of a turn.
	Final
	// Stream is text of a turn that goes on.
	Stream
	// Cosmetic is what nobody misses: typing, drafts, badges. Never queued.
	Cosmetic

	classes // how many there are
)

func (c Class) String() string {
	names := [classes]string{"interactive", "final", "stream", "cosmetic"}
	if int(c) < len(names) {
		return names[c]
	}
	return "invalid"
}

// Doc describes a document when it's opened. It holds no text: line numbers are
// those of the session's output log, counted from 1; 0 is "none".
type Doc struct {
	ID      DocID
	Chat    Chat
	Session Session

	Delivered int64 // the last line that reached the chat
	Wanted    int64 // the last line that should
	Final     int64 // the line at which a turn ended that isn't announced yet; 0: none
	Uncertain bool  // a call was begun before a restart, and nobody knows how it ended
}

// Request is a single thing to do in a chat that's no document: a command's
// reply, a receipt, a prompt. The payload stays with the adapter, which finds it
// by Key when the slot comes.
type Request struct {
	Chat Chat
	// Key is the adapter's own, unique in its chat. Posting a key that waits
	// already adds nothing, but the better class of the two counts; posting one
	// whose call is under way has it called once more.
	Key     string
	Class   Class // Interactive, Final or Stream for Post
	Family  Family
	Session Session // may be empty; closing the session by Cancel drops the request

	Uncertain bool // as in Doc
}

// CloseMode says what happens to what waits when a document or session is
// closed.
type CloseMode uint8

// The ways to close.
const (
	// Flush sends what is wanted by now, as class Final, and then closes. It gives
	// up after Options.FlushLimit; time under a penalty doesn't count.
	Flush CloseMode = iota
	// Cancel closes now: nothing is sent any more, not even a final. A call under
	// way isn't interrupted.
	Cancel
)
