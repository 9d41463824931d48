package telegramtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// shownMessages is how many messages of a place the page shows.
const shownMessages = 300

// viewState is all that the page shows. Times are in milliseconds.
type viewState struct {
	Bot      User          `json:"bot"`
	People   []User        `json:"people"`
	Chats    []viewChat    `json:"chats"`
	Place    *viewPlace    `json:"place,omitempty"`
	Messages []viewMessage `json:"messages"`
	Presses  []viewPress   `json:"presses"`
	Commands []Command     `json:"commands"`
}

type viewChat struct {
	ID     int64       `json:"id"`
	Title  string      `json:"title"`
	Kind   Kind        `json:"kind"`
	Forum  bool        `json:"forum"`
	Gone   string      `json:"gone,omitempty"`
	Topics []viewTopic `json:"topics"` // of any other chat: one, the chat itself
}

type viewTopic struct {
	Thread int    `json:"thread"`
	Name   string `json:"name"`
	Colour int64  `json:"colour"`
	Closed bool   `json:"closed"`
	Last   string `json:"last"`
	LastAt int64  `json:"last_at"`
	Rings  int    `json:"rings"`
	Doing  string `json:"doing,omitempty"`
}

type viewPlace struct {
	Chat         int64        `json:"chat"`
	Thread       int          `json:"thread"`
	Doing        string       `json:"doing,omitempty"`
	Drafts       []viewDraft  `json:"drafts"`
	Windows      []viewWindow `json:"windows"`
	PenaltyUntil int64        `json:"penalty_until,omitempty"`
}

type viewDraft struct {
	Text     string   `json:"text"`
	Entities []Entity `json:"entities"`
}

type viewWindow struct {
	Family  Family  `json:"family"`
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	Used    int     `json:"used"`
}

type viewMessage struct {
	ID        int            `json:"id"`
	From      User           `json:"from"`
	At        int64          `json:"at"`
	Text      string         `json:"text"`
	Entities  []Entity       `json:"entities"`
	Buttons   [][]viewButton `json:"buttons,omitempty"`
	File      *viewFile      `json:"file,omitempty"`
	Reply     *viewReply     `json:"reply,omitempty"`
	Rang      bool           `json:"rang"`
	Edits     int            `json:"edits"`
	Pinned    bool           `json:"pinned"`
	Service   string         `json:"service,omitempty"`
	Reactions []viewReaction `json:"reactions,omitempty"`
}

type viewButton struct {
	Text string `json:"text"`
	Data string `json:"data,omitempty"`
	URL  string `json:"url,omitempty"`
	Copy string `json:"copy,omitempty"`
}

type viewFile struct {
	Kind    FileKind `json:"kind"`
	Name    string   `json:"name"`
	Size    int64    `json:"size"`
	Width   int      `json:"width,omitempty"`
	Height  int      `json:"height,omitempty"`
	Seconds int      `json:"seconds,omitempty"`
}

type viewReply struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Text string `json:"text"`
}

type viewReaction struct {
	Emoji string   `json:"emoji"`
	Names []string `json:"names"`
}

type viewPress struct {
	ID      string `json:"id"`
	Message int    `json:"message"`
	Data    string `json:"data"`
	Done    bool   `json:"done"`
	Text    string `json:"text"`
	Alert   bool   `json:"alert"`
}

// state writes what a person sees at a place.
func (v *view) state(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	person := number(q.Get("person"))
	at := Place{number(q.Get("chat")), int(number(q.Get("thread")))}
	st := v.s.viewLists()
	if v.s.hasChat(at.Chat) {
		st.Place = v.s.viewPlace(at)
		st.Messages = v.s.viewMessages(at)
		st.Presses = v.s.viewPresses(person)
		st.Commands = v.s.Commands(at.Chat, person)
	}
	viewJSON(w, st)
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s *Server) hasChat(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chats[id] != nil
}

func (s *Server) viewLists() viewState {
	ids := s.Chats()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := viewState{Bot: s.opts.Bot, Messages: []viewMessage{}, Presses: []viewPress{}}
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		if !s.users[id].IsBot {
			st.People = append(st.People, s.users[id])
		}
	}
	for _, id := range ids {
		st.Chats = append(st.Chats, s.viewChat(s.chats[id]))
	}
	return st
}

