package discordtest

import (
	"bufio"
	"bytes"
	"crypto/sha1" // RFC 6455 names it; nothing is secured by it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// The kinds of frames (RFC 6455, section 5.2).
const (
	frameContinuation = 0
	frameText         = 1
	frameBinary       = 2
	frameClose        = 8
	framePing         = 9
	framePong         = 10
)

// maxFrame is the most that's read at once: enough to see that it's too much.
const maxFrame = 1 << 20

// frame is a message, or a control frame.
type frame struct {
	op      byte
	payload []byte
}

func closeFrame(code int, reason string) frame {
	return frame{frameClose, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...)}
}

// closeCode is what a close frame says, or 0.
func (f frame) closeCode() int {
	if f.op != frameClose || len(f.payload) < 2 {
		return 0
	}
	return int(binary.BigEndian.Uint16(f.payload))
}

// socket is the server's end of a WebSocket (RFC 6455). It's written here so that
// it isn't the library's idea of one. One goroutine may read while one writes.
type socket struct {
	conn net.Conn
	r    *bufio.Reader
}

// upgrade answers a handshake.
func upgrade(w http.ResponseWriter, r *http.Request) (*socket, error) {
	key := r.Header.Get("Sec-WebSocket-Key")
	raw, err := base64.StdEncoding.DecodeString(key)
	switch {
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"), !strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade"):
		return nil, errors.New("the gateway is a WebSocket: ask for an upgrade")
	case r.Header.Get("Sec-WebSocket-Version") != "13", err != nil, len(raw) != 16:
		return nil, errors.New("the gateway speaks version 13, with a key of 16 bytes")
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("take the connection: %w", err)
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	// The reader that comes with it would end the request's context at the first
	// deadline that passes. What it has read ahead isn't lost.
	ahead := make([]byte, buffered.Reader.Buffered())
	if _, err := io.ReadFull(buffered, ahead); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &socket{conn, bufio.NewReader(io.MultiReader(bytes.NewReader(ahead), conn))}, nil
}

// deadline is until when read waits; zero for ever.
func (k *socket) deadline(t time.Time) { _ = k.conn.SetReadDeadline(t) } // on a closed connection, read says so

// drain reads to the end, or for that long.
func (k *socket) drain(d time.Duration) {
	k.deadline(now().Add(d))
	_, _ = io.Copy(io.Discard, k.r) // the end of a connection is all that's waited for
}

// read returns the next whole message. A close frame is returned with io.EOF.
// Pings and pongs are passed over: the library sends none.
func (k *socket) read() (frame, error) {
	var message frame
	for {
		f, final, err := k.readFrame()
		if err != nil {
			return frame{}, err
		}
		switch f.op {
		case frameClose:
			return f, io.EOF
		case framePing, framePong:
			continue
		case frameContinuation:
			message.payload = append(message.payload, f.payload...)
		default:
			message = f
		}
		if final {
			return message, nil
		}
	}
}

func (k *socket) readFrame() (f frame, final bool, err error) {
	var head [2]byte
	if _, err := io.ReadFull(k.r, head[:]); err != nil {
		return f, false, err
	}
	f.op, final = head[0]&0x0f, head[0]&0x80 != 0
	size := uint64(head[1] & 0x7f)
	if more := map[uint64]int{126: 2, 127: 8}[size]; more > 0 {
		length := make([]byte, 8)
		if _, err := io.ReadFull(k.r, length[8-more:]); err != nil {
			return f, false, err
		}
		size = binary.BigEndian.Uint64(length)
	}
	if head[1]&0x80 == 0 || size > maxFrame {
		return f, false, errors.New("a client's frames are masked, and not that long")
	}
	var mask [4]byte
	if _, err := io.ReadFull(k.r, mask[:]); err != nil {
		return f, false, err
	}
	f.payload = make([]byte, size)
	if _, err := io.ReadFull(k.r, f.payload); err != nil {
		return f, false, err
	}
	for i := range f.payload {
		f.payload[i] ^= mask[i%4]
	}
	return f, final, nil
}

// write sends a frame that's a whole message.
func (k *socket) write(f frame) error {
	head := []byte{0x80 | f.op}
	switch size := len(f.payload); {
	case size < 126:
		head = append(head, byte(size))
	case size < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(size))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(size))
	}
	_, err := k.conn.Write(append(head, f.payload...))
	return err
}
