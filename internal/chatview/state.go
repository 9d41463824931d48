package chatview

// State is all that the page shows.
type State struct {
	Look     string    `json:"look"` // "telegram" or "discord"
	Bot      Person    `json:"bot"`
	People   []Person  `json:"people"`
	Chats    []Chat    `json:"chats"` // that the person sees
	Open     *Open     `json:"open,omitempty"`
	Messages []Message `json:"messages"` // of the open place
	Presses  []Press   `json:"presses"`  // of the person
	Commands []Command `json:"commands"`
}

// Person is somebody, or the bot.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Bot  bool   `json:"bot"`
}

// Chat is a chat with its topics or threads. One without them has one: itself.
type Chat struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Group   string  `json:"group,omitempty"` // of the chats that stand below one title; "": it stands alone
	Threads bool    `json:"threads"`         // it may have some
	Named   string  `json:"named"`           // what they're called: "topic"
	Gone    string  `json:"gone,omitempty"`  // why the bot can't write there
	Topics  []Topic `json:"topics"`
}

// Topic is a place to write in, in a list.
type Topic struct {
	Thread string `json:"thread"`
	Name   string `json:"name"`
	Colour int64  `json:"colour"` // Telegram's
	Closed bool   `json:"closed"`
	Last   string `json:"last"`
	LastAt int64  `json:"last_at"`
	Rings  int    `json:"rings"`
	Doing  string `json:"doing,omitempty"` // what the bot is seen doing
	Locked bool   `json:"locked"`          // nobody writes there, as in a forum beside its posts
}

// Open is what's shown of the open place beside its messages.
type Open struct {
	Place
	Doing        string   `json:"doing,omitempty"`
	Drafts       []Text   `json:"drafts"`
	Windows      []Window `json:"windows"`
	PenaltyUntil int64    `json:"penalty_until,omitempty"`
}

// Text is a text with its formatting: entities as Telegram's Bot API has them, sorted
// outer before inner, that never cross.
type Text struct {
	Text     string   `json:"text"`
	Entities []Entity `json:"entities"`
}

// Entity formats a part of a text.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Window is how much of a limit is used.
type Window struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	Used    int     `json:"used"`
}

// Message is a message as it's seen now.
type Message struct {
	ID   string `json:"id"`
	From Person `json:"from"`
	At   int64  `json:"at"`
	Text
	Rows      [][]Part   `json:"rows,omitempty"` // of buttons and menus
	Embeds    []Embed    `json:"embeds,omitempty"`
	Files     []File     `json:"files,omitempty"`
	Reply     *Reply     `json:"reply,omitempty"`
	Rang      bool       `json:"rang"`
	Edits     int        `json:"edits"`
	Pinned    bool       `json:"pinned"`
	Private   bool       `json:"private"`           // only the person sees it
	Follows   bool       `json:"follows"`           // it's soon after another of the same sender
	Service   string     `json:"service,omitempty"` // in place of everything else
	Reactions []Reaction `json:"reactions,omitempty"`
}

// Part is a button or a menu below a message.
type Part struct {
	Text     string   `json:"text"`
	Data     string   `json:"data,omitempty"` // what's pressed, or chosen of
	URL      string   `json:"url,omitempty"`
	Copy     string   `json:"copy,omitempty"`
	Style    string   `json:"style,omitempty"` // "primary", "secondary", "success", "danger"
	Disabled bool     `json:"disabled,omitempty"`
	Menu     bool     `json:"menu,omitempty"` // Text is what stands there while nothing is chosen
	Least    int      `json:"least"`
	Most     int      `json:"most"`
	Options  []Option `json:"options,omitempty"`
}

// Option is an option of a menu.
type Option struct {
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	Value  string `json:"value"`
	Chosen bool   `json:"chosen,omitempty"`
}

// Embed is a box below a message's text.
type Embed struct {
	Author string  `json:"author,omitempty"`
	Title  string  `json:"title,omitempty"`
	URL    string  `json:"url,omitempty"` // of the title
	Body   Text    `json:"body"`
	Fields []Field `json:"fields,omitempty"`
	Footer string  `json:"footer,omitempty"`
	Colour string  `json:"colour,omitempty"` // six hexadecimal digits
}

// Field is a field of an embed.
type Field struct {
	Name   string `json:"name"`
	Value  Text   `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}

// File is a file of a message.
type File struct {
	Address string `json:"address"` // below media/
	Kind    string `json:"kind"`    // "photo", "document", "voice"
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Width   int    `json:"width,omitempty"`
	Height  int    `json:"height,omitempty"`
	Seconds int    `json:"seconds,omitempty"`
}

// Reply is the message that another answers.
type Reply struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Reaction is an emoji, and who reacted with it.
type Reaction struct {
	Emoji string   `json:"emoji"`
	Names []string `json:"names"`
}

// Press is a button that was pressed, or a menu of which was chosen.
type Press struct {
	ID      string `json:"id"`
	Message string `json:"message"`
	Data    string `json:"data"`
	Done    bool   `json:"done"` // it was answered, or nobody waits for it any more
	Text    string `json:"text"` // what the person is told; "": nothing
	Alert   bool   `json:"alert"`
}

// Command is a command that's offered as people type.
type Command struct {
	Name string `json:"name"`
	Help string `json:"help"`
}
