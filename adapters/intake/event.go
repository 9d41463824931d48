package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// Event is one thing that somebody did in a chat.
type Event struct {
	// Key names the update on its platform: "telegram:8123". It's the same when the
	// update is handled again after a crash.
	Key string
	// At is when it was done, by the platform's clock.
	At time.Time
	// Place is where. Its Thread is "" outside of threads and topics.
	Place adapters.Target
	// Private: the place is a chat of one person and the bot.
	Private bool
	Person  Person
	// Message is the platform's id of the message that was written or edited, or
	// below which the button stands.
	Message string
	// Common says that others who use the same bot got it, too, in a place that's no one's: nothing
	// is done, so that it isn't done twice, and each answers alike, so that one answer stands there.
	Common bool
	Action Action
}

// Person is who did something.
type Person struct {
	// ID is stable, and what access is given to: "telegram:123". "" is nobody in
	// particular; only what happens to threads and chats comes from there.
	ID   string
	Name string // as the platform shows it; anybody can take any name
}

// Action is what was done: Said, Edited, Pressed, ThreadClosed, ThreadOpened,
// ThreadDeleted, ChatMoved, ChatLost, ChatBack, Left or Remarked.
type Action interface{ action() }

// Said is a new message.
type Said struct {
	Text    string // with its files' caption; may be empty if there are files
	ReplyTo string // the platform's id of the message it answers; "": none
	Quoted  Quoted // what that shows
	Files   []Attachment
	// Album names what it's a part of, where a platform sends things that were sent
	// together one by one; "": it's whole. The queue makes one message of an album's
	// parts, so that Handle sees whole ones only.
	Album string
}

// Quoted is what stands in a message that's answered, as its platform says it; zero: nothing is known of it.
type Quoted struct {
	Text string `json:",omitempty"` // without markup; the part that was chosen, where the platform lets people choose one
	Ours bool   `json:",omitempty"` // the bot wrote it
}

// ReadCommand takes "/name@bot args" apart. ok is false for a text that begins otherwise, or with "//".
func ReadCommand(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok || strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	word, args := rest, ""
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		word, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	name, _, _ = strings.Cut(word, "@")
	return strings.ToLower(name), args, true
}

// Edited is a message that was changed after it was sent.
type Edited struct {
	Text    string
	ReplyTo string // as of Said
	Quoted  Quoted
}

// Pressed is a button that was pressed, or a menu of which was chosen.
type Pressed struct {
	Data string // of the button, as the platform gave it back: not to be trusted
	// Token is what InboundAdapter.TellPresser needs.
	Token string
	// Stays says that an answer doesn't vanish by itself: only what must be known is said
	// then, not what can be seen.
	Stays bool
	// Chosen are the values that were chosen, if it isn't a button but a menu: not to be
	// trusted either.
	Chosen []string
}

// Remarked says that Event.Message is a line of the platform's own about what the bot did: that it pinned a message, or
// began a thread.
type Remarked struct{}

// ThreadClosed says that a person closed the thread that Event.Place is.
type ThreadClosed struct{}

// ThreadOpened says that it was opened again, by a person or because we asked for it.
type ThreadOpened struct{}

// ThreadDeleted says that it's gone.
type ThreadDeleted struct{}

// ChatMoved says that the chat has another id from now on: To, or, said at the place that it is
// now, that it had another before: From. One of both is set.
type ChatMoved struct{ To, From string }

// Move returns the move of a chat; place is where it was said.
func (m ChatMoved) Move(place adapters.Target) adapters.Move {
	if m.From != "" {
		return adapters.Move{Adapter: place.Adapter, From: m.From, To: place.Chat}
	}
	return adapters.Move{Adapter: place.Adapter, From: place.Chat, To: m.To}
}

// ChatLost says that the bot can't write to the chat any more.
type ChatLost struct{ Why string } // as a sentence

// ChatBack says that the bot may write to the chat, maybe again.
type ChatBack struct{}

