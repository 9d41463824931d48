package discord_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// wild is a gateway that sends what it's told, and what was missed after a break.
type wild struct {
	mu     sync.Mutex // never held while anything is sent
	out    chan []byte
	frames map[int64][]byte
	seq    int64
}

const remembered = 1000 // frames that can be sent again

func (g *wild) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var up websocket.Upgrader
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	out := make(chan []byte, 2*remembered)
	out <- []byte(`{"op":10,"d":{"heartbeat_interval":41250}}`)
	var writing sync.WaitGroup
	writing.Go(func() {
		for frame := range out {
			_ = ws.WriteMessage(websocket.TextMessage, frame)
		}
	})
	for {
		var said struct {
			Op   int `json:"op"`
			Data any `json:"d"`
		}
		if ws.ReadJSON(&said) != nil {
			break
		}
		g.answer(said.Op, said.Data, out)
	}
	_ = ws.Close()
	g.mu.Lock()
	if g.out == out {
		g.out = nil
	}
	g.mu.Unlock()
	close(out)
	writing.Wait()
}

func (g *wild) answer(op int, data any, out chan []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch op {
	case 1:
		out <- []byte(`{"op":11}`)
	case 2:
		g.out = out
		g.say("READY", fmt.Appendf(nil, `{"session_id":"s","user":{"id":"%s"},"guilds":[{"id":"%s"}]}`, botID, house))
		g.say("GUILD_CREATE", fmt.Appendf(nil, `{"id":"%[1]s","channels":[{"id":"%[2]s","type":0}],"threads":[{"id":"%[3]s","type":11,"parent_id":"%[2]s"}]}`, house, knownChat, knownThread))
	case 6:
		g.out = out
		at, _ := data.(map[string]any)["seq"].(float64)
		for n := int64(at) + 1; n <= g.seq; n++ {
			out <- g.frames[n]
		}
		g.say("RESUMED", []byte("{}"))
	}
}

// say sends an event. mu is held.
func (g *wild) say(kind string, data []byte) {
	g.seq++
	frame := fmt.Appendf(nil, `{"op":0,"t":%s,"s":%d,"d":%s}`, quoted(kind), g.seq, data)
	g.frames[g.seq] = frame
	delete(g.frames, g.seq-remembered)
	if g.out != nil {
		g.out <- frame
	}
}

func quoted(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// raw sends what isn't an event.
func (g *wild) raw(text []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out != nil {
		g.out <- text
	}
}
