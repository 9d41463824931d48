package telegramtest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/internal/chatview"
)

// view is the stand-in as its page shows it.
type view struct{ s *Server }

var _ chatview.World = view{}

// NewView returns a page that shows the stand-in's chats and topics as a phone would; see
// chatview.New.
func NewView(s *Server, token string) http.Handler { return chatview.New(view{s}, token) }

// Changed implements chatview.World.
func (v view) Changed() <-chan struct{} { return v.s.Changed() }

// Do implements chatview.World.
func (v view) Do(what string, d chatview.Deed) error {
	at := placeIn(d.Place)
	p, err := v.personIn(number(d.Person), at.Chat)
	if err != nil {
		return err
	}
	message := int(number(d.Message))
	switch what {
	case "say":
		_, err = p.Send(at, Post{Text: d.Text, ReplyTo: message})
	case "edit":
		err = p.Edit(at.Chat, message, d.Text)
	case "press":
		_, err = p.Press(at.Chat, message, d.Text)
	case "react":
		err = p.React(at.Chat, message, d.Text)
	case "delete":
		err = p.Delete(at.Chat, message)
	case "create-topic":
		_, err = p.CreateTopic(at.Chat, d.Text)
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
func (v view) personIn(id, chat int64) (*Person, error) {
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

// SendFile implements chatview.World.
func (v view) SendFile(person string, at chatview.Place, name string, content []byte) error {
	to := placeIn(at)
	p, err := v.personIn(number(person), to.Chat)
	if err == nil {
		_, err = p.SendFile(to, name, content, "")
	}
	return err
}

// File implements chatview.World. An address is a chat and a message.
func (v view) File(address string) (content []byte, picture, ok bool) {
	chat, message, _ := strings.Cut(address, "/")
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	c := v.s.chats[number(chat)]
	if c == nil {
		return nil, false, false
	}
	m := c.byID[int(number(message))]
	if m == nil || m.File == nil {
		return nil, false, false
	}
	return m.File.Content, m.File.Kind == Photo, true
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func placeIn(at chatview.Place) Place { return Place{number(at.Chat), int(number(at.Thread))} }
