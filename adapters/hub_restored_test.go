package adapters_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// Behind a restore nothing is sent that chats have seen: neither what was to be sent when the backup was made, nor
// what's read again of what was printed since, of a session that the backup knows and of one that it doesn't. Then
// each goes on, and it's said once that it does, whatever fails at first.
func TestAChatSeesNothingTwiceBehindARestore(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "agent-2", "a:-2"), rule(t, "agent-3", "a:-3")}
		r.start()
		r.begin("pb_1", "agent-1")
		r.begin("pb_2", "agent-2")
		r.print("pb_1", "one")
		r.print("pb_2", "first")
		r.pass(time.Minute)
		r.stop()
		r.print("pb_1", "unsent when it was backed up")
		r.ends("pb_1", "a turn's end")

		var over atomic.Int64
		r.restored = func(context.Context) error {
			if over.Add(1) == 1 {
				return errors.New("the disk is full")
			}
			return nil
		}
		r.start()
		r.pass(time.Second)
		r.print("pb_1", "read again")
		r.print("pb_2", "read again, too")
		r.begin("pb_3", "agent-3") // which the backup doesn't know
		r.print("pb_3", "and all of this")
		r.must(r.reload(r.rules))
		r.must(r.house.End("pb_2", ""))
		r.pass(28 * time.Second)
		if over.Load() != 0 {
			t.Error("it's over too early")
		}
		r.pass(time.Minute)
		if n := over.Load(); n != 2 {
			t.Errorf("it was told %d times that it's over", n)
		}
		r.wantTexts("a", "-1", "one", "first")
		r.wantTexts("a", "-2", "first")
		r.wantTexts("a", "-3")
		r.print("pb_1", "new")
		r.print("pb_3", "here, too")
		r.pass(time.Minute)
		r.wantTexts("a", "-1", "one", "first", "new", "here, too")
		r.wantTexts("a", "-3", "here, too")
	})
}