// Left says that a person isn't in the chat any more that Event.Place is.
type Left struct{ Person string } // Person.ID

func (Said) action()          {}
func (Edited) action()        {}
func (Pressed) action()       {}
func (ThreadClosed) action()  {}
func (Remarked) action()      {}
func (ThreadOpened) action()  {}
func (ThreadDeleted) action() {}
func (ChatMoved) action()     {}
func (ChatLost) action()      {}
func (ChatBack) action()      {}
func (Left) action()          {}

// MaxFiles is how many files of one message are taken: as many as Telegram's albums have.
const MaxFiles = 10

// Attachment is something attached to a message.
type Attachment struct {
	ID   string // the platform's, for InboundAdapter.Fetch
	Name string // as its sender called it, not to be trusted; "" for photos and voice notes
	Kind FileKind
	Size int64 // bytes, as far as the platform says; 0: unknown
}

// FileKind is what a file is.
type FileKind string

// The kinds of file.
const (
	FileDocument FileKind = "document"
	FilePhoto    FileKind = "photo"
	FileVoice    FileKind = "voice"
)

// ErrTooLarge says that a file has more bytes than allowed.
var ErrTooLarge = errors.New("the file is too large")

// InboundAdapter is what Inbound needs of an adapter, beside the outbound
// adapters.Adapter.
type InboundAdapter interface {
	// Name is the adapter's, as in targets: "telegram".
	Name() string
	// TellPresser tells the person who pressed a button what came of it, in a short text
	// that vanishes; "" only ends the wait. It takes no slot.
	TellPresser(ctx context.Context, press Event, text string) error
	// Fetch writes a file's content to w, at most limit bytes: a larger one is an
	// error that wraps ErrTooLarge, after at most limit bytes were written.
	Fetch(ctx context.Context, f Attachment, limit int64, w io.Writer) error
	// Link is an address that opens a message, or a thread if message is ""; "": there's
	// none.
	Link(place adapters.Target, message string) string
	// SetCommands has the platform offer these commands as people type. It calls only
	// if they've changed since the last time, over restarts too.
	SetCommands(ctx context.Context, commands []CommandInfo) error
}

// CommandInfo is a command as platforms show it.
type CommandInfo struct {
	Name string // "new"
	Args string // "[agent] [folder]"; "": none
	Help string // one short sentence, at most 100 characters
	// Params are the arguments one by one, where a platform asks for them so.
	Params []Param
}

// Param is one argument of a command, for platforms that ask for each by itself.
// What's given, joined by spaces in the order of the parameters, is what people write
// behind the command elsewhere.
type Param struct {
	Name     string // small letters
	Help     string // at most 100 characters
	Required bool
	// Choices are all that can be given; nil: anything can.
	Choices []string
	// Offers says that Inbound.Complete knows what could be meant.
	Offers bool
}

// Completion is what somebody may mean who has begun to write an argument.
type Completion struct {
	Label string // as it's shown
	Value string // as it's given
}

// CopyAtMost copies a file's content for InboundAdapter.Fetch, at most limit bytes: the error of a larger one wraps
// ErrTooLarge. failed makes the error of one that occurs in reading.
func CopyAtMost(w io.Writer, r io.Reader, limit int64, failed func(error) error) error {
	to := &sink{w: w}
	if _, err := io.Copy(to, io.LimitReader(r, limit)); err != nil {
		if to.err != nil {
			return fmt.Errorf("write a file: %w", to.err)
		}
		return failed(err)
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return failed(err)
	default:
		return fmt.Errorf("fetch a file: %w: at most %d bytes are taken", ErrTooLarge, limit)
	}
}

// sink tells errors of writing from those of reading.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// Unmarshal reads JSON. Of an error, which begins with what was done ("read an update"), it has the field and
// nothing of what stands there.
func Unmarshal(doing string, raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: %s isn't what it should be", doing, t.Field)
	}
	if err != nil {
		return errors.New(doing + ": it isn't JSON")
	}
	return nil
}
