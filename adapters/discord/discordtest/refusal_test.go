package discordtest_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

const (
	get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
)

func TestUnknownThings(t *testing.T) {
	w := newWorld(t, discordtest.Options{})
	id := w.send(w.text, "x")
	w.refused(get, "/nothing", nil, 404, 0, "404: Not Found")
	w.refused(put, "/users/@me", nil, 405, 0, "Method Not Allowed")
	w.refused(post, "/channels/1/messages", args{"content": "x"}, 404, 10003, "Unknown Channel")
	w.refused(get, "/channels/1", nil, 404, 10003, "Unknown Channel")
	w.refused(get, "/guilds/1", nil, 404, 10004, "Unknown Guild")
	w.refused(get, "/guilds/"+w.house.ID+"/members/1", nil, 404, 10007, "Unknown Member")
	w.refused(patch, "/channels/"+w.text+"/messages/1", args{"content": "x"}, 404, 10008, "Unknown Message")
	w.refused(del, "/channels/"+w.text+"/messages/1", nil, 404, 10008, "Unknown Message")
	w.refused(get, "/channels/"+w.forum+"/messages/"+id, nil, 404, 10008, "Unknown Message")
	w.refused(put, "/channels/"+w.text+"/messages/"+id+"/reactions/eyes/@me", nil, 400, 10014, "Unknown Emoji")
	w.refused(post, "/webhooks/1/2", args{"content": "x"}, 404, 10015, "Unknown Webhook")
	w.refused(post, "/interactions/1/2/callback", args{"type": 5}, 404, 10062, "Unknown interaction")
	w.refused(get, "/applications/1/commands", nil, 404, 10002, "Unknown Application")
	w.refused(del, "/applications/"+w.Bot().ID+"/commands/1", nil, 404, 10063, "Unknown application command")
	w.refused(post, "/users/@me/channels", args{"recipient_id": "1"}, 400, 50033, "Invalid Recipient")
	if n := len(w.Refusals()); n != 15 {
		t.Errorf("%d refusals are kept, want 15", n)
	}
}

