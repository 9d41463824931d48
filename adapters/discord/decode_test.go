package discord_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/intake"
)

// kept is an event as the journal has it.
func kept(kind, parent, data string) []byte {
	raw, err := json.Marshal(map[string]any{"t": kind, "key": "k1", "bot": "99", "parent": parent, "d": json.RawMessage(data)})
	if err != nil {
		panic(err)
	}
	return raw
}

const who = `"author":{"id":"7","username":"ada","global_name":"Ada"}`

// The id of what was made on 2026-05-04 at 12:00 UTC.
const at = "1500829345382400000"

func TestDecode(t *testing.T) {
	in := func(channel string) adapters.Target { return target(channel, "") }
	for _, c := range []struct {
		name, kind, parent, data string
		place                    adapters.Target
		action                   intake.Action // nil: nothing comes of it
	}{
		{"a message", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","guild_id":"1","type":0,` + who + `,"content":"hi"}`, in("5"), intake.Said{Text: "hi"}},
		{"in a thread", "MESSAGE_CREATE", "4", `{"id":"` + at + `","channel_id":"5","guild_id":"1","type":0,` + who + `,"content":"hi"}`, target("4", "5"), intake.Said{Text: "hi"}},
		{"a reply", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":19,` + who + `,"content":"hi","message_reference":{"type":0,"message_id":"3"}}`, in("5"), intake.Said{Text: "hi", ReplyTo: "3"}},
		{
			"a reply to a person", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":19,` + who + `,"content":"hi","message_reference":{"type":0,"message_id":"3"},
				"referenced_message":{"id":"3","author":{"id":"8"},"content":"use **Go**, <@8>\\_","mentions":[{"id":"8","username":"bob"}]}}`, in("5"),
			intake.Said{Text: "hi", ReplyTo: "3", Quoted: intake.Quoted{Text: "use **Go**, @bob\\_"}},
		},
		{
			"a reply to the bot", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":19,` + who + `,"content":"hi","message_reference":{"type":0,"message_id":"3"},
				"referenced_message":{"id":"3","author":{"id":"99","bot":true},"content":"3 \\*tests\\*:\n` + "```" + `ansi\na\\_b\n` + "```" + `\nc\\\\d"}}`, in("5"),
			intake.Said{Text: "hi", ReplyTo: "3", Quoted: intake.Quoted{Text: "3 *tests*:\na\\_b\nc\\d", Ours: true}},
		},
		{
			"a reply to what's gone", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":19,` + who + `,"content":"hi","message_reference":{"type":0,"message_id":"3"},"referenced_message":null}`, in("5"),
			intake.Said{Text: "hi", ReplyTo: "3"},
		},
		{
			"an edited reply", "MESSAGE_UPDATE", "", `{"id":"` + at + `","channel_id":"5","type":19,` + who + `,"content":"ho","edited_timestamp":"2026-05-04T12:00:00+00:00","message_reference":{"type":0,"message_id":"3"},
				"referenced_message":{"id":"3","author":{"id":"8"},"content":"use Go"}}`, in("5"), intake.Edited{Text: "ho", ReplyTo: "3", Quoted: intake.Quoted{Text: "use Go"}},
		},
		{"that the bot pinned", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":6,"author":{"id":"99","bot":true},"content":""}`, in("5"), intake.Remarked{}},
		{"that the bot began a thread", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":18,"author":{"id":"99","bot":true},"content":"api"}`, in("5"), intake.Remarked{}},
		{"that the bot renamed a thread", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":4,"author":{"id":"99","bot":true},"content":"api"}`, in("5"), nil},
		{"passed on", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"","message_reference":{"type":1,"message_id":"3"}}`, in("5"), nil},
		{
			"passed on with what's in it", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"","message_reference":{"type":1,"message_id":"3"},
				"message_snapshots":[{"message":{"content":"/close <@8>","mentions":[{"id":"8","username":"bob"}],"attachments":[{"id":"6","filename":"a.png","size":9,"url":"https://u"}]}}]}`, in("5"),
			intake.Said{Text: "//close @bob", Files: []intake.Attachment{{ID: "5 " + at + " 6 https://u", Name: "a.png", Kind: intake.FileDocument, Size: 9}}},
		},
		{
			"a voice message that's passed on", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"","flags":16384,"message_reference":{"type":1,"message_id":"3"},
				"message_snapshots":[{"message":{"content":"","flags":8192,"attachments":[{"id":"6","filename":"voice-message.ogg","size":9,"url":"https://u"}]}}]}`, in("5"),
			intake.Said{Files: []intake.Attachment{{ID: "5 " + at + " 6 https://u", Kind: intake.FileVoice, Size: 9}}},
		},
		{"to the bot", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"<@99> /new  x"}`, in("5"), intake.Said{Text: "/new  x"}},
		{"about the bot", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"ask <@!99> now<@99>"}`, in("5"), intake.Said{Text: "ask now"}},
		{"about others", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"ask <@8> and <@9>","mentions":[{"id":"8","username":"bob"}]}`, in("5"), intake.Said{Text: "ask @bob and <@9>"}},
		{"only a mention", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"<@99>"}`, in("5"), nil},
		{"a command for the session", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"//help"}`, in("5"), intake.Said{Text: "//help"}},
		{
			"a file", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"","attachments":[{"id":"6","filename":"../a.png","size":9,"url":"https://u"}]}`, in("5"),
			intake.Said{Files: []intake.Attachment{{ID: "5 " + at + " 6 https://u", Name: "../a.png", Kind: intake.FileDocument, Size: 9}}},
		},
		{
			"a voice message", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,"flags":8192,` + who + `,"content":"","attachments":[{"id":"6","filename":"voice-message.ogg","size":9,"url":"https://u"}]}`, in("5"),
			intake.Said{Files: []intake.Attachment{{ID: "5 " + at + " 6 https://u", Kind: intake.FileVoice, Size: 9}}},
		},
		{"a bot's", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,"author":{"id":"7","bot":true},"content":"hi"}`, in("5"), nil},
		{"a webhook's", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":0,"webhook_id":"8",` + who + `,"content":"hi"}`, in("5"), nil},
		{"Discord's own", "MESSAGE_CREATE", "", `{"id":"` + at + `","channel_id":"5","type":6,` + who + `,"content":"hi"}`, in("5"), nil},
		{"edited", "MESSAGE_UPDATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"ho","edited_timestamp":"2026-05-04T12:00:00+00:00"}`, in("5"), intake.Edited{Text: "ho"}},
		{"a preview came", "MESSAGE_UPDATE", "", `{"id":"` + at + `","channel_id":"5","type":0,` + who + `,"content":"ho","edited_timestamp":null}`, in("5"), nil},
		{"half an update", "MESSAGE_UPDATE", "", `{"id":"` + at + `","channel_id":"5","embeds":[]}`, in("5"), nil},

		{"a thread closed", "THREAD_UPDATE", "", `{"id":"5","type":11,"parent_id":"4","last_message_id":"` + at + `","thread_metadata":{"archived":true,"archive_timestamp":"2026-05-04T12:30:00+00:00","auto_archive_duration":60}}`, target("4", "5"), intake.ThreadClosed{}},
		{"a thread put away", "THREAD_UPDATE", "", `{"id":"5","type":11,"parent_id":"4","last_message_id":"` + at + `","thread_metadata":{"archived":true,"archive_timestamp":"2026-05-04T13:00:01+00:00","auto_archive_duration":60}}`, target("4", "5"), nil},
		{"and locked", "THREAD_UPDATE", "", `{"id":"5","type":11,"parent_id":"4","last_message_id":"` + at + `","thread_metadata":{"archived":true,"locked":true,"archive_timestamp":"2026-05-04T13:00:01+00:00","auto_archive_duration":60}}`, target("4", "5"), intake.ThreadClosed{}},
		{"a thread locked", "THREAD_UPDATE", "", `{"id":"5","type":12,"parent_id":"4","thread_metadata":{"locked":true}}`, target("4", "5"), intake.ThreadClosed{}},
		{"a thread opened", "THREAD_UPDATE", "", `{"id":"5","type":10,"parent_id":"4","thread_metadata":{"archived":false}}`, target("4", "5"), intake.ThreadOpened{}},
		{"no thread", "THREAD_UPDATE", "", `{"id":"5","type":0,"parent_id":"4"}`, in("5"), nil},
		{"a thread deleted", "THREAD_DELETE", "", `{"id":"5","type":11,"parent_id":"4","guild_id":"1"}`, target("4", "5"), intake.ThreadDeleted{}},
		{"a channel deleted", "CHANNEL_DELETE", "", `{"id":"5","type":0,"guild_id":"1"}`, in("5"), intake.ChatLost{Why: "The channel was deleted, or the bot may not see it any more."}},

		{"a command", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":2,"token":"t","guild_id":"1","channel_id":"5","channel":{"id":"5","type":11,"parent_id":"4"},"member":{"user":{"id":"7"},"nick":"A"},
			"data":{"type":1,"name":"history","options":[{"name":"lines","value":20.0},{"name":"session","value":"x"}]}}`, target("4", "5"), intake.Said{Text: "/history x 20"}},
		{"a command of a later version", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":2,"token":"t","channel_id":"5","user":{"id":"7"},"data":{"type":1,"name":"dance","options":[{"name":"b","value":true},{"name":"a","value":"x y"}]}}`, in("5"), intake.Said{Text: "/dance x y"}},
		{"a menu of a message's", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":2,"token":"t","channel_id":"5","user":{"id":"7"},"data":{"type":3,"name":"x"}}`, in("5"), nil},
		{"a button", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":3,"token":"t","channel_id":"5","user":{"id":"7"},"message":{"id":"3"},"data":{"component_type":2,"custom_id":"o:1"}}`, in("5"), intake.Pressed{Data: "o:1", Token: "9 t", Stays: true}},
		{"a menu", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":3,"token":"t","channel_id":"5","user":{"id":"7"},"message":{"id":"3"},"data":{"component_type":3,"custom_id":"s1","values":["o:2"]}}`, in("5"), intake.Pressed{Data: "o:2", Token: "9 t", Stays: true}},
		{"several of a menu", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":3,"token":"t","channel_id":"5","user":{"id":"7"},"message":{"id":"3"},"data":{"component_type":3,"custom_id":"m:o:2","values":["4","0"]}}`, in("5"), intake.Pressed{Data: "o:2", Token: "9 t", Stays: true, Chosen: []string{"4", "0"}}},
		{"nothing of a menu", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":3,"token":"t","channel_id":"5","user":{"id":"7"},"message":{"id":"3"},"data":{"component_type":3,"custom_id":"m:o:2","values":[]}}`, in("5"), intake.Pressed{Data: "o:2", Token: "9 t", Stays: true, Chosen: []string{}}},
		{"a bot's button", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":3,"token":"t","channel_id":"5","user":{"id":"7","bot":true},"message":{"id":"3"},"data":{"component_type":2,"custom_id":"o:1"}}`, in("5"), nil},
		{"a form", "INTERACTION_CREATE", "", `{"id":"` + at + `","application_id":"9","type":5,"token":"t","channel_id":"5","user":{"id":"7"},"data":{"custom_id":"x"}}`, in("5"), nil},
		{"what nobody reads", "TYPING_START", "", `{"id":"` + at + `"}`, in("5"), nil},
	} {
		e, ok, err := decoder.Decode(kept(c.kind, c.parent, c.data))
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case ok != (c.action != nil):
			t.Errorf("%s: came %+v", c.name, e)
		case ok && (!reflect.DeepEqual(e.Action, c.action) || e.Place != c.place || e.Key != "discord:k1"):
			t.Errorf("%s: came %+v, want %+v at %s", c.name, e, c.action, c.place)
		}
	}
}

// What's said is somebody's, at a time; names are as people show themselves.
func TestDecodeWhoAndWhen(t *testing.T) {
	e, _, err := decoder.Decode(kept("MESSAGE_CREATE", "", `{"id":"`+at+`","channel_id":"5","guild_id":"1","author":{"id":"7","username":"ada","global_name":"Ada"},"member":{"nick":"Countess"},"content":"hi"}`))
	if err != nil || e.Person != (intake.Person{ID: "discord:7", Name: "Countess"}) || e.Private || e.At.UTC().Format("2006-01-02 15:04") != "2026-05-04 12:00" || e.Message != at {
		t.Errorf("came %+v, %v", e, err)
	}
	e, _, err = decoder.Decode(kept("MESSAGE_CREATE", "", `{"id":"`+at+`","channel_id":"5",`+who+`,"content":"hi"}`))
	if err != nil || e.Person.Name != "Ada" || !e.Private {
		t.Errorf("came %+v, %v", e, err)
	}
	// A private chat of others, into which somebody has brought the application, isn't one
	// with the bot.
	for context, private := range map[string]bool{``: true, `"context":1,`: true, `"context":2,`: false} {
		e, _, err = decoder.Decode(kept("INTERACTION_CREATE", "", `{"id":"1","application_id":"9","type":2,"token":"t",`+context+`"channel_id":"5","user":{"id":"7"},"data":{"type":1,"name":"pair"}}`))
		if err != nil || e.Private != private {
			t.Errorf("with %q came %+v, %v", context, e, err)
		}
	}
}

// What can't be read is an error without any of it.
func TestDecodeWhatCannotBeRead(t *testing.T) {
	for _, raw := range [][]byte{
		nil, []byte("secret"), []byte(`{"t":"MESSAGE_CREATE"}`), kept("MESSAGE_CREATE", "", `{}`), kept("MESSAGE_CREATE", "", `{"id":"../secret","channel_id":"5"}`),
		kept("MESSAGE_CREATE", "", `{"id":"1","channel_id":"secret"}`), kept("MESSAGE_CREATE", "secret", `{"id":"1","channel_id":"5"}`), kept("MESSAGE_CREATE", "", `{"id":1,"content":"secret"}`),
		kept("INTERACTION_CREATE", "", `{"id":"1","application_id":"9","type":3,"token":"../secret","channel_id":"5"}`), kept("INTERACTION_CREATE", "", `{"id":"1","application_id":"9","type":3,"token":"..","channel_id":"5"}`),
		[]byte(`{"t":"MESSAGE_CREATE","key":"k","d":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`),
	} {
		if e, ok, err := decoder.Decode(raw); err == nil || ok || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60s came as %+v, %v", raw, e, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(kept("MESSAGE_CREATE", "4", `{"id":"`+at+`","channel_id":"5","type":0,`+who+`,"content":"<@99> hi"}`))
	f.Add(kept("INTERACTION_CREATE", "", `{"id":"`+at+`","application_id":"9","type":3,"token":"t","channel_id":"5","user":{"id":"7"},"message":{"id":"3"},"data":{"component_type":3,"values":["o:2"]}}`))
	f.Add(kept("THREAD_UPDATE", "", `{"id":"5","type":11,"parent_id":"4","thread_metadata":{"archived":true}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, ok, err := decoder.Decode(raw)
		if !ok || err != nil {
			return
		}
		again, ok, err := decoder.Decode(raw)
		if !ok || err != nil || !reflect.DeepEqual(e, again) {
			t.Errorf("the same came as %+v and %+v", e, again)
		}
		if e.Place.Adapter != discord.Name || e.Key == "" {
			t.Errorf("came %+v", e)
		}
	})
}

// Each command fits Discord's rules, and its parameters make the line that it reads.
func TestCommandsFit(t *testing.T) {
	for _, c := range commands.Commands() {
		if (c.Args == "") != (len(c.Params) == 0) && !strings.Contains("stop esc", c.Name) {
			t.Errorf("/%s has %d parameters, and reads %q", c.Name, len(c.Params), c.Args)
		}
		var options []string
		for i, p := range c.Params {
			if p.Name != strings.ToLower(p.Name) || len(p.Name) > 32 || p.Help == "" || len(p.Help) > 100 || len(p.Choices) > 25 {
				t.Errorf("/%s has the parameter %+v", c.Name, p)
			}
			options = append([]string{fmt.Sprintf(`{"name":%q,"value":"v%d"}`, p.Name, i)}, options...)
		}
		e, _, err := decoder.Decode(kept("INTERACTION_CREATE", "", `{"id":"1","application_id":"9","type":2,"token":"t","channel_id":"5","user":{"id":"7"},"data":{"type":1,"name":"`+c.Name+`","options":[`+strings.Join(options, ",")+`]}}`))
		want := "/" + c.Name
		for i := range c.Params {
			want += fmt.Sprintf(" v%d", i)
		}
		if said, ok := e.Action.(intake.Said); err != nil || !ok || said.Text != want {
			t.Errorf("/%s came as %+v, %v", c.Name, e, err)
		}
	}
}
