package discordtest_test

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/panebridge/panebridge/internal/memnet"
)

// wire is a bot's end of a gateway connection, as bare as it can be, so that it may
// do what the library never would.
type wire struct {
	*world
	conn net.Conn
	r    *bufio.Reader
}

// payload is what the gateway says; Closed is the code of its last word.
type payload struct {
	Op     int             `json:"op"`
	Data   json.RawMessage `json:"d"`
	Seq    int             `json:"s"`
	Name   string          `json:"t"`
	Closed int             `json:"-"`
	Err    error           `json:"-"` // the connection broke
}

func (p payload) str(key string) string {
	var object map[string]any
	if json.Unmarshal(p.Data, &object) != nil {
		return ""
	}
	text, _ := object[key].(string)
	return text
}

// dial opens a gateway connection.
func (w *world) dial(network *memnet.Network, query string) *wire {
	w.Helper()
	conn, err := network.Dial(context.Background(), "", "")
	ok(w, err)
	_, err = fmt.Fprintf(conn, "GET /gateway%s HTTP/1.1\r\nHost: discord.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", query)
	ok(w, err)
	x := &wire{w, conn, bufio.NewReader(conn)}
	resp, err := http.ReadResponse(x.r, nil) //nolint:bodyclose // the connection goes on as a gateway's
	ok(w, err)
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-Websocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		w.Fatalf("the handshake is answered with %d %v", resp.StatusCode, resp.Header)
	}
	return x
}

// put sends a masked text frame.
func (x *wire) put(text string) {
	x.Helper()
	head := []byte{0x81, 0x80 | 126}
	head = binary.BigEndian.AppendUint16(head, uint16(len(text)))
	_, err := x.conn.Write(append(append(head, 0, 0, 0, 0), text...))
	ok(x, err)
}

// say sends an opcode with its data.
func (x *wire) say(op int, data any) {
	x.Helper()
	text, err := json.Marshal(map[string]any{"op": op, "d": data})
	ok(x, err)
	x.put(string(text))
}

// next returns what the gateway says next.
func (x *wire) next() payload {
	x.Helper()
	var head [2]byte
	if _, err := io.ReadFull(x.r, head[:]); err != nil {
		return payload{Err: err}
	}
	size := uint64(head[1])
	if more := map[uint64]int{126: 2, 127: 8}[size]; more > 0 {
		length := make([]byte, 8)
		if _, err := io.ReadFull(x.r, length[8-more:]); err != nil {
			return payload{Err: err}
		}
		size = binary.BigEndian.Uint64(length)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(x.r, body); err != nil {
		return payload{Err: err}
	}
	switch head[0] & 0x0f {
	case 8:
		return payload{Closed: int(binary.BigEndian.Uint16(body))}
	case 2:
		z, err := zlib.NewReader(bytes.NewReader(body))
		ok(x, err)
		body, err = io.ReadAll(z)
		ok(x, err)
	}
	var p payload
	ok(x, json.Unmarshal(body, &p))
	return p
}

// until returns the next event of that name; what comes before is passed over.
func (x *wire) until(name string) payload {
	x.Helper()
	for {
		p := x.next()
		if p.Name == name {
			return p
		}
		if p.Err != nil || p.Closed != 0 {
			x.Fatalf("waiting for %s, got %+v", name, p)
		}
	}
}

// identify begins a session and returns its id.
func (x *wire) identify(intents int) string {
	x.Helper()
	if p := x.next(); p.Op != 10 {
		x.Fatalf("instead of HELLO came %+v", p)
	}
	x.say(2, args{"token": x.Token(), "intents": intents, "properties": args{}})
	return x.until("READY").str("session_id")
}
