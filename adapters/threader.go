package adapters

import (
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Threader is an Adapter on whose platform making threads has limits of its own, and
// may have to wait for long while messages needn't.
type Threader interface {
	// Threads is the key of limits under which the thread for a target is made that has
	// none yet and gets one of its own. It's a pure function.
	Threads(t Target) qos.Chat
}

// keyOf is the key of limits that a document's next call falls under.
func keyOf(a Adapter, b Binding, d Document) qos.Chat {
	t := d.target(b)
	shape := a.Shape(b.Target)
	if th, ok := a.(Threader); ok && t.Thread == "" && shape.OwnThread && !d.astray(shape, time.Now()) {
		return th.Threads(t)
	}
	return a.Chat(t)
}
