package telegramtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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

// shownMessages is how many messages of a place the page shows.
const shownMessages = 300

// State implements chatview.World.
func (v view) State(person string, open chatview.Place) chatview.State {
	at, who := placeIn(open), number(person)
	st := v.s.viewLists(who)
	if v.s.hasChat(at.Chat) {
		st.Open = v.s.viewPlace(at)
		st.Messages = v.s.viewMessages(at)
		st.Presses = v.s.viewPresses(who)
		for _, c := range v.s.Commands(at.Chat, who) {
			st.Commands = append(st.Commands, chatview.Command{Name: c.Command, Help: c.Description})
		}
	}
	return st
}

func viewID[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func viewUser(u User) chatview.Person {
	return chatview.Person{ID: viewID(u.ID), Name: u.Name(), Bot: u.IsBot}
}

func viewText(text string, entities []Entity) chatview.Text {
	t := chatview.Text{Text: text, Entities: []chatview.Entity{}}
	for _, e := range entities {
		t.Entities = append(t.Entities, chatview.Entity{Type: e.Type, Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language})
	}
	return t
}

func (s *Server) hasChat(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chats[id] != nil
}

// viewLists has the people, and the chats that one of them sees: groups, and his own chat
// with the bot.
func (s *Server) viewLists(person int64) chatview.State {
	ids := s.Chats()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := chatview.State{
		Look: "telegram", Bot: viewUser(s.opts.Bot), Chats: []chatview.Chat{}, Messages: []chatview.Message{}, Presses: []chatview.Press{}, Commands: []chatview.Command{},
	}
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		if !s.users[id].IsBot {
			st.People = append(st.People, viewUser(s.users[id]))
		}
	}
	for _, id := range ids {
		if c := s.chats[id]; c.kind != Private || c.id == person {
			st.Chats = append(st.Chats, s.viewChat(c))
		}
	}
	return st
}

func (s *Server) viewChat(c *chat) chatview.Chat {
	vc := chatview.Chat{ID: viewID(c.id), Title: c.title, Threads: c.forum, Named: "topic"}
	if c.kind == Private {
		vc.Title = s.opts.Bot.Name() // that's how its owner sees it
	}
	switch {
	case c.migratedTo != 0:
		vc.Gone = "has become a supergroup"
	case c.kind != Private && !c.isIn(s.opts.Bot.ID):
		vc.Gone = "the bot isn't a member"
	case c.blocked:
		vc.Gone = "the bot is blocked"
	}
	rings := map[int]int{}
	for _, ring := range s.rings {
		if ring.Chat == c.id {
			rings[ring.Thread]++
		}
	}
	general := chatview.Topic{Thread: chatview.NoThread, Name: "General", Rings: rings[0]}
	if !c.forum {
		general.Name = vc.Title
	}
	vc.Topics = []chatview.Topic{general}
	s.fillTopic(c, 0, &vc.Topics[0])
	for _, t := range c.topics {
		if !t.deleted {
			topic := chatview.Topic{Thread: viewID(t.id), Name: t.name, Colour: t.colour, Closed: t.closed, Rings: rings[t.id]}
			s.fillTopic(c, t.id, &topic)
			vc.Topics = append(vc.Topics, topic)
		}
	}
	return vc
}

func (s *Server) fillTopic(c *chat, thread int, t *chatview.Topic) {
	if a := c.actions[thread]; now().Before(a.Until) {
		t.Doing = a.Name
	}
	for _, m := range slices.Backward(c.messages) {
		if m.Thread == thread && m.There() {
			t.Last, t.LastAt = s.summary(m), m.At.UnixMilli()
			return
		}
	}
}

// summary is a message in one line.
func (s *Server) summary(m *Message) string {
	switch {
	case m.Service != "":
		return s.told(m)
	case m.Text != "":
		return cut(m.Text, 120)
	case m.File != nil:
		return string(m.File.Kind)
	}
	return ""
}

// cut shortens a text without splitting a character.
func cut(text string, runes int) string {
	if list := []rune(text); len(list) > runes {
		return string(list[:runes]) + "…"
	}
	return text
}

