package sessions

import "time"

// ReceiptState says how far an input got.
type ReceiptState string

// The states of a receipt: stored → typed → submitted → answered, with held in between
// where something keeps it back. Failed and cancelled are final. So is submitted (or
// typed, when no Enter was asked for) as to what's done about the text; it becomes
// answered when the turn that it began ends.
const (
	ReceiptStored    ReceiptState = "stored"    // on disk, not typed
	ReceiptHeld      ReceiptState = "held"      // a dialog is open; typed when it has closed
	ReceiptTyping    ReceiptState = "typing"    // about to be typed: the intent, on disk before the pane is touched
	ReceiptTyped     ReceiptState = "typed"     // in the pane, Enter not pressed yet (or not asked for)
	ReceiptSubmitted ReceiptState = "submitted" // Enter was pressed and the screen took it
	ReceiptAnswered  ReceiptState = "answered"  // the turn that it began has ended
	ReceiptFailed    ReceiptState = "failed"    // see Reason
	ReceiptCancelled ReceiptState = "cancelled" // taken back before it was typed
)

// Cause says to programs what a receipt's Reason says to people, where something depends on it.
type Cause string

// The causes. "": none of these.
const (
	CauseBehind     Cause = "behind"     // held: it waits behind another text of the session
	CauseQueued     Cause = "queued"     // submitted: the agent keeps it until it has time
	CausePassed     Cause = "passed"     // submitted: it was queued, but no turn runs any more
	CauseUnverified Cause = "unverified" // submitted or answered: nobody knows that its program took it
)

// Revival is a way to begin an agent again that has ended and left its pane to a shell.
type Revival string

// The ways.
const (
	ReviveNew    Revival = "start"  // with a new conversation
	ReviveResume Revival = "resume" // with the one that it had
)

// Receipt is the record of one input.
type Receipt struct {
	ID      string       `json:"id"` // "in_" and 12 hexadecimal digits
	Session ID           `json:"session"`
	Text    string       `json:"text"`
	Submit  bool         `json:"submit"`        // press Enter behind the text
	Author  string       `json:"author"`        // who wrote it, "web" or "cli" or "telegram:123"
	Name    string       `json:"-"`             // see InputRequest.Name
	Origin  string       `json:"-"`             // see InputRequest.Origin
	Key     string       `json:"key,omitempty"` // see InputRequest.Key
	State   ReceiptState `json:"state"`
	Cause   Cause        `json:"cause,omitempty"`
	Reason  string       `json:"reason,omitempty"` // why it's held or failed, or "unverified: …"; for people
	// Quoted is set while only a dialog's phrase keeps the text, or its Enter, back, on a
	// screen that stands still and on which no dialog is recognised. It stands for that
	// screen: 16 hexadecimal digits. See Manager.SendAnyway. It isn't kept.
	Quoted string `json:"quoted,omitempty"`
	// Behind is the id of the input that's held and that this one waits behind; "": there's
	// none. It isn't kept.
	Behind string `json:"behind,omitempty"`
	// Front is the program that has the foreground in place of the one that the text was
	// written to; "": none has. Quoted then stands for that run of it, and not for a
	// screen. Revivals are the ways in which the other can be begun again.
	Front    string    `json:"front,omitempty"`
	Revivals []Revival `json:"revivals,omitempty"`
	Anyway   string    `json:"anyway,omitempty"` // who sent it anyway; "": nobody
	// To is whom it was written to: the session's addressee of that time, or who somebody
	// has said it's for all the same.
	To Addressee `json:"-"`
	// Pressed says that Enter was pressed behind the text, or is about to be: the intent,
	// on disk before the key.
	Pressed   bool      `json:"-"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SetState makes a state, and what's to be known of it, the receipt's.
func (r *Receipt) SetState(state ReceiptState, cause Cause, reason string) {
	r.State, r.Cause, r.Reason = state, cause, reason
}

// Submitted reports whether the text was, whatever has become of it.
func (r Receipt) Submitted() bool { return r.State == ReceiptSubmitted || r.State == ReceiptAnswered }

// Unverified reports whether Enter was pressed behind a text of which nobody knows that its
// program took it. Reason says why.
func (r Receipt) Unverified() bool {
	return r.Submitted() && r.Cause == CauseUnverified
}

// Queued reports whether a receipt is of a text that its agent has queued.
func (r Receipt) Queued() bool { return r.State == ReceiptSubmitted && r.Cause == CauseQueued }

// Final reports whether nothing is to be done about the text any more.
func (r Receipt) Final() bool {
	switch r.State {
	case ReceiptSubmitted, ReceiptAnswered, ReceiptFailed, ReceiptCancelled:
		return true
	case ReceiptTyped:
		return !r.Submit
	case ReceiptStored, ReceiptHeld, ReceiptTyping:
		return false
	}
	return false
}
