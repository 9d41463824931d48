package adapters

import "github.com/panebridge/panebridge/qos"

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
	if th, ok := a.(Threader); ok && t.Thread == "" && a.Shape(b.Target).OwnThread {
		return th.Threads(t)
	}
	return a.Chat(t)
}