// told puts a service message in words.
func (s *Server) told(m *Message) string {
	name := m.From.Name()
	detail, _ := m.detail.(map[string]any)
	switch m.Service {
	case "forum_topic_created":
		return fmt.Sprintf("%s created the topic “%v”", name, detail["name"])
	case "forum_topic_edited":
		return fmt.Sprintf("%s renamed the topic to “%v”", name, detail["name"])
	case "forum_topic_closed":
		return name + " closed the topic"
	case "forum_topic_reopened":
		return name + " reopened the topic"
	case "pinned_message":
		return name + " pinned a message"
	case "new_chat_members":
		return name + " joined, or brought somebody"
	case "left_chat_member":
		return name + " left"
	case "migrate_to_chat_id", "migrate_from_chat_id":
		return "The group became a supergroup"
	}
	return m.Service
}

func (s *Server) viewPlace(at Place) *chatview.Open {
	p := &chatview.Open{Place: chatview.Place{Chat: viewID(at.Chat), Thread: viewID(at.Thread)}, Doing: s.Doing(at), Drafts: []chatview.Text{}}
	for _, d := range s.Drafts(at) {
		p.Drafts = append(p.Drafts, viewText(d.Text, d.Entities))
	}
	for _, u := range s.Used(at.Chat) {
		if u.Family == Messages {
			p.Windows = append(p.Windows, chatview.Window{Calls: u.Calls, Seconds: u.Per.Seconds(), Used: u.Most})
		}
	}
	for _, penalty := range s.Penalties() {
		if penalty.Chat == at.Chat || penalty.Chat == 0 && penalty.Family == Free {
			p.PenaltyUntil = max(p.PenaltyUntil, penalty.Until.UnixMilli())
		}
	}
	return p
}

func (s *Server) viewMessages(at Place) []chatview.Message {
	seen := s.See(at)
	seen = seen[max(0, len(seen)-shownMessages):]
	list := make([]chatview.Message, 0, len(seen))
	for _, m := range seen {
		list = append(list, s.viewMessage(m))
	}
	return list
}

func (s *Server) viewMessage(m Message) chatview.Message {
	vm := chatview.Message{
		ID: viewID(m.ID), From: viewUser(m.From), At: m.At.UnixMilli(), Text: viewText(m.Text, m.Entities), Rang: m.Rang,
		Edits: len(m.History), Pinned: m.Pinned, Reactions: s.viewReactions(m.Reactions),
	}
	for _, row := range m.Buttons {
		var shown []chatview.Part
		for _, b := range row {
			shown = append(shown, chatview.Part{Text: b.Text, Data: b.Data, URL: b.URL, Copy: b.Copy})
		}
		vm.Rows = append(vm.Rows, shown)
	}
	if f := m.File; f != nil {
		vm.Files = []chatview.File{{
			Address: viewID(m.Chat) + "/" + vm.ID, Kind: string(f.Kind), Name: f.Name, Size: f.Size, Width: f.Width, Height: f.Height, Seconds: int(f.Duration / time.Second),
		}}
	}
	if m.Service != "" {
		vm.Service = s.told(&m)
	}
	if answered, known := s.Message(m.Chat, m.ReplyTo); known {
		vm.Reply = &chatview.Reply{ID: viewID(answered.ID), Name: answered.From.Name(), Text: cmp.Or(m.Quote, cut(s.summary(&answered), 120))}
	}
	return vm
}

func (s *Server) viewReactions(list []Reaction) []chatview.Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	var shown []chatview.Reaction
	for _, r := range list {
		i := slices.IndexFunc(shown, func(v chatview.Reaction) bool { return v.Emoji == r.Emoji })
		if i < 0 {
			shown = append(shown, chatview.Reaction{Emoji: r.Emoji})
			i = len(shown) - 1
		}
		shown[i].Names = append(shown[i].Names, s.users[r.User].Name())
	}
	return shown
}

// viewPresses are a person's presses that are answered, or still may be.
func (s *Server) viewPresses(person int64) []chatview.Press {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []chatview.Press{}
	for _, p := range s.presses {
		if p.By == person && now().Sub(p.At) <= callbackLives {
			list = append(list, chatview.Press{ID: p.ID, Message: viewID(p.Message), Data: p.Data, Done: !p.Answered.IsZero(), Text: p.Text, Alert: p.Alert})
		}
	}
	return list
}