func (s *Server) viewChat(c *chat) viewChat {
	vc := viewChat{ID: c.id, Title: c.title, Kind: c.kind, Forum: c.forum}
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
	general := viewTopic{Name: "General", Rings: rings[0]}
	if !c.forum {
		general.Name = vc.Title
	}
	vc.Topics = []viewTopic{general}
	for _, t := range c.topics {
		if !t.deleted {
			vc.Topics = append(vc.Topics, viewTopic{Thread: t.id, Name: t.name, Colour: t.colour, Closed: t.closed, Rings: rings[t.id]})
		}
	}
	for i := range vc.Topics {
		s.fillTopic(c, &vc.Topics[i])
	}
	return vc
}

func (s *Server) fillTopic(c *chat, t *viewTopic) {
	if a := c.actions[t.Thread]; now().Before(a.Until) {
		t.Doing = a.Name
	}
	for _, m := range slices.Backward(c.messages) {
		if m.Thread == t.Thread && m.There() {
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

func (s *Server) viewPlace(at Place) *viewPlace {
	p := &viewPlace{Chat: at.Chat, Thread: at.Thread, Doing: s.Doing(at), Drafts: []viewDraft{}}
	for _, d := range s.Drafts(at) {
		p.Drafts = append(p.Drafts, viewDraft{d.Text, d.Entities})
	}
	for _, u := range s.Used(at.Chat) {
		p.Windows = append(p.Windows, viewWindow{u.Family, u.Calls, u.Per.Seconds(), u.Most})
	}
	for _, penalty := range s.Penalties() {
		if penalty.Chat == at.Chat || penalty.Chat == 0 && penalty.Family == Free {
			p.PenaltyUntil = max(p.PenaltyUntil, penalty.Until.UnixMilli())
		}
	}
	return p
}

func (s *Server) viewMessages(at Place) []viewMessage {
	seen := s.See(at)
	seen = seen[max(0, len(seen)-shownMessages):]
	list := make([]viewMessage, 0, len(seen))
	for _, m := range seen {
		list = append(list, s.viewMessage(m))
	}
	return list
}

func (s *Server) viewMessage(m Message) viewMessage {
	vm := viewMessage{
		ID: m.ID, From: m.From, At: m.At.UnixMilli(), Text: m.Text, Entities: m.Entities, Rang: m.Rang,
		Edits: len(m.History), Pinned: m.Pinned, Reactions: s.viewReactions(m.Reactions),
	}
	for _, row := range m.Buttons {
		var shown []viewButton
		for _, b := range row {
			shown = append(shown, viewButton(b))
		}
		vm.Buttons = append(vm.Buttons, shown)
	}
	if f := m.File; f != nil {
		vm.File = &viewFile{f.Kind, f.Name, f.Size, f.Width, f.Height, int(f.Duration / time.Second)}
	}
	if m.Service != "" {
		vm.Service = s.told(&m)
	}
	if answered, known := s.Message(m.Chat, m.ReplyTo); known {
		vm.Reply = &viewReply{answered.ID, answered.From.Name(), cmp.Or(m.Quote, cut(s.summary(&answered), 120))}
	}
	return vm
}

func (s *Server) viewReactions(list []Reaction) []viewReaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	var shown []viewReaction
	for _, r := range list {
		i := slices.IndexFunc(shown, func(v viewReaction) bool { return v.Emoji == r.Emoji })
		if i < 0 {
			shown = append(shown, viewReaction{Emoji: r.Emoji})
			i = len(shown) - 1
		}
		shown[i].Names = append(shown[i].Names, s.users[r.User].Name())
	}
	return shown
}

// viewPresses are a person's presses that are answered, or still may be.
func (s *Server) viewPresses(person int64) []viewPress {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []viewPress{}
	for _, p := range s.presses {
		if p.By == person && now().Sub(p.At) <= callbackLives {
			list = append(list, viewPress{p.ID, p.Message, p.Data, !p.Answered.IsZero(), p.Text, p.Alert})
		}
	}
	return list
}
