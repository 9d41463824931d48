package sessions

import "time"

// Continuation is a text that's typed into a session by itself when the limit of its agent's account is
// over, unless somebody has written to it by then.
type Continuation struct {
	Session ID        `json:"session"`
	Due     time.Time `json:"due"`      // when the limit is over
	LimitAt time.Time `json:"limit_at"` // which limit: UsageLimit.At
	Turn    int64     `json:"turn"`     // number of the session's turn; another one: somebody wrote
	// Agent and Conversation are whom the text is for: the program that's limited, and its conversation as the limit was told.
	Agent        string    `json:"agent,omitempty"`        // a profile; "": as before it was kept, whoever reads it
	Conversation string    `json:"conversation,omitempty"` // "": unknown
	Text         string    `json:"text"`
	Author       string    `json:"author"`         // who asked for it, as InputRequest.Author
	Name         string    `json:"name,omitempty"` // what people call them
	CreatedAt    time.Time `json:"created_at"`
	Receipt      string    `json:"receipt,omitempty"` // id of the text's; "": it isn't sent yet
}

// By is who asked for it, as people call them.
func (c Continuation) By() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Author
}
