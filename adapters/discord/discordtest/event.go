package discordtest

import (
	"encoding/json"
)

// wireEvent is what the gateway sends (docs.discord.com/developers/events/gateway-events#payload-structure).
type wireEvent struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  *int   `json:"s"`
	Name string `json:"t,omitempty"`
}

func encode(e wireEvent) []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // every event is made of plain values
	}
	return text
}

// dispatch gives an event to every session that asked for it and, if it's about a
// channel, whose bot sees that.
func (s *Server) dispatch(name string, need Intent, in *channel, data any) {
	s.dispatchFor(name, need, in, func(Intent) any { return data })
}

// dispatchFor is dispatch for an event that looks different by intents. Sessions
// whose connection is gone keep the event for RESUME.
func (s *Server) dispatchFor(name string, need Intent, in *channel, data func(Intent) any) {
	if in != nil && !in.visible() {
		return
	}
	for _, session := range s.gates.sessions {
		if !session.alive(s.opts.Limits.Resume) || need != always && session.intents&need == 0 {
			continue
		}
		if s.gates.holds && isPersons(name) {
			e := heldEvent{name: name, data: data(session.intents)}
			if in != nil {
				e.channel = in.id
			}
			session.held = append(session.held, e)
			continue
		}
		session.add(name, data(session.intents))
	}
}
