package telegram_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platformtest"
)

// attacker makes updates that should change nothing, and now and then one of the
// boss's, which should.
type attacker struct {
	platformtest.Attacker
	seeds [][]byte
}

func (a *attacker) text() any {
	return a.Text("/pair 000000", strings.Repeat("A", 4096), "/pair@panebridge_bot "+fmt.Sprint(a.IntN(1e6)), "/start "+strings.Repeat("x", 64))
}

func (a *attacker) size() any { return a.Pick(0, 1, 1<<30, int64(1)<<52, -1) }

func person(id int64) map[string]any {
	return map[string]any{"id": id, "is_bot": false, "first_name": "Ada"}
}

func (a *attacker) stranger() map[string]any { return person(1 + a.Int64N(1<<33)) }

func (a *attacker) chat() map[string]any {
	if a.IntN(2) == 0 {
		return map[string]any{"id": knownChat, "type": "supergroup", "is_forum": true}
	}
	id := 1 + a.Int64N(1<<33)
	return map[string]any{"id": id, "type": "private"}
}

func (a *attacker) message(from map[string]any) map[string]any {
	m := map[string]any{"message_id": 1 + a.IntN(1000), "date": time.Now().Unix(), "chat": a.chat(), "from": from}
	if a.IntN(2) == 0 {
		m["is_topic_message"], m["message_thread_id"] = true, 1+a.IntN(50)
	}
	switch a.IntN(4) {
	case 0:
		m["document"] = map[string]any{"file_id": "f", "file_name": a.FileName(), "file_size": a.size()}
		m["caption"] = a.text()
	case 1:
		m["photo"] = []any{map[string]any{"file_id": "p", "width": 1 << 30, "height": 1 << 30, "file_size": a.size()}}
	default:
		m["text"] = a.text()
	}
	return m
}

// aimless is an update that nobody has a right to.
func (a *attacker) aimless() any {
	bossly := person(boss)
	switch a.IntN(8) {
	case 0, 1:
		return map[string]any{"message": a.message(a.stranger())}
	case 2:
		return map[string]any{"edited_message": a.message(a.stranger())}
	case 3: // a forged button, by whoever
		return map[string]any{"callback_query": map[string]any{
			"id": fmt.Sprint(a.Int64()), "from": a.Pick(a.stranger(), bossly), "message": a.message(nil),
			"data": a.Button(),
		}}
	case 4: // the boss's number, on what isn't the boss
		m := a.message(bossly)
		m["sender_chat"] = map[string]any{"id": knownChat, "type": "supergroup"}
		return map[string]any{"message": m}
	case 5:
		m := a.message(map[string]any{"id": boss, "is_bot": true, "first_name": "Boss"})
		return map[string]any{"message": m}
	case 6: // a kind that isn't asked for
		return map[string]any{a.Pick("channel_post", "business_message", "guest_message").(string): a.message(bossly)}
	default:
		return map[string]any{"my_chat_member": map[string]any{"chat": a.chat(), "from": a.stranger(), "date": 1, "new_chat_member": map[string]any{
			"status": a.Pick("kicked", "left", "member", 7), "user": a.Pick(person(7000000001), a.stranger()),
		}}}
	}
}

// update makes the next one.
func (a *attacker) update() intake.Update {
	a.Next++
	key := fmt.Sprint(a.Next)
	switch a.IntN(10) {
	case 0: // any bytes, of what Telegram would send
		return intake.Update{Key: key, Raw: a.mutated()}
	case 1: // known updates, with values of another kind
		return intake.Update{Key: key, Raw: a.distorted()}
	case 2:
		if a.IntN(10) == 0 {
			return intake.Update{Key: key, Raw: a.honestly()}
		}
	case 3: // again
		key = fmt.Sprint(1 + a.Int64N(a.Next))
	}
	return intake.Update{Key: key, Raw: a.numbered(a.aimless())}
}

func (a *attacker) numbered(update any) []byte {
	whole, ok := update.(map[string]any)
	if !ok {
		panic("an update is an object")
	}
	whole["update_id"] = a.Next
	raw, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return raw
}

// honestly is an update of the boss's.
func (a *attacker) honestly() []byte {
	text, file := a.Wish()
	m := map[string]any{
		"message_id": a.Next, "date": time.Now().Unix(), "chat": map[string]any{"id": knownChat, "type": "supergroup"}, "from": person(boss),
		"message_thread_id": 5, "is_topic_message": true,
	}
	if file {
		m["document"], m["caption"] = map[string]any{"file_id": "f", "file_name": a.FileName(), "file_size": 7}, text
	} else {
		m["text"] = text
	}
	return a.numbered(map[string]any{"message": m})
}

func (a *attacker) mutated() []byte {
	raw := slices.Clone(a.seeds[a.IntN(len(a.seeds))])
	for range 1 + a.IntN(8) {
		if len(raw) == 0 {
			break
		}
		i := a.IntN(len(raw))
		switch a.IntN(4) {
		case 0:
			raw[i] = byte(a.IntN(256))
		case 1:
			raw = raw[:i]
		case 2:
			raw = slices.Delete(raw, i, min(len(raw), i+a.IntN(20)))
		default:
			raw = slices.Insert(raw, i, raw[:a.IntN(min(len(raw), 200))]...)
		}
	}
	return raw
}

// distorted changes values in the tree of an update.
func (a *attacker) distorted() []byte {
	var tree any
	if err := json.Unmarshal(a.seeds[a.IntN(len(a.seeds))], &tree); err != nil {
		panic(err)
	}
	for range 1 + a.IntN(3) {
		tree = a.Distorted(tree, a.text())
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return raw
}
