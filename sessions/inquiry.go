package sessions

import (
	"errors"
	"time"
)

// Errors of what programs ask people and show them.
var (
	// ErrNobody says that nobody can see it.
	ErrNobody = errors.New("there's nobody to ask")
	// ErrTooMany says that a session's programs ask or show too much.
	ErrTooMany = errors.New("that's too much")
)

// InquiryOutcome says what came of an inquiry.
type InquiryOutcome string

// What may come of an inquiry. "" is one that's open.
const (
	InquiryAnswered  InquiryOutcome = "answered"  // with an option or a text
	InquiryRefused   InquiryOutcome = "refused"   // somebody chose to give no answer
	InquiryTimeout   InquiryOutcome = "timeout"   // nobody answered in time
	InquiryEnded     InquiryOutcome = "ended"     // its session has ended
	InquiryAbandoned InquiryOutcome = "abandoned" // nobody waits for the answer any more
	InquiryWithdrawn InquiryOutcome = "withdrawn" // whoever asked took it back
)

// InquiryPrefix begins the ids of inquiries, and of no other prompts.
const InquiryPrefix = "iq_"

// Inquiry is a question that a program puts to people by panebridge, and not by a dialog in its pane.
// Its last option is the one that refuses an answer.
type Inquiry struct {
	Prompt

	// Digest stands for what was asked: the same key with another question is refused.
	Digest   string         `json:"digest"`
	Deadline time.Time      `json:"deadline"`
	Stays    bool           `json:"stays,omitempty"` // it stays open though nobody waits
	Outcome  InquiryOutcome `json:"outcome,omitempty"`
}

// InquiryRequest is what's to be asked.
type InquiryRequest struct {
	// Key is the asker's name for the question: the same key asks once. 16 to 64 letters and digits.
	Key     string
	Text    string
	Options []string
	// TakesText says that a text can be the answer, too. It's so without options.
	TakesText bool
	Timeout   time.Duration // 0: DefaultInquiryTimeout
	Stays     bool          // see Inquiry
	Outside   bool          // who asks was begun outside of the session's pane
}

// Bounds of inquiries.
const (
	DefaultInquiryTimeout = 10 * time.Minute
	MaxInquiryTimeout     = 24 * time.Hour
	MaxInquiryRunes       = 3000 // of the text
	MaxInquiryOptions     = 12
	MaxInquiryOption      = 200 // runes of an option
)

// RefuseInquiry is the label of the option that refuses an answer.
const RefuseInquiry = "Don't answer"
