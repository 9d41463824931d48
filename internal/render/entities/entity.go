package entities

// Type is what an entity does to its text.
type Type string

// The types that are made.
const (
	Bold                 Type = "bold"
	Italic               Type = "italic"
	Underline            Type = "underline"
	Strikethrough        Type = "strikethrough"
	Code                 Type = "code"
	Pre                  Type = "pre"
	TextLink             Type = "text_link"
	Blockquote           Type = "blockquote"
	ExpandableBlockquote Type = "expandable_blockquote"
)

// Entity is a MessageEntity of the Bot API.
type Entity struct {
	Type     Type   `json:"type"`
	Offset   int    `json:"offset"` // in UTF-16 units
	Length   int    `json:"length"` // in UTF-16 units
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Message is a text with entities, sorted by where they begin, the longer ones
// first.
type Message struct {
	Text     string
	Entities []Entity
}

// Telegram's limits (core.telegram.org/bots/api#sendmessage, and
// limits.tginfo.me for the entities).
const (
	MaxUnits    = 4096 // UTF-16 units
	MaxEntities = 100
)
