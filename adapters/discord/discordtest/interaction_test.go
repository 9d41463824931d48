package discordtest_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

// withCommands registers what the tests of interactions use.
func (w *world) withCommands() {
	w.Helper()
	w.must(put, "/applications/"+w.Bot().ID+"/guilds/"+w.house.ID+"/commands", []args{
		{"name": "stop", "description": "x"},
		{"name": "new", "description": "x", "options": []args{
			{"type": 3, "name": "agent", "description": "x", "required": true, "autocomplete": true},
			{"type": 4, "name": "count", "description": "x"},
			{"type": 11, "name": "file", "description": "x"},
			{"type": 3, "name": "mode", "description": "x", "choices": []args{{"name": "a", "value": "a"}}},
		}},
	})
}

// asked returns an interaction that a person has just sent.
func (w *world) asked(id string, err error) discordtest.Interaction {
	w.Helper()
	ok(w, err)
	return must(w.Interaction(id))
}

func callback(i discordtest.Interaction) string {
	return "/interactions/" + i.ID + "/" + i.Token + "/callback"
}

func (w *world) webhook(i discordtest.Interaction) string {
	return "/webhooks/" + w.Bot().ID + "/" + i.Token
}

func TestInteractionsAreAnsweredInThreeSeconds(t *testing.T) {
	inBubble(t, discordtest.Options{Limits: generous()}, func(w *world) {
		w.withCommands()
		inTime := w.asked(w.ada.Command(w.text, "stop", nil))
		time.Sleep(3*time.Second - time.Millisecond)
		w.must(post, callback(inTime), args{"type": 4, "data": args{"content": "done"}})
		w.refused(post, callback(inTime), args{"type": 4, "data": args{"content": "again"}}, 400, 40060, "already been acknowledged")
		late := w.asked(w.ada.Command(w.text, "stop", nil))
		time.Sleep(3 * time.Second)
		w.refused(post, callback(late), args{"type": 5}, 404, 10062, "Unknown interaction")
		w.refused(post, w.webhook(late), args{"content": "x"}, 404, 10015, "Unknown Webhook")
		if failed := w.Unanswered(); len(failed) != 1 || failed[0].ID != late.ID || failed[0].Person != w.ada.ID {
			w.Errorf("unanswered are %+v", failed)
		}
		if m := w.Messages(w.text)[0]; m.Content != "done" || m.Kind != 20 || !m.Rang {
			w.Errorf("the answer is %+v", m)
		}
	})
}

func TestDeferredAnswers(t *testing.T) {
	inBubble(t, discordtest.Options{Limits: generous()}, func(w *world) {
		w.withCommands()
		i := w.asked(w.ada.Command(w.text, "stop", nil))
		w.must(post, callback(i), args{"type": 5, "data": args{"flags": discordtest.Ephemeral}})
		w.refused(get, w.webhook(i)+"/messages/1", nil, 404, 10008, "Unknown Message")
		thinking := w.SeenBy(w.ada.ID, w.text)[0]
		if thinking.Flags&discordtest.Loading == 0 || thinking.OnlyFor != w.ada.ID || len(w.Messages(w.text)) != 0 || len(w.SeenBy(w.bob.ID, w.text)) != 0 {
			w.Errorf("Ada sees %+v", thinking)
		}
		w.refused(patch, "/channels/"+w.text+"/messages/"+thinking.ID, args{"content": "x"}, 404, 10008, "Unknown Message")
		time.Sleep(15*time.Minute - time.Second)
		w.must(patch, w.webhook(i)+"/messages/@original", args{"content": "at last"})
		w.must(post, w.webhook(i), args{"content": "for all"})
		hidden := w.must(post, w.webhook(i), args{"content": "for her", "flags": discordtest.Ephemeral})
		w.must(patch, w.webhook(i)+"/messages/"+hidden, args{"content": "for Ada"})
		if seen := w.SeenBy(w.ada.ID, w.text); len(seen) != 3 || seen[0].Content != "at last" || seen[0].Rang || seen[2].Content != "for Ada" || len(w.Messages(w.text)) != 1 {
			w.Errorf("Ada sees %+v", seen)
		}
		w.must(del, w.webhook(i)+"/messages/@original", nil)
		w.refused(get, w.webhook(i)+"/messages/@original", nil, 404, 10008, "Unknown Message")
		time.Sleep(time.Second)
		w.refused(post, w.webhook(i), args{"content": "late"}, 401, 50027, "Invalid Webhook Token")
		w.refused(patch, w.webhook(i)+"/messages/"+hidden, args{"content": "late"}, 401, 50027, "Invalid Webhook Token")
	})
}

