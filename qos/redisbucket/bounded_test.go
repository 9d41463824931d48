package redisbucket_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// drawReply draws an answer as Redis writes it.
func drawReply(rt *rapid.T, depth int) []byte {
	kinds := []string{"+", "-", ":", "_", "#", ",", "(", "$", "$-1", "=", "!", "*-1"}
	if depth > 0 {
		kinds = append(kinds, "*", "~", ">", "%", "|")
	}
	kind := rapid.SampledFrom(kinds).Draw(rt, "kind")
	switch kind {
	case "$", "=", "!":
		text := rapid.SampledFrom([]string{"", "x", "\r\n", "*2000000000\r\n", "$3\r\nabc", strings.Repeat("y", 5000)}).Draw(rt, "text")
		return fmt.Appendf(nil, "%s%d\r\n%s\r\n", kind, len(text), text)
	case "*", "~", ">", "%", "|":
		n := rapid.IntRange(0, 4).Draw(rt, "parts")
		out := fmt.Appendf(nil, "%s%d\r\n", kind, n)
		if kind == "%" || kind == "|" {
			n *= 2
		}
		if kind == "|" {
			n++ // what it's about
		}
		for range n {
			out = append(out, drawReply(rt, depth-1)...)
		}
		return out
	case "$-1", "*-1":
		return []byte(kind + "\r\n")
	}
	return []byte(kind + rapid.SampledFrom([]string{"", "1", "OK", "*9"}).Draw(rt, "line") + "\r\n")
}

// What Redis may answer comes through as it is, in whatever pieces; behind it, what would take too much
// room doesn't.
func TestAnswersAreBounded(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		var sent []byte
		for range rapid.IntRange(0, 20).Draw(rt, "answers") {
			sent = append(sent, drawReply(rt, 4)...)
		}
		bad := rapid.SampledFrom([]string{
			"*2000000000\r\n", "%100000000\r\n", "$2000000000\r\n", "*-7\r\n", "$x\r\n", strings.Repeat("*1\r\n", 20),
			"+" + strings.Repeat("x", 70_000), strings.Repeat("*150000\r\n", 2), "*40\r\n" + strings.Repeat("$500000\r\n"+strings.Repeat("z", 500_000)+"\r\n", 40),
		}).Draw(rt, "bad")
		chunk := rapid.SampledFrom([]int{1, 7, 1000, 100_000}).Draw(rt, "bytes at once")
		if len(bad) > 1<<20 {
			chunk = 100_000
		}
		here, there := net.Pipe()
		defer func() { _ = here.Close() }()
		go func() {
			defer func() { _ = there.Close() }()
			for all := append(bytes.Clone(sent), bad...); len(all) > 0; {
				n := min(len(all), chunk)
				if _, err := there.Write(all[:n]); err != nil {
					return
				}
				all = all[n:]
			}
		}()
		_ = here.SetDeadline(time.Now().Add(10 * time.Second))
		got, err := io.ReadAll(redisbucket.Bounded(here))
		if err == nil || !strings.Contains(err.Error(), "its answer") {
			rt.Fatalf("got %d bytes of %d, and %v", len(got), len(sent)+len(bad), err)
		}
		if !bytes.HasPrefix(append(bytes.Clone(sent), bad...), got) {
			rt.Fatalf("what came through isn't what was sent")
		}
		if len(got) < len(sent)-100_000 {
			rt.Fatalf("%d of %d bytes came through: %v", len(got), len(sent), err)
		}
	})
}

// A server that answers with a length of two billion costs a question, and no memory.
func TestAServerThatPromisesTooMuch(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				for in := bufio.NewReader(conn); ; {
					if _, err := in.ReadString('\n'); err != nil {
						return
					}
					if _, err := io.WriteString(conn, "*2000000000\r\n"); err != nil {
						return
					}
				}
			}()
		}
	}()
	client := redisbucket.NewClient(redisbucket.RedisServer{Addrs: []string{l.Addr().String()}, Timeout: time.Second})
	defer func() { _ = client.Close() }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err = client.Get(ctx, "x").Err()
	runtime.ReadMemStats(&after)
	if err == nil || ctx.Err() != nil {
		t.Errorf("the question came out as %v, %v", err, ctx.Err())
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 10<<20 {
		t.Errorf("it took %d MB", grown>>20)
	}
}