func TestAuthorizationAndVersion(t *testing.T) {
	w := newWorld(t, discordtest.Options{})
	for authorization, want := range map[string]int{"": 401, "Bot wrong": 401, w.Token(): 401, "Bot " + w.Token(): 200} {
		r, err := http.NewRequestWithContext(t.Context(), get, "http://discord.test/api/v10/users/@me", http.NoBody)
		ok(t, err)
		r.Header.Set("Authorization", authorization)
		if a := w.do(r); a.status != want {
			t.Errorf("%q: %d %s, want %d", authorization, a.status, a.body, want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), get, "http://discord.test/api/v8/users/@me", http.NoBody)
	ok(t, err)
	if a := w.do(r); a.status != 400 || a.Code != 50041 {
		t.Errorf("an old version: %d %s", a.status, a.body)
	}
}

func TestMessagesThatCannotBe(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	at := "/channels/" + w.text + "/messages"
	long := strings.Repeat("x", 2000)
	w.must(post, at, args{"content": long})
	w.refused(post, at, args{"content": long + "x"}, 400, 50035, `"errors":{"content":{"_errors":[{`)
	w.refused(post, at, args{"content": strings.Repeat("😀", 1001)}, 400, 50035, "2000 or fewer")
	for _, empty := range []any{args{}, args{"content": ""}, args{"content": " \n\t "}, args{"embeds": []any{}}} {
		w.refused(post, at, empty, 400, 50006, "Cannot send an empty message")
	}
	if id := w.send(w.text, "\n  a\n b \n"); must(w.Message(id)).Content != "a\n b" {
		t.Errorf("white space at the ends stays: %q", must(w.Message(id)).Content)
	}
	w.refused(post, at, args{"content": 7}, 400, 50035, "content")
	w.refused(post, at, args{"content": "x", "flags": 1 << 15}, 400, 50035, "flags")
	w.refused(post, at, args{"content": "x", "nonce": strings.Repeat("n", 26)}, 400, 50035, "nonce")
	w.refused(post, at, args{"content": "x", "message_reference": args{"message_id": "1"}}, 400, 50035, "message_reference")
	w.must(post, at, args{"content": "x", "message_reference": args{"message_id": "1", "fail_if_not_exists": false}})
	w.refused(post, "/channels/"+w.forum+"/messages", args{"content": "x"}, 400, 50008, "non-text")
	w.refused(get, at+"?limit=101", nil, 400, 50035, "limit")
	theirs := said(t)(w.ada.Say(w.text, "mine"))
	w.refused(patch, at+"/"+theirs, args{"content": "x"}, 403, 50005, "another user")
	mine := w.send(w.text, "x")
	w.refused(patch, at+"/"+mine, args{"content": ""}, 400, 50006, "empty")
	w.refused(patch, at+"/"+mine, args{"content": long + "x"}, 400, 50035, "content")
	w.refused(post, at+"/bulk-delete", args{"messages": []string{mine}}, 400, 50016, "between 2 and 100")
	r, err := http.NewRequestWithContext(t.Context(), post, "http://discord.test/api/v9"+at, strings.NewReader("{"))
	ok(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bot "+w.Token())
	if a := w.do(r); a.Code != 50109 {
		t.Errorf("half a body: %d %s", a.status, a.body)
	}
}

// generous are limits that don't get in the way of a test about something else.
func generous() discordtest.Limits {
	l := discordtest.Limits{
		Routes: map[string]discordtest.Window{}, Global: discordtest.Window{Calls: 1 << 20, Per: time.Second},
		Threads: discordtest.Window{Calls: 1 << 20, Per: time.Second}, Renames: discordtest.Window{Calls: 1 << 20, Per: time.Second},
	}
	for _, name := range []string{
		"CreateMessage", "EditMessage", "DeleteMessage", "GetMessages", "GetMessage", "React", "EditChannel", "StartThread", "BulkDelete",
		"DeleteChannel", "Typing", "SetCommands", "CreateCommand", "CreateFollowup", "EditFollowup", "JoinThread", "CreateDM",
	} {
		l.Routes[name] = discordtest.Window{Calls: 1 << 20, Per: time.Second}
	}
	return l
}

func must[T any](value T, known bool) T {
	if !known {
		panic("it isn't there")
	}
	return value
}

func TestEmbedsAreLimited(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	at := "/channels/" + w.text + "/messages"
	text := func(n int) string { return strings.Repeat("x", n) }
	eleven := make([]args, 11)
	for i := range eleven {
		eleven[i] = args{"title": "t"}
	}
	w.must(post, at, args{"embeds": eleven[:10]})
	for name, embeds := range map[string]any{
		"eleven": eleven, "title": []args{{"title": text(257)}}, "description": []args{{"description": text(4097)}},
		"total":  []args{{"description": text(4096)}, {"description": text(1905)}},
		"footer": []args{{"footer": args{"text": text(2049)}}}, "fields": []args{{"fields": []args{{"name": "", "value": "x"}}}},
	} {
		if a := w.call(post, at, args{"embeds": embeds}); a.Code != 50035 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	id := w.must(post, at, args{"embeds": []args{{"description": text(4096)}, {"description": text(1904)}}})
	if m := must(w.Message(id)); len(m.Embeds) != 2 {
		t.Errorf("the message has %d embeds", len(m.Embeds))
	}
}

func row(list ...args) args { return args{"type": 1, "components": list} }

func button(id string) args { return args{"type": 2, "style": 1, "label": id, "custom_id": id} }

func TestComponentsAreLimited(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	at := "/channels/" + w.text + "/messages"
	text := func(n int) string { return strings.Repeat("x", n) }
	var many []args
	for i := range 26 {
		many = append(many, args{"label": text(i + 1), "value": text(i + 1)})
	}
	of := func(options any, more args) args {
		m := args{"type": 3, "custom_id": "menu", "options": options}
		maps.Copy(m, more)
		return m
	}
	menu := func(options any) args { return of(options, nil) }
	for name, list := range map[string][]args{
		"a button alone":    {button("a")},
		"six rows":          {row(button("a")), row(button("b")), row(button("c")), row(button("d")), row(button("e")), row(button("f"))},
		"six buttons":       {row(button("a"), button("b"), button("c"), button("d"), button("e"), button("f"))},
		"an empty row":      {row()},
		"twice the id":      {row(button("a")), row(button("a"))},
		"a long id":         {row(args{"type": 2, "style": 1, "label": "x", "custom_id": text(101)})},
		"no id":             {row(args{"type": 2, "style": 1, "label": "x"})},
		"no label":          {row(args{"type": 2, "style": 1, "custom_id": "x"})},
		"a long label":      {row(args{"type": 2, "style": 1, "label": text(81), "custom_id": "x"})},
		"no style":          {row(args{"type": 2, "label": "x", "custom_id": "x"})},
		"a link with an id": {row(args{"type": 2, "style": 5, "label": "x", "url": "https://example.com", "custom_id": "x"})},
		"26 options":        {row(menu(many))},
		"no options":        {row(menu([]args{}))},
		"a value twice":     {row(menu([]args{many[0], many[0]}))},
		"a menu and more":   {row(menu(many[:2]), button("a"))},
		"a long value":      {row(menu([]args{{"label": "x", "value": text(101)}}))},
		"a long option":     {row(menu([]args{{"label": text(101), "value": "x"}}))},
		"an unnamed option": {row(menu([]args{{"value": "x"}}))},
		"no value":          {row(menu([]args{{"label": "x"}}))},
		"a long detail":     {row(menu([]args{{"label": "x", "value": "x", "description": text(101)}}))},
		"a long hint":       {row(of(many[:2], args{"placeholder": text(151)}))},
		"a menu's long id":  {row(of(many[:2], args{"custom_id": text(101)}))},
		"twice a menu's id": {row(menu(many[:2])), row(menu(many[:2]))},
		"too many at once":  {row(of(many[:2], args{"max_values": 3}))},
		"too many at least": {row(of(many[:2], args{"min_values": 2, "max_values": 1}))},
		"less than none":    {row(of(many[:2], args{"min_values": -1}))},
		"at most none":      {row(of(many[:2], args{"min_values": 0, "max_values": 0}))},
		"too many chosen":   {row(menu([]args{{"label": "a", "value": "a", "default": true}, {"label": "b", "value": "b", "default": true}}))},
	} {
		if a := w.call(post, at, args{"content": "x", "components": list}); a.Code != 50035 || !strings.Contains(string(a.body), "components") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	id := w.must(post, at, args{"content": "x", "components": []args{
		row(button("a"), button("b"), button("c"), button("d"), args{"type": 2, "style": 5, "label": "docs", "url": "https://example.com"}),
		row(menu(many[:25])), row(button("e")), row(button("f")), row(button(text(100)[:80])),
	}})
	if m := must(w.Message(id)); len(m.Rows) != 5 || len(m.Rows[0]) != 5 || len(m.Rows[1][0].Options) != 25 {
		t.Errorf("the message has %+v", m.Rows)
	}
}

func TestPermissions(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	thread, mine, theirs := w.thread("t"), w.send(w.text, "x"), said(t)(w.ada.Say(w.text, "x"))
	in := w.house.TextChannel("agents")
	messages, hello := "/channels/"+w.text+"/messages", args{"content": "x"}
	for _, c := range []struct {
		without      discordtest.Permission
		method, path string
		body         any
	}{
		{discordtest.SendMessages, post, messages, hello},
		{discordtest.SendInThreads, post, "/channels/" + thread + "/messages", hello},
		{discordtest.CreateThreads, post, "/channels/" + w.text + "/threads", args{"name": "x", "type": 11}},
		{discordtest.ManageThreads, del, "/channels/" + thread, nil},
		{discordtest.ManageChannels, patch, "/channels/" + w.text, args{"name": "x"}},
		{discordtest.ManageMessages, del, messages + "/" + theirs, nil},
		{discordtest.EmbedLinks, post, messages, args{"embeds": []args{{"title": "x"}}}},
		{discordtest.ReadHistory, get, messages + "/" + mine, nil},
		{discordtest.AddReactions, put, messages + "/" + mine + "/reactions/👀/@me", nil},
		{discordtest.SendMessages, post, "/channels/" + w.text + "/typing", nil},
		{discordtest.ManageThreads, patch, "/channels/" + thread, args{"locked": true}},
	} {
		in.Deny(c.without)
		w.refused(c.method, c.path, c.body, 403, 50013, "Missing Permissions")
		in.Allow(c.without)
	}
	in.Deny(discordtest.AttachFiles)
	if a := w.upload(messages, "a.txt", "x"); a.Code != 50013 {
		t.Errorf("a file without the permission: %d %s", a.status, a.body)
	}
	in.Deny(discordtest.ReadHistory)
	if a := w.call(get, messages, nil); string(a.body) != "[]" {
		t.Errorf("without the permission the history is %s", a.body)
	}
	in.Deny(discordtest.ViewChannel)
	for _, path := range []string{"/channels/" + w.text, messages, "/channels/" + thread} {
		w.refused(get, path, nil, 403, 50001, "Missing Access")
	}
	w.refused(post, messages, hello, 403, 50001, "Missing Access")
	w.house.Kick()
	w.refused(get, "/guilds/"+w.house.ID, nil, 403, 50001, "Missing Access")
	w.refused(post, "/channels/"+w.forum+"/threads", args{"name": "x", "message": hello}, 403, 50001, "Missing Access")
	w.house.Invite()
	w.must(get, "/guilds/"+w.house.ID, nil)
}

func TestThreadsThatCannotBe(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	threads := "/channels/" + w.text + "/threads"
	w.refused(post, threads, args{"name": "", "type": 11}, 400, 50035, "name")
	w.refused(post, threads, args{"name": strings.Repeat("x", 101), "type": 11}, 400, 50035, "name")
	w.refused(post, threads, args{"name": "x", "type": 11, "auto_archive_duration": 7}, 400, 50035, "auto_archive_duration")
	w.refused(post, threads, args{"name": "x"}, 400, 50035, "type")
	w.refused(post, "/channels/"+w.forum+"/threads", args{"name": "x"}, 400, 50035, "message")
	w.refused(post, "/channels/"+w.forum+"/threads", args{"name": "x", "message": args{"content": ""}}, 400, 50006, "empty")
	inThread := w.thread("t")
	w.refused(post, "/channels/"+inThread+"/threads", args{"name": "x", "type": 11}, 400, 50024, "channel type")
	id := w.send(w.text, "x")
	if of := w.must(post, "/channels/"+w.text+"/messages/"+id+"/threads", args{"name": "of a message"}); of != id {
		t.Errorf("the thread of message %s is %s", id, of)
	}
	w.refused(post, "/channels/"+w.text+"/messages/"+id+"/threads", args{"name": "again"}, 400, 160004, "already")
	ok(t, w.ada.DeleteChannel(inThread))
	w.refused(post, "/channels/"+inThread+"/messages", args{"content": "x"}, 404, 10003, "Unknown Channel")

	few := generous()
	few.ActiveThreads = 1
	v := newWorld(t, discordtest.Options{Limits: few})
	first := v.thread("one")
	v.refused(post, "/channels/"+v.text+"/threads", args{"name": "two", "type": 11}, 400, 160006, "active threads")
	ok(t, v.ada.Archive(first))
	v.thread("two")
}

func TestArchivedAndLockedThreads(t *testing.T) {
	inBubble(t, discordtest.Options{Limits: generous()}, func(w *world) {
		thread := w.thread("t")
		at := "/channels/" + thread
		id := w.send(thread, "x")
		ok(w, w.ada.Archive(thread))
		w.refused(patch, at+"/messages/"+id, args{"content": "y"}, 400, 50083, "archived")
		w.refused(del, at+"/messages/"+id, nil, 400, 50083, "archived")
		w.refused(put, at+"/messages/"+id+"/reactions/👀/@me", nil, 400, 50083, "archived")
		w.refused(patch, at, args{"name": "y"}, 400, 50083, "archived")
		w.refused(patch, at, args{"locked": true}, 400, 50083, "archived")
		w.send(thread, "opens it")
		if must(w.Channel(thread)).Archived {
			w.Error("a message didn't reopen the thread")
		}
		// Locked and archived: only who manages threads gets in.
		ok(w, w.ada.Lock(thread))
		w.house.Deny(discordtest.ManageThreads)
		w.refused(post, at+"/messages", args{"content": "x"}, 403, 160005, "locked")
		ok(w, w.ada.Archive(thread))
		w.refused(post, at+"/messages", args{"content": "x"}, 400, 50083, "archived")
		w.refused(patch, at, args{"archived": false}, 403, 50013, "Permissions")
		if _, err := w.ada.Say(thread, "x"); err == nil {
			w.Error("a person writes into a locked thread")
		}
		w.house.Allow(discordtest.ManageThreads)
		w.send(thread, "a manager may")
		if st := must(w.Channel(thread)); st.Archived || !st.Locked {
			w.Errorf("the thread is %+v", st)
		}
		// Nobody writes for a day.
		time.Sleep(25 * time.Hour)
		if !must(w.Channel(thread)).Archived {
			w.Error("after a day the thread isn't archived")
		}
	})
}

func TestCommandsThatCannotBe(t *testing.T) {
	inBubble(t, discordtest.Options{Limits: generous()}, func(w *world) {
		at := "/applications/" + w.Bot().ID + "/guilds/" + w.house.ID + "/commands"
		option := func(more args) args {
			o := args{"type": 3, "name": "o", "description": "x"}
			maps.Copy(o, more)
			return o
		}
		with := func(options ...args) []args {
			return []args{{"name": "new", "description": "x", "options": options}}
		}
		long := make([]args, 26)
		for i := range long {
			long[i] = option(args{"name": "o" + strings.Repeat("x", i)})
		}
		for name, list := range map[string][]args{
			"capitals":         {{"name": "New", "description": "x"}},
			"a blank":          {{"name": "a b", "description": "x"}},
			"33 letters":       {{"name": strings.Repeat("x", 33), "description": "x"}},
			"no description":   {{"name": "new"}},
			"long description": {{"name": "new", "description": strings.Repeat("x", 101)}},
			"twice":            {{"name": "new", "description": "x"}, {"name": "new", "description": "x"}},
			"26 options":       with(long...),
			"an option twice":  with(option(nil), option(nil)),
			"required last":    with(option(args{"name": "a"}), option(args{"name": "b", "required": true})),
			"choices too":      with(option(args{"autocomplete": true, "choices": []args{{"name": "a", "value": "a"}}})),
			"boolean choices":  with(option(args{"type": 5, "autocomplete": true})),
			"an unknown type":  with(option(args{"type": 99})),
		} {
			if a := w.call(put, at, list); a.Code != 50035 {
				w.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		var hundred []args
		for i := range 101 {
			hundred = append(hundred, args{"name": "c" + strings.Repeat("a", i/26) + string(rune('a'+i%26)), "description": "x"})
		}
		w.refused(put, at, hundred, 400, 30032, "100")
		w.must(put, at, hundred[:100])
		w.refused(post, at, args{"name": "one-more", "description": "x"}, 400, 30032, "100")
		w.must(put, at, hundred[:100]) // the same names cost nothing of the day
		for i := range 100 {
			hundred[i]["name"] = "d" + hundred[i]["name"].(string)
		}
		w.must(put, at, hundred[:100])
		w.refused(put, at, []args{{"name": "new", "description": "x"}}, 400, 30034, "200")
		time.Sleep(24 * time.Hour)
		w.must(put, at, []args{{"name": "new", "description": "x"}})
		if list := w.Commands(w.house.ID); len(list) != 1 || list[0].Name != "new" {
			w.Errorf("the commands are %+v", list)
		}
	})
}
