package discordtest

import (
	"bytes"
	"compress/zlib"
)

// say queues what isn't an event of the session.
func (g *gateway) say(e wireEvent) {
	g.queue = append(g.queue, frame{frameText, encode(e)})
	g.poke()
}

// close ends a connection for what the bot did.
func (g *gateway) close(code int, reason string) {
	if g.closing == nil {
		g.blame(code, reason)
		g.hangUp(code, reason)
	}
}

// blame writes down what the bot did wrong.
func (g *gateway) blame(code int, reason string) {
	g.s.refusals = append(g.s.refusals, Refusal{At: now(), Call: "gateway", Code: code, Error: reason})
}

// hangUp ends a connection with a code.
func (g *gateway) hangUp(code int, reason string) {
	f := closeFrame(code, reason)
	g.closing = &f
	g.ws.deadline(now().Add(goodbye))
	if g.session != nil {
		g.session.part()
	}
	g.poke()
	g.s.Touch()
}

// cut breaks the connection without a word.
func (g *gateway) cut() { _ = g.ws.conn.Close() } // the reader sees what comes of it

// poke wakes the writer.
func (g *gateway) poke() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// write sends what there is to send until the connection ends.
func (g *gateway) write() {
	for {
		frames, last, ended := g.due()
		if ended {
			return
		}
		for _, f := range frames {
			if g.ws.write(f) != nil {
				g.cut()
				return
			}
		}
		if last != nil {
			if g.ws.write(*last) != nil {
				g.cut()
			}
			return
		}
		if len(frames) == 0 {
			<-g.wake
		}
	}
}

// due takes what's to be sent next.
func (g *gateway) due() (frames []frame, last *frame, ended bool) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.ended {
		return nil, nil, true
	}
	if g.silent {
		return nil, nil, false
	}
	frames, g.queue = g.queue, nil
	if g.session != nil {
		for ; g.next < len(g.session.events); g.next++ {
			frames = append(frames, g.pack(g.session.events[g.next]))
		}
	}
	return frames, g.closing, false
}

// compressFrom is how many bytes an event has that's compressed for a bot which
// takes that.
const compressFrom = 2 << 10

func (g *gateway) pack(event []byte) frame {
	if !g.compress || len(event) < compressFrom {
		return frame{frameText, event}
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(event) // a buffer takes everything
	_ = z.Close()         // as above
	return frame{frameBinary, b.Bytes()}
}
