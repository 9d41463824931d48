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

// FormattedText is a text with entities, sorted by where they begin, the longer ones
// first.
type FormattedText struct {
	Text     string
	Entities []Entity
}

// Telegram's limits (core.telegram.org/bots/api#sendmessage). It ignores what comes
// behind the hundredth entity, and refuses all of them when their size passes about
// 9,500 bytes (github.com/tdlib/telegram-bot-api/issues/165), of which each takes
// entityBytes beside its URL and its language.
const (
	MaxUnits       = 4096 // UTF-16 units
	MaxEntities    = 100
	MaxEntityBytes = 9500
	entityBytes    = 12
)
