package discordtest_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

func TestNonces(t *testing.T) {
	inBubble(t, discordtest.Options{Limits: generous()}, func(w *world) {
		send := func(channel, text string, nonce any, enforce bool) string {
			w.Helper()
			return w.must(post, "/channels/"+channel+"/messages", args{"content": text, "nonce": nonce, "enforce_nonce": enforce})
		}
		first := send(w.text, "one", "n1", true)
		if again := send(w.text, "other words", "n1", true); again != first {
			w.Errorf("the same nonce made %s after %s", again, first)
		}
		if elsewhere := send(w.thread("t"), "one", "n1", true); elsewhere != first {
			w.Errorf("the same nonce in another place made %s after %s", elsewhere, first)
		}
		if careless := send(w.text, "two", "n1", false); careless == first {
			w.Error("a nonce that isn't enforced kept a message from being sent")
		}
		if number := send(w.text, "three", 7, true); send(w.text, "three", "7", true) != number {
			w.Error("a number isn't the same nonce as its text")
		}
		first = send(w.text, "x", "n2", true)
		time.Sleep(3*time.Minute - time.Second)
		if send(w.text, "x", "n2", true) != first {
			w.Error("forgotten too early")
		}
		time.Sleep(time.Second)
		if send(w.text, "x", "n2", true) == first {
			w.Error("not forgotten after minutes")
		}
		if m := must(w.Message(first)); m.Nonce != "n2" {
			w.Errorf("the nonce is %q", m.Nonce)
		}
	})
}

func TestMentionsAndRinging(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	text := "<@" + w.ada.ID + "> <@!" + w.bob.ID + "> @everyone <@&5> <@404>"
	theirs := said(t)(w.bob.Say(w.text, "x"))
	for _, c := range []struct {
		name    string
		allowed any
		want    []string
	}{
		{"absent", nil, []string{w.ada.ID, w.bob.ID, "role 5", "everyone"}},
		{"nobody", args{"parse": []string{}}, nil},
		{"empty", args{}, nil},
		{"users", args{"parse": []string{"users"}}, []string{w.ada.ID, w.bob.ID}},
		{"everyone", args{"parse": []string{"everyone"}}, []string{"everyone"}},
		{"one", args{"users": []string{w.ada.ID}}, []string{w.ada.ID}},
		{"the answered one", args{"parse": []string{}, "replied_user": true}, []string{w.bob.ID}},
	} {
		body := args{"content": text, "message_reference": args{"message_id": theirs}}
		if c.allowed != nil {
			body["allowed_mentions"] = c.allowed
		}
		m := must(w.Message(w.must(post, "/channels/"+w.text+"/messages", body)))
		slices.Sort(c.want)
		got := slices.Sorted(slices.Values(m.Pings))
		if !slices.Equal(got, c.want) || !m.Rang {
			t.Errorf("%s: pings %v, want %v; rang %v", c.name, got, c.want, m.Rang)
		}
	}
	for _, wrong := range []args{
		{"parse": []string{"friends"}}, {"parse": []string{"users"}, "users": []string{w.ada.ID}}, {"parse": []string{"roles"}, "roles": []string{"5"}},
	} {
		w.refused(post, "/channels/"+w.text+"/messages", args{"content": text, "allowed_mentions": wrong}, 400, 50035, "allowed_mentions")
	}
	w.house.Deny(discordtest.MentionEveryone)
	m := must(w.Message(w.send(w.text, "@everyone")))
	if len(m.Pings) != 0 {
		t.Errorf("without the permission it pings %v", m.Pings)
	}
	before := len(w.Rings())
	quiet := w.must(post, "/channels/"+w.text+"/messages", args{"content": "x", "flags": discordtest.SuppressNotifications | discordtest.SuppressEmbeds})
	if m := must(w.Message(quiet)); m.Rang || m.Flags != discordtest.SuppressNotifications|discordtest.SuppressEmbeds || len(w.Rings()) != before {
		t.Errorf("a silent message rang, or its flags are %d", m.Flags)
	}
	w.must(patch, "/channels/"+w.text+"/messages/"+quiet, args{"content": "<@" + w.ada.ID + ">", "flags": 0})
	if m := must(w.Message(quiet)); len(w.Rings()) != before || m.Flags != discordtest.SuppressNotifications || len(m.Pings) != 0 {
		t.Errorf("an edit rang, or pinged %v, or flags are %d", m.Pings, m.Flags)
	}
}

func TestWhatPeopleSee(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	one, two := w.send(w.text, "one"), w.send(w.text, "two")
	w.must(patch, "/channels/"+w.text+"/messages/"+one, args{"content": "changed"})
	w.must(del, "/channels/"+w.text+"/messages/"+two, nil)
	three := said(t)(w.ada.Reply(w.text, one, " three "))
	ok(t, w.ada.Edit(three, "four"))
	ok(t, w.bob.React(one, "👍"))
	w.must(put, "/channels/"+w.text+"/messages/"+three+"/reactions/👀/@me", nil)
	seen := w.Messages(w.text)
	if len(seen) != 2 || seen[0].Content != "changed" || seen[0].History[0].Content != "one" || seen[0].Reactions[0].Emoji != "👍" ||
		seen[1].Content != "four" || seen[1].ReplyTo != one || seen[1].Reactions[0].User != w.Bot().ID {
		t.Errorf("people see %+v", seen)
	}
	if all := w.History(w.text); len(all) != 3 || all[1].There() {
		t.Errorf("the history is %+v", all)
	}
	if err := w.bob.Edit(three, "mine"); err == nil {
		t.Error("somebody edits another's message")
	}
	ok(t, w.bob.Delete(three))
	ok(t, w.bob.Unreact(one, "👍"))
	w.must(post, "/channels/"+w.text+"/typing", nil)
	if !w.Typing(w.text) {
		t.Error("the bot isn't seen typing")
	}
	w.send(w.text, "done")
	if w.Typing(w.text) {
		t.Error("the bot is seen typing after its message")
	}
	if _, err := w.ada.Say(w.bob.DM().ID, "x"); err == nil {
		t.Error("somebody writes in another's DM")
	}
	dm := w.must(post, "/users/@me/channels", args{"recipient_id": w.ada.ID})
	if dm != w.ada.DM().ID || w.must(post, "/channels/"+dm+"/messages", args{"content": "psst"}) == "" {
		t.Errorf("the DM is %s", dm)
	}
	w.refused(del, "/channels/"+dm, nil, 403, 50003, "DM")
	w.ada.Block()
	w.refused(post, "/channels/"+dm+"/messages", args{"content": "psst"}, 403, 50007, "this user")
}

