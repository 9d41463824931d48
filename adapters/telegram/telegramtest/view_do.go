package telegramtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// deed is what somebody does in the page.
type deed struct {
	Person  int64  `json:"person"`
	Chat    int64  `json:"chat"`
	Thread  int    `json:"thread"`
	Message int    `json:"message"`
	Text    string `json:"text"`
}

// do does it, as that person.
func (v *view) do(w http.ResponseWriter, r *http.Request) {
	err := v.act(r)
	if err != nil {
		w.WriteHeader(http.StatusConflict)
		viewJSON(w, map[string]string{"error": err.Error()})
		return
	}
	viewJSON(w, map[string]bool{"ok": true})
}

func (v *view) act(r *http.Request) error {
	if r.PathValue("what") == "file" {
		return v.takeFile(r)
	}
	var d deed
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20)).Decode(&d); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	p, err := v.personIn(d.Person, d.Chat)
	if err != nil {
		return err
	}
	at := Place{d.Chat, d.Thread}
	switch r.PathValue("what") {
	case "say":
		_, err = p.Send(at, Post{Text: d.Text, ReplyTo: d.Message})
	case "edit":
		err = p.Edit(d.Chat, d.Message, d.Text)
	case "press":
		_, err = p.Press(d.Chat, d.Message, d.Text)
	case "react":
		err = p.React(d.Chat, d.Message, d.Text)
	case "delete":
		err = p.Delete(d.Chat, d.Message)
	case "create-topic":
		_, err = p.CreateTopic(d.Chat, d.Text)
	case "rename-topic":
		err = p.RenameTopic(at, d.Text)
	case "close-topic":
		err = p.CloseTopic(at)
	case "reopen-topic":
		err = p.ReopenTopic(at)
	case "delete-topic":
		err = p.DeleteTopic(at)
	default:
		err = errors.New("nobody can do that here")
	}
	return err
}

// personIn returns somebody by number, if there's also such a chat.
func (v *view) personIn(id, chat int64) (*Person, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	u, known := v.s.users[id]
	switch {
	case !known || u.IsBot:
		return nil, fmt.Errorf("there's no person %d", id)
	case v.s.chats[chat] == nil:
		return nil, fmt.Errorf("there's no chat %d", chat)
	}
	return &Person{u, v.s}, nil
}

// takeFile sends a file, which is the body, with everything else in the address.
func (v *view) takeFile(r *http.Request) error {
	q := r.URL.Query()
	at := Place{number(q.Get("chat")), int(number(q.Get("thread")))}
	p, err := v.personIn(number(q.Get("person")), at.Chat)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxUpload))
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	_, err = p.SendFile(at, q.Get("name"), content, "")
	return err
}