func TestPressesAndChoices(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	menu := args{"type": 3, "custom_id": "menu", "options": []args{{"label": "A", "value": "a"}, {"label": "B", "value": "b"}}}
	off := button("off")
	off["disabled"] = true
	several := args{"type": 3, "custom_id": "several", "min_values": 2, "max_values": 2, "options": menu["options"]}
	id := w.must(post, "/channels/"+w.text+"/messages", args{"content": "?", "components": []args{row(button("yes"), off), row(menu), row(several)}})
	for name, err := range map[string]error{
		"a missing button":  second(w.ada.Press(id, "no")),
		"a disabled button": second(w.ada.Press(id, "off")),
		"a missing menu":    second(w.ada.Select(id, "other", "a")),
		"a missing value":   second(w.ada.Select(id, "menu", "c")),
		"two values":        second(w.ada.Select(id, "menu", "a", "b")),
		"a value twice":     second(w.ada.Select(id, "several", "a", "a")),
		"too few values":    second(w.ada.Select(id, "several", "a")),
	} {
		if err == nil {
			t.Errorf("%s could be used", name)
		}
	}
	press := w.asked(w.ada.Press(id, "yes"))
	w.must(post, callback(press), args{"type": 7, "data": args{"content": "yes!", "components": []args{}}})
	if m := must(w.Message(id)); m.Content != "yes!" || len(m.Rows) != 0 || press.Name != "yes" || press.Message != id {
		t.Errorf("the message is %+v", m)
	}
	id = w.must(post, "/channels/"+w.text+"/messages", args{"content": "?", "components": []args{row(menu)}})
	choice := w.asked(w.bob.Select(id, "menu", "b"))
	w.must(post, callback(choice), args{"type": 6})
	w.must(patch, w.webhook(choice)+"/messages/@original", args{"content": "b it is"})
	if m := must(w.Message(id)); m.Content != "b it is" || len(m.Rows) != 1 {
		t.Errorf("the message is %+v", m)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWhatAnAnswerMayBe(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	w.withCommands()
	i := w.asked(w.ada.Command(w.text, "stop", nil))
	for _, wrong := range []args{
		{"type": 6}, {"type": 7, "data": args{"content": "x"}}, {"type": 8, "data": args{"choices": []args{}}}, {"type": 4}, {"type": 99},
	} {
		w.refused(post, callback(i), wrong, 400, 50035, "")
	}
	w.refused(post, callback(i), args{"type": 4, "data": args{"content": ""}}, 400, 50006, "empty")
	w.must(post, callback(i), args{"type": 5}) // none of the wrong ones has answered it

	for name, err := range map[string]error{
		"an unknown command": second(w.ada.Command(w.text, "nothing", nil)),
		"a missing option":   second(w.ada.Command(w.text, "new", nil)),
		"a wrong type":       second(w.ada.Command(w.text, "new", map[string]any{"agent": "a", "count": "many"})),
		"a strange option":   second(w.ada.Command(w.text, "new", map[string]any{"agent": "a", "x": "y"})),
		"another choice":     second(w.ada.Command(w.text, "new", map[string]any{"agent": "a", "mode": "b"})),
		"no completion":      second(w.ada.Complete(w.text, "new", "count", "1", nil)),
	} {
		if err == nil {
			t.Errorf("%s could be sent", name)
		}
	}
	said(t)(w.ada.Command(w.text, "new", map[string]any{
		"agent": "claude", "count": 2, "mode": "a", "file": discordtest.Upload{Name: "a.txt", Content: []byte("x")},
	}))
}

func TestCompletion(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	w.withCommands()
	i := w.asked(w.ada.Complete(w.text, "new", "agent", "cl", nil))
	many := make([]args, 26)
	for n := range many {
		many[n] = args{"name": "x", "value": "x"}
	}
	w.refused(post, callback(i), args{"type": 5}, 400, 50035, "type")
	w.refused(post, callback(i), args{"type": 8, "data": args{"choices": many}}, 400, 50035, "choices")
	w.must(post, callback(i), args{"type": 8, "data": args{"choices": []args{{"name": "Claude", "value": "claude"}}}})
	if got := must(w.Interaction(i.ID)); len(got.Choices) != 1 || got.Choices[0].Value != "claude" {
		t.Errorf("the choices are %+v", got.Choices)
	}
}

func TestForms(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	w.withCommands()
	i := w.asked(w.ada.Command(w.text, "stop", nil))
	field := func(id string) args {
		return row(args{"type": 4, "style": 2, "label": "Text", "custom_id": id})
	}
	form := func(rows ...args) args {
		return args{"type": 9, "data": args{"custom_id": "form", "title": "Answer", "components": rows}}
	}
	w.refused(post, callback(i), form(), 400, 50035, "components")
	w.refused(post, callback(i), form(field("a"), field("b"), field("c"), field("d"), field("e"), field("f")), 400, 50035, "components")
	w.refused(post, callback(i), form(row(button("x"))), 400, 50035, "components")
	w.must(post, callback(i), form(field("text")))
	sent := w.asked(w.ada.Submit(i.ID, map[string]string{"text": "free words"}))
	if sent.Name != "form" {
		t.Errorf("the form came as %+v", sent)
	}
	if _, err := w.bob.Submit(i.ID, nil); err == nil {
		t.Error("somebody sends another's form")
	}
	w.refused(post, callback(sent), form(field("text")), 400, 50035, "type")
	w.must(post, callback(sent), args{"type": 4, "data": args{"content": "thanks"}})
}
