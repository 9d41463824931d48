package adapters

import (
	"context"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Post is a message that's no part of a document: a command's reply, a receipt, a
// prompt. One that the platform refuses is made in simpler forms, and elsewhere at last.
// See Outbox.
type Post struct {
	To Target
	// Key is unique at its target. A post whose key waits already takes its place; one
	// whose key was posted before edits that message, while the Outbox remembers it.
	Key     string
	Class   qos.Class   // of class Cosmetic it's made at once, or not at all and Sent isn't called unless it was refused
	Session sessions.ID // "": none
	// Message is the message that it edits; "": a new one, or what Key says. One that
	// isn't there any more is made anew.
	Message string
	// ReplyTo is the message that it answers; "": none.
	ReplyTo string
	// Shown says that the text isn't masked: it's a secret that was made for whoever reads it
	// there.
	Shown bool
	// Text is Markdown. Beside a picture or a file it's what's written below.
	Text    string
	Menus   []Menu     // above the buttons; only where Shape.Menus allows them
	Buttons [][]Button // rows
	Picture []byte     // a PNG; nil: none
	File    *File      // nil: none; not with a picture
	Ring    bool       // people are notified
	// Nonce is the same when a send is made again that wasn't answered, and else another:
	// the Outbox gives it. See Shape.NonceFor. A post that's given one is there once, whoever
	// posts it with the same, where the platform knows nonces.
	Nonce string
	// Reaction is an emoji to be put to the message ReplyTo, in place of a text.
	Reaction string
	// Pin is a message that's to be pinned in its chat, silently, in place of a text.
	Pin string
	// Numbered is the text that takes Text's place where the platform refuses the buttons and
	// menus: it says how to choose without. "": Text.
	Numbered string
	// Behind says that it stands below all that its session has printed until it's posted.
	Behind bool
	line   int64 // the last of that
	// Again says that it may be there already: a new message says so.
	Again bool
	// Elsewhere is where it's posted if it's refused in every form; zero: nowhere.
	Elsewhere Target
	// Sent is called once when the post has been made, or has failed for good, or
	// another has taken its place (ErrReplaced). message is the platform's id. It must
	// return at once. Nil: nobody is told.
	Sent func(message string, err error)
	// SentTo is as Sent, and takes its place: it's told where, too. The chat may have got another
	// id since the post was queued.
	SentTo func(to Target, message string, err error)
}

// Button stands below a post.
type Button struct {
	Label string // at most 40 characters are shown everywhere
	Data  string // given back when it's pressed, at most 64 bytes
	URL   string // in place of Data: it opens an address
}

// Menu is a list below a post, of which people choose. What they've chosen is given back
// at once, whether they chose one option or several.
type Menu struct {
	Data string // given back with the values that were chosen, at most 64 bytes
	Hint string // stands there while nothing is chosen; at most 100 characters are shown
	// Options are at most Shape.MenuOptions.
	Options     []Option
	Least, Most int // how many may be chosen at a time
}

// Option is an option of a menu.
type Option struct {
	Label  string // at most MaxOption characters are shown
	Detail string // what's explained below it, as long; "": nothing is
	Value  string // given back when it's chosen, at most 64 bytes; another for each
	Chosen bool   // it's chosen already
}

// MaxOption is how many characters of an option of a menu are shown.
const MaxOption = 100

// Poster makes the call of a post. An Adapter that can post implements it.
type Poster interface {
	// Post makes exactly one API call: a new message, or an edit of message if that
	// isn't "". The contract is that of Adapter.Call.
	Post(ctx context.Context, p Post, message string) Reply
}
