package qos_test

import (
	"fmt"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Updates of a document aren't queued: while a call is under way three come, and the next call shows
// them all. What somebody has asked for goes first.
func ExampleSlotEngine() {
	limits := qos.Limits{ // as the platform has them
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		Group:   qos.Limit{Windows: []qos.Window{{Calls: 20, Per: time.Minute}}, Gap: time.Second},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}}, Gap: time.Second},
	}
	engine, err := qos.NewSlotEngine(qos.Options{Seed: 1, Limits: limits}, qos.NewLocalBudget(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	began := now
	engine.Open(now, qos.Doc{ID: "build", Chat: "-100", Session: "build"})
	engine.Want(now, "build", 1, false)
	for range 3 {
		calls := engine.Advance(now)
		for len(calls) == 0 {
			now = engine.NextLook()
			calls = engine.Advance(now)
		}
		call := calls[0].Call
		if after := now.Sub(began).Round(time.Second); call.Key != "" {
			fmt.Printf("after %v, %s: %s\n", after, call.Class, call.Key)
		} else {
			fmt.Printf("after %v, %s: lines %d to %d\n", after, call.Class, call.Delivered+1, call.Wanted)
		}
		if call.Wanted == 1 { // while it's under way
			for line := range int64(3) {
				engine.Want(now, "build", 2+line, false)
			}
			if err := engine.PostRequest(now, qos.Request{Chat: "-100", Key: "reply to /status"}); err != nil {
				fmt.Println(err)
			}
		}
		now = now.Add(300 * time.Millisecond)
		engine.Finish(now, calls[0], qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted}, now)
	}
	// Output:
	// after 0s, stream: lines 1 to 1
	// after 1s, interactive: reply to /status
	// after 6s, stream: lines 2 to 4
}
