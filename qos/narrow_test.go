package qos_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// TestNarrowPenalty: an order that surely means one family in one chat silences that and
// nothing else, however long it is and however many chats get one at the same time.
func TestNarrowPenalty(t *testing.T) {
	for _, narrow := range []bool{false, true} {
		inArena(t, qos.Options{Limits: qostest.BurstLimits()}, nil, func(a *arena) {
			a.outcome = func(call qos.Call) *qos.CallResult {
				if call.Family == qos.FamilyRename && a.now() < time.Minute {
					return &qos.CallResult{Outcome: qos.Throttled, RetryAfter: 10 * time.Minute, Narrow: narrow}
				}
				return nil
			}
			for i := range 4 {
				chat := qos.ChatKey(fmt.Sprint("c", i))
				a.feed(docID(i), chat)
				if err := a.sched.PostRequest(qos.Request{Chat: chat, Key: "name", Class: qos.Stream, Family: qos.FamilyRename}); err != nil {
					t.Fatal(err)
				}
			}
			a.pass(9 * time.Minute)
			renames := len(a.made(func(g grant) bool { return g.Family == qos.FamilyRename }))
			late := len(a.made(func(g grant) bool { return g.Doc != "" && g.at > time.Minute }))
			if want := map[bool]bool{false: false, true: true}[narrow]; (late > 100) != want || renames > 4 {
				t.Errorf("narrow %v: %d renames, %d calls for documents after a minute", narrow, renames, late)
			}
			a.pass(2 * time.Minute)
			if n := len(a.made(func(g grant) bool { return g.Family == qos.FamilyRename })); narrow && n != 8 {
				t.Errorf("%d renames, want four that were refused and four later", n)
			}
		})
	}
}

// TestADocumentMoves: a call of a document may say that the next ones fall under another
// key. Nothing of what it waits for is lost, its flush neither.
func TestADocumentMoves(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.latency = always(2 * time.Second)
		a.outcome = func(call qos.Call) *qos.CallResult {
			if call.Doc == "mover" && call.Chat == group {
				return &qos.CallResult{Outcome: qos.Delivered, Chat: "thread", More: true}
			}
			return nil
		}
		a.open("mover", group)
		a.open("stayer", group)
		a.want("mover", 3, true)
		a.want("stayer", 5, false)
		a.pass(time.Second)
		a.want("mover", 4, false) // while the call is under way that moves it
		a.sched.Close("mover", qos.Flush)
		a.pass(time.Minute)
		var chats []qos.ChatKey
		for _, g := range a.made(func(g grant) bool { return g.Doc == "mover" }) {
			chats = append(chats, g.Chat)
			if g.Chat == "thread" && (g.Wanted != 4 || g.Final != 3 || g.Delivered != 0) {
				t.Errorf("in the new chat it's asked for %+v", g.Call)
			}
		}
		if len(chats) != 2 || chats[0] != group || chats[1] != "thread" {
			t.Errorf("the calls went to %v", chats)
		}
		if ev := a.seen(qos.DocClosed); len(ev) != 1 || ev[0].Doc != "mover" {
			t.Errorf("closed: %+v", ev)
		}
		if n := len(a.made(func(g grant) bool { return g.Doc == "stayer" && g.Chat == group })); n != 1 {
			t.Errorf("the other document has %d calls", n)
		}
		a.pass(2 * time.Hour)
		for _, c := range a.snapshot().Chats {
			if c.Chat == "thread" {
				t.Errorf("the chat that's empty again is kept: %+v", c)
			}
		}
	})
}
