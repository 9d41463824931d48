package discordtest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// mirror is the world as a bot builds it up from what the gateway brings.
type mirror struct {
	mu       sync.Mutex
	seq      int
	session  string
	messages map[string]string // content by id, as far as they're there
	threads  map[string]string // name and state by id
	wrong    []string
}

func (m *mirror) complain(format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

// follow takes what a connection brings until it breaks.
func (m *mirror) follow(x *wire) {
	for {
		p := x.next()
		if p.Err != nil || p.Closed != 0 {
			return
		}
		if p.Name != "" {
			m.apply(p)
		}
	}
}

func (m *mirror) apply(p payload) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Seq != m.seq+1 {
		m.complain("%s has the sequence number %d after %d", p.Name, p.Seq, m.seq)
	}
	m.seq = p.Seq
	id := p.str("id")
	switch p.Name {
	case "READY":
		m.session = p.str("session_id")
	case "MESSAGE_CREATE":
		if _, known := m.messages[id]; known {
			m.complain("message %s came twice", id)
		}
		m.messages[id] = p.str("content")
	case "MESSAGE_UPDATE":
		if _, known := m.messages[id]; !known {
			m.complain("message %s was changed, which nobody knows", id)
		}
		m.messages[id] = p.str("content")
	case "MESSAGE_DELETE":
		delete(m.messages, id)
	case "THREAD_CREATE", "THREAD_UPDATE":
		var t struct {
			Meta struct{ Archived, Locked bool } `json:"thread_metadata"`
		}
		if err := json.Unmarshal(p.Data, &t); err != nil {
			m.complain("a thread: %v", err)
		}
		m.threads[id] = fmt.Sprint(p.str("name"), t.Meta)
	case "THREAD_DELETE":
		delete(m.threads, id)
	}
}

// connect begins a session, or takes it up again.
func (m *mirror) connect(w *world, network *memnet.Network) {
	x := w.dial(network, "?v=9")
	x.next()
	m.mu.Lock()
	session, seq := m.session, m.seq
	m.mu.Unlock()
	if session == "" {
		x.say(2, args{"token": w.Token(), "intents": all})
	} else {
		x.say(6, args{"token": w.Token(), "session_id": session, "seq": seq})
	}
	go m.follow(x)
	synctest.Wait()
}

// step is one thing that happens, drawn before its world exists: numbers choose
// among what there is by then.
type step struct {
	What, Text, Nonce string
	Person, Which     int
	Name              bool
	Archived, Locked  *bool
	Seconds           int
	Drops             bool // the gateway, before it
}

// stepOf makes a step of a number, each kind as likely as the others.
func stepOf(seed uint64) step {
	r := rand.New(rand.NewPCG(seed, 0))
	perhaps := func() *bool { return [...]*bool{nil, new(true), new(false)}[r.IntN(3)] }
	kinds := []string{
		"post", "say", "edit", "drop", "erase", "thread", "begin", "write", "set", "archive", "rename", "delete", "wait",
	}
	return step{
		What: kinds[r.IntN(len(kinds))], Text: [...]string{"", "a", " b\n", "😀 <&", "@everyone"}[r.IntN(5)],
		Nonce: [...]string{"a", "b", "", "", ""}[r.IntN(5)], Person: r.IntN(2), Which: r.IntN(1000), Name: r.IntN(2) == 0,
		Archived: perhaps(), Locked: perhaps(), Seconds: r.IntN(30), Drops: r.IntN(10) == 0,
	}
}

// story is a world in which steps happen.
type story struct {
	*world
	channels []string // threads too; the first two stay
	messages []string
}

func (s *story) add(list *[]string, id string, err error) {
	if err == nil && id != "" {
		*list = append(*list, id)
	}
}