func TestHistoryPages(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	var ids []string
	for range 7 {
		ids = append(ids, w.send(w.text, "x"))
	}
	for query, want := range map[string][]int{
		"":                           {6, 5, 4, 3, 2, 1, 0},
		"?limit=2":                   {6, 5},
		"?limit=2&after=" + ids[1]:   {3, 2},
		"?limit=3&after=0":           {2, 1, 0},
		"?limit=2&before=" + ids[5]:  {4, 3},
		"?limit=3&around=" + ids[3]:  {4, 3, 2},
		"?limit=50&after=" + ids[6]:  {},
		"?limit=50&before=" + ids[0]: {},
	} {
		var list []struct {
			ID string `json:"id"`
		}
		ok(t, json.Unmarshal(w.call(get, "/channels/"+w.text+"/messages"+query, nil).body, &list))
		got := []int{}
		for _, m := range list {
			got = append(got, slices.Index(ids, m.ID))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestContentNeedsTheIntent(t *testing.T) {
	for _, without := range []bool{false, true} {
		w := newWorld(t, discordtest.Options{Limits: generous(), NoContentIntent: without})
		secret := said(t)(w.ada.Say(w.text, "secret"))
		named := said(t)(w.ada.Say(w.text, "<@"+w.Bot().ID+"> hello"))
		private := said(t)(w.ada.Say(w.ada.DM().ID, "private"))
		read := func(channel, id string) string {
			var m struct {
				Content string `json:"content"`
			}
			ok(t, json.Unmarshal(w.call(get, "/channels/"+channel+"/messages/"+id, nil).body, &m))
			return m.Content
		}
		if got := read(w.text, secret); (got == "") != without {
			t.Errorf("without the intent %v: %q", without, got)
		}
		if read(w.text, named) == "" || read(w.ada.DM().ID, private) != "private" {
			t.Error("what's meant for the bot has no content")
		}
		var app struct {
			Flags int `json:"flags"`
		}
		ok(t, json.Unmarshal(w.call(get, "/oauth2/applications/@me", nil).body, &app))
		if (app.Flags == 0) != without {
			t.Errorf("the application's flags are %d", app.Flags)
		}
	}
}

func TestThreadsAreListed(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	mine := w.thread("mine")
	theirs := said(t)(w.ada.CreateThread(w.text, "theirs"))
	posted := said(t)(w.ada.CreatePost(w.forum, "post", "first words"))
	ok(t, w.ada.Archive(mine))
	ok(t, w.ada.Rename(theirs, "ours"))
	list := func(path string) (ids []string) {
		var found struct {
			Threads []struct {
				ID string `json:"id"`
			} `json:"threads"`
		}
		ok(t, json.Unmarshal(w.call(get, path, nil).body, &found))
		for _, thread := range found.Threads {
			ids = append(ids, thread.ID)
		}
		return ids
	}
	if got := list("/guilds/" + w.house.ID + "/threads/active"); !slices.Equal(got, []string{posted, theirs}) {
		t.Errorf("active are %v", got)
	}
	if got := list("/channels/" + w.text + "/threads/archived/public"); !slices.Equal(got, []string{mine}) {
		t.Errorf("archived are %v", got)
	}
	if got := list("/channels/" + w.text + "/threads/archived/public?limit=1&before=2020-01-01T00:00:00Z"); len(got) != 0 {
		t.Errorf("archived long ago are %v", got)
	}
	// Of a thread, its channel tells; of a new name, the thread.
	if seen := w.Messages(w.text); len(seen) != 2 || seen[0].Kind != 18 || seen[1].Content != "theirs" {
		t.Errorf("the channel shows %+v", seen)
	}
	if seen := w.Messages(theirs); len(seen) != 1 || seen[0].Kind != 4 || seen[0].Content != "ours" {
		t.Errorf("the thread shows %+v", seen)
	}
	w.must(put, "/channels/"+theirs+"/thread-members/@me", nil)
	w.refused(patch, "/channels/"+theirs+"/messages/"+w.Messages(theirs)[0].ID, args{"content": "x"}, 403, 50005, "another")
	said(t)(w.ada.Say(mine, "open again"))
	if must(w.Channel(mine)).Archived {
		t.Error("a person's message didn't reopen the thread")
	}
	ok(t, w.ada.DeleteChannel(w.text))
	if !must(w.Channel(theirs)).DeletedAt.After(time.Time{}) {
		t.Error("a deleted channel left its threads")
	}
}
