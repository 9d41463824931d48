package discord_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/platformtest"
)

// attacker makes events that should change nothing, and now and then one of the boss's,
// which should.
type attacker struct{ platformtest.Attacker }

type object = platformtest.Object

func (a *attacker) id() string { return fmt.Sprint(int64(1)<<60 + a.Int64N(1<<59)) }

func (a *attacker) text() any {
	return a.Text("/pair ABCD2345", strings.Repeat("A", 4000), "<@"+botID+"> /send ../../etc/passwd", strings.Repeat("<@"+botID, 1000)+strings.Repeat(">", 1000))
}

func (a *attacker) file(id string) object {
	return object{
		"id": id, "filename": a.FileName(), "size": a.Pick(0, 1, 1<<40, int64(1)<<60, -1),
		"url": a.Pick("https://cdn.discordapp.com/attachments/1/2/x", "http://169.254.169.254/x", "file:///etc/passwd", "https://cdn.discordapp.com@evil.example/x"),
	}
}

func person(id string) object { return object{"id": id, "username": "ada"} }

func (a *attacker) stranger() object { return person(a.id()) }

func (a *attacker) message(from any) object {
	m := object{"id": a.id(), "guild_id": house, "channel_id": a.Pick(knownChat, knownThread, knownChat, fmt.Sprint(100+a.IntN(50)), "../x", ""), "author": from, "type": a.Pick(0, 0, 19, 0, 99)}
	if a.IntN(8) == 0 {
		delete(m, "guild_id")
	}
	if a.IntN(4) == 0 {
		m["attachments"] = []any{a.file(a.id()), a.file("../../x"), object{}}
		m["flags"] = a.Pick(0, 1<<13)
	}
	m["content"] = a.text()
	m["mentions"] = []any{person(botID), object{"id": "1", "username": strings.Repeat("<@1>", 100)}}
	return m
}

func (a *attacker) interaction(by object, kind int, data object) object {
	return object{
		"id": a.id(), "application_id": botID, "type": kind, "token": a.Pick("token", "../../channels/1/messages", strings.Repeat("t", 5000), "a b"), "guild_id": house,
		"channel_id": knownChat, "channel": object{"id": knownChat, "type": 0}, "member": object{"user": by}, "data": data,
		"message": object{"id": a.Pick(a.id(), "../x", knownChat)},
	}
}

// aimless is an event that nobody has a right to.
func (a *attacker) aimless() (kind string, data any) {
	switch a.IntN(12) {
	case 0, 1, 2:
		return "MESSAGE_CREATE", a.message(a.stranger())
	case 3:
		m := a.message(a.stranger())
		m["edited_timestamp"] = a.Pick("2026-05-04T12:00:00+00:00", "yesterday", strings.Repeat("9", 10_000))
		return "MESSAGE_UPDATE", m
	case 4: // a forged button, by whoever
		return "INTERACTION_CREATE", a.interaction(a.Pick(a.stranger(), person(boss)).(object), 3, object{
			"component_type": a.Pick(2, 3), "values": []any{"o:0123456789abcdef"},
			"custom_id": a.Button(),
		})
	case 5: // a command of a stranger's
		return "INTERACTION_CREATE", a.interaction(a.stranger(), a.Pick(2, 4).(int), object{"type": 1, "name": a.Pick("new", "send", "pair", "close", "../x", ""), "options": []any{
			object{"name": "folder", "value": a.text(), "focused": true}, object{"name": "code", "value": "ABCD2345"},
		}})
	case 6: // the boss's number, on what isn't the boss
		m := a.message(person(boss))
		m["webhook_id"] = a.id()
		return "MESSAGE_CREATE", m
	case 7:
		return "MESSAGE_CREATE", a.message(object{"id": boss, "username": "boss", "bot": true})
	case 8: // what Discord writes when the boss does something else
		m := a.message(person(boss))
		m["type"] = a.Pick(6, 7, 8, 18, 20, 21)
		return "MESSAGE_CREATE", m
	case 9:
		return a.Pick("THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE").(string), object{
			"id": a.id(), "guild_id": a.Pick(house, a.id(), 7), "type": a.Pick(0, 11, 15), "parent_id": a.Pick(knownChat, a.id(), "../x"),
			"thread_metadata": a.Pick(nil, object{"archived": true, "archive_timestamp": "2026-05-04T12:00:00+00:00", "auto_archive_duration": 60}, object{"locked": 1}),
		}
	case 10:
		return a.Pick("CHANNEL_DELETE", "GUILD_DELETE", "THREAD_LIST_SYNC", "CHANNEL_CREATE").(string), object{"id": a.id(), "guild_id": a.id(), "threads": []any{object{}}}
	default: // a kind that isn't asked for
		return a.Pick("TYPING_START", "PRESENCE_UPDATE", "MESSAGE_REACTION_ADD", "\x00").(string), a.message(person(boss))
	}
}

// event makes the next one.
func (a *attacker) event() (kind string, data []byte) {
	a.Next++
	var v any
	switch a.IntN(40) {
	case 0:
		kind, v = "MESSAGE_CREATE", a.honestly()
	default:
		kind, v = a.aimless()
		if a.IntN(5) == 0 && !strings.Contains(fmt.Sprint(v), boss) {
			for range 1 + a.IntN(3) {
				v = a.Distorted(v, a.text())
			}
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return kind, raw
}

// honestly is a message of the boss's.
func (a *attacker) honestly() any {
	text, file := a.Wish()
	now := uint64(time.Now().UnixMilli()-1_420_070_400_000) << 22
	m := object{"id": fmt.Sprint(now + uint64(a.Next%4096)), "guild_id": house, "channel_id": knownThread, "author": person(boss), "content": text}
	if file {
		m["attachments"] = []any{object{"id": "7", "filename": a.FileName(), "size": 7, "url": "https://cdn.discordapp.com/attachments/1/2/x"}}
	}
	return m
}