// do does one step; what's refused is no less part of the story.
func (s *story) do(st step) {
	p := []*discordtest.Person{s.ada, s.bob}[st.Person]
	channel, message, thread := s.channels[st.Which%len(s.channels)], s.messages[st.Which%len(s.messages)], "0"
	if n := len(s.channels) - 2; n > 0 {
		thread = s.channels[2+st.Which%n]
	}
	at := "/channels/" + must(s.Message(message)).Channel + "/messages/" + message
	switch st.What {
	case "post":
		body := args{"content": st.Text, "nonce": st.Nonce, "enforce_nonce": true}
		s.add(&s.messages, s.call(post, "/channels/"+channel+"/messages", body).ID, nil)
	case "say":
		id, err := p.Say(channel, st.Text)
		s.add(&s.messages, id, err)
	case "edit":
		s.call(patch, at, args{"content": st.Text})
	case "drop":
		s.call(del, at, nil)
	case "erase":
		_ = p.Delete(message)
	case "thread":
		s.add(&s.channels, s.call(post, "/channels/"+channel+"/threads", args{"name": "t" + st.Text, "type": 11}).ID, nil)
	case "begin":
		id, err := p.CreateThread(s.text, "b"+st.Text)
		s.add(&s.channels, id, err)
	case "write":
		id, err := p.CreatePost(s.forum, "p"+st.Text, "x"+st.Text)
		s.add(&s.channels, id, err)
	case "set":
		body := args{}
		if st.Name {
			body["name"] = "n" + st.Text
		}
		if st.Archived != nil {
			body["archived"] = *st.Archived
		}
		if st.Locked != nil {
			body["locked"] = *st.Locked
		}
		s.call(patch, "/channels/"+thread, body)
	case "archive":
		_ = p.Archive(thread)
	case "rename":
		_ = p.Rename(thread, "r"+st.Text)
	case "delete":
		s.call(del, "/channels/"+thread, nil)
	case "wait":
		time.Sleep(time.Duration(st.Seconds) * time.Second)
	}
}

// Whatever bot and people do, and however often the connection breaks: what the
// gateway brought, what REST shows and what people see are the same, and the books
// agree with each other.
func TestStateNeverContradictsItself(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		var steps []step
		for _, seed := range rapid.SliceOfN(rapid.Uint64(), 20, 80).Draw(rt, "steps") {
			steps = append(steps, stepOf(seed))
		}
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = live(t, steps) })
		for _, w := range wrong {
			rt.Error(w)
		}
	})
}

// live returns what was wrong.
func live(t *testing.T, steps []step) []string {
	t.Helper()
	w := newWorld(t, discordtest.Options{Limits: generous(), Heartbeat: time.Hour})
	network, stop := w.serve()
	defer stop()
	m := &mirror{messages: map[string]string{}, threads: map[string]string{}}
	m.connect(w, network)
	s := &story{w, []string{w.text, w.forum}, []string{w.send(w.text, "first")}}
	for _, st := range steps {
		if st.Drops {
			w.DropGateways()
			synctest.Wait()
		}
		s.do(st)
		if st.Drops {
			m.connect(w, network)
		}
	}
	synctest.Wait()
	m.check(s)
	m.checkBooks(w)
	return m.wrong
}

// check compares the mirror with what people see and what REST shows.
func (m *mirror) check(w *story) {
	threads := map[string]string{}
	for _, parent := range []string{w.text, w.forum} {
		for _, st := range w.Threads(parent) {
			threads[st.ID] = fmt.Sprint(st.Name, struct{ Archived, Locked bool }{st.Archived, st.Locked})
		}
	}
	if !maps.Equal(threads, m.threads) {
		m.complain("threads are %v, the gateway brought %v", threads, m.threads)
	}
	for _, channel := range w.channels {
		if channel == w.forum || !must(w.Channel(channel)).DeletedAt.IsZero() {
			continue
		}
		var shown []struct {
			ID      string `json:"id"`
			Content string `json:"content"`
		}
		ok(w, json.Unmarshal(w.call(get, "/channels/"+channel+"/messages?limit=100", nil).body, &shown))
		slices.Reverse(shown)
		seen := w.Messages(channel)
		if len(shown) != len(seen) {
			m.complain("REST shows %d messages, people see %d", len(shown), len(seen))
			continue
		}
		for i, message := range seen {
			if shown[i].ID != message.ID || shown[i].Content != message.Content || m.messages[message.ID] != message.Content {
				m.complain("people see %q, REST shows %q, the gateway brought %q", message.Content, shown[i].Content, m.messages[message.ID])
			}
			if i > 0 && message.At.Before(seen[i-1].At) {
				m.complain("a message is older than the one before it")
			}
		}
	}
}

// checkBooks compares what's kept in several places.
func (m *mirror) checkBooks(w *world) {
	refused := 0
	for _, c := range w.Calls() {
		if c.Refused() {
			refused++
		}
	}
	if n := len(w.Refusals()); n != refused {
		m.complain("%d refusals, %d refused calls", n, refused)
	}
	for _, ring := range w.Rings() {
		if rung, known := w.Message(ring.Message); !known || !rung.Rang || rung.Author.ID != w.Bot().ID {
			m.complain("rang for %+v", rung)
		}
	}
}
