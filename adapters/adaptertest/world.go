package adaptertest

import (
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// World is a chat platform with people on it, as the suites of outbound halves need it: a Platform in
// memory, or the adapter of a real one in front of its strict stand-in. It's used in the bubble in which
// it was made.
type World interface {
	// NewProcess returns the adapter of a new process, and what ends that: it makes no further
	// calls, and those under way arrive all the same, unless lost.
	NewProcess() (a adapters.Adapter, kill func(lost bool))
	// Chats are five that adapters may write to. The first one can have threads, and sessions have
	// theirs there if the adapter makes any.
	Chats() []string

	// Seen is what people see of the bot's messages in a chat's thread ("": outside of threads), in
	// order.
	Seen(chat, thread string) []Message
	// Threads are those of a chat that have a title, and Closed says whether one is closed.
	Threads(chat, title string) []string
	Closed(chat, thread string) bool
	// Wrong is what the platform saw until now that no adapter may do: what it refused but for what the
	// suites make it refuse, and what it took and people can't read.
	Wrong() []string

	// What people do. DeleteChat may throw the bot out in place of that. A message that's frozen can't
	// be edited any more. MoveChat returns the chat's new id; "": there, chats keep theirs.
	AddThread(chat, title string) string
	DeleteMessage(chat, id string)
	FreezeMessage(chat, id string)
	DeleteThread(chat, thread string)
	DeleteChat(chat string)
	MoveChat(chat string) string

	// What's on the way is Traffic's, which a world embeds.
	SetFault(fault func(c Call) Fault)
	Arrivals() []Arrival
	Wait()
}

// New makes a world, within a bubble. An unlimited one refuses nothing for being too early.
type New func(unlimited bool) World

// InMemory makes worlds of Platforms, with adapters that reach them through a connection.
func InMemory(adapter func(c *Conn) adapters.Adapter) New {
	return func(unlimited bool) World {
		w := &memoryWorld{adapter: adapter}
		shape := adapter(NewPlatform(Options{}).Connect()).Shape(adapters.Target{Chat: w.Chats()[0]})
		o := Options{Unlimited: unlimited}
		if shape.NonceFor > 0 {
			o.NonceFor = shape.NonceFor + time.Minute
		}
		w.Platform = NewPlatform(o)
		for _, chat := range w.Chats() {
			w.AddGroup(chat, true)
		}
		return w
	}
}

// memoryWorld is a Platform as a World.
type memoryWorld struct {
	*Platform
	adapter func(c *Conn) adapters.Adapter
}

func (w *memoryWorld) NewProcess() (a adapters.Adapter, kill func(lost bool)) {
	c := w.Connect()
	return w.adapter(c), c.Kill
}

func (w *memoryWorld) Chats() []string { return []string{"-100", "-1000", "-1001", "-1002", "-1003"} }

func (w *memoryWorld) Wrong() []string { return nil }

// Stays is an adapter under test for a platform on which chats keep their ids.
type Stays interface{ ChatsStay() bool }

func (w *memoryWorld) MoveChat(chat string) string {
	if stays, ok := w.adapter(w.Connect()).(Stays); ok && stays.ChatsStay() {
		return ""
	}
	const to = "-1009"
	w.Migrate(chat, to)
	return to
}
