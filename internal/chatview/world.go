package chatview

// World is a stand-in as the page shows it. It's safe for concurrent use, and its methods
// return at once.
type World interface {
	// State is all that a person sees with a place open; a Place without Chat is none.
	State(person string, at Place) State
	// Do does something in a person's name. What is "say", "edit", "press", "choose",
	// "react", "delete", "create-topic", "rename-topic", "close-topic", "reopen-topic",
	// "delete-topic", or whatever else a browser may ask for. The error says why it can't
	// be done.
	Do(what string, d Deed) error
	// SendFile sends a file in a person's name.
	SendFile(person string, at Place, name string, content []byte) error
	// File returns the content behind a File.Address; picture says that it may be shown
	// in the page. ok is false if there's none.
	File(address string) (content []byte, picture, ok bool)
	// Changed returns a channel that's closed at the next change.
	Changed() <-chan struct{}
}

// NoThread is the thread of a place that isn't in one.
const NoThread = "0"

// Place is a chat, or a thread in it.
type Place struct {
	Chat   string `json:"chat"`
	Thread string `json:"thread"` // NoThread: none
}

// Deed is what somebody does in the page.
type Deed struct {
	Person string `json:"person"`
	Place
	Message string   `json:"message"` // that it's about, or that's answered; "": none
	Text    string   `json:"text"`    // also the data of a button or menu, an emoji, a name
	Values  []string `json:"values"`  // that are chosen of a menu
}
