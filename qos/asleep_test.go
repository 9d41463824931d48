package qos_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// A document whose lines can't be shown yet is asked again when it said, in its class,
// in every mode; earlier if there are further lines. Nothing of it counts as reached,
// and its slots go to others.
func TestAgain(t *testing.T) {
	for _, mode := range []qos.Mode{qos.Off, qos.CoalesceOnly, qos.Strict} {
		for _, final := range []bool{false, true} {
			t.Run(mode.String()+" "+map[bool]string{false: "stream", true: "final"}[final], func(t *testing.T) {
				inArena(t, qos.Options{Mode: mode}, nil, func(a *arena) {
					until := time.Now().Add(5 * time.Second)
					a.answers(func(call qos.Call) *qos.CallResult {
						if call.Doc == "doc" && time.Now().Before(until) && call.Wanted < 7 {
							return &qos.CallResult{Outcome: qos.Unchanged, Again: until}
						}
						return nil
					})
					a.open("doc", group)
					a.want("doc", 3, final)
					a.pass(4 * time.Second)
					mine := func(g grant) bool { return g.Doc == "doc" }
					if n := len(a.made(mine)); n != 1 {
						t.Errorf("%d calls before its time", n)
					}
					a.post(group, "other", qos.Interactive)
					a.pass(900 * time.Millisecond)
					if n := len(a.made(nil)); n != 2 {
						t.Error("another call of the chat waits with it")
					}
					a.pass(10 * time.Second)
					calls := a.made(mine)
					if len(calls) != 2 || calls[1].at < 5*time.Second || calls[1].Wanted != 3 || (calls[1].Class == qos.Final) != final {
						t.Fatalf("calls: %+v", calls)
					}
					until = time.Now().Add(time.Hour)
					a.want("doc", 4, final)
					a.pass(20 * time.Second)
					a.want("doc", 7, false)
					a.pass(20 * time.Second)
					if calls = a.made(mine); len(calls) != 4 || calls[3].Wanted != 7 || (calls[3].Class == qos.Final) != final {
						t.Errorf("calls: %+v, want one when there are further lines", calls)
					}
				})
			})
		}
	}
}
