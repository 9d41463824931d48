package agentlab

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

// Request is one request that the model got as part of a conversation.
type Request struct {
	Begin, First, End time.Time // came in, answer began, all was sent or the program hung up; zero: not yet
	Rule              string    // that answered it; "" none
	Step              int
	User              string   // what the person had asked
	Text              string   // what it said: all of it, or as much as was sent
	Said, Results     []string // with Config.Orders: all that the conversation has of people and of tools
	Called            []string
	Failed            bool // it answered with an error
	HungUp            bool // the program closed the connection before the end
}

// Model is the scripted model: an HTTP handler that speaks Anthropic Messages,
// OpenAI Responses and Chat Completions, and Gemini. It keeps no conversation:
// what it answers depends on the request alone.
type Model struct {
	scenario *Scenario
	cwd      string  // base of relative paths in write tools
	orders   *orders // nil: the scenario's rules count

	mu       sync.Mutex
	requests []*Request
	errors   map[string]int // how often a step has failed
	tools    int            // how many tools the conversation's requests offer
	ids      int
}

// NewModel makes a model; files that it has written are below cwd.
func NewModel(s *Scenario, cwd string) *Model {
	return &Model{scenario: s, cwd: cwd, errors: map[string]int{}}
}

// Requests are the requests so far, in the order in which they came; those for
// titles and the like are left out.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Request, len(m.requests))
	for i, r := range m.requests {
		out[i] = *r
		out[i].Called = slices.Clone(r.Called)
	}
	return out
}

// Busy says whether a request is being answered.
func (m *Model) Busy() bool {
	return slices.ContainsFunc(m.Requests(), func(r Request) bool { return r.End.IsZero() })
}

// Asked says whether the model has been asked what a person typed.
func (m *Model) Asked(text string) bool {
	want := strings.Join(strings.Fields(text), " ")
	return slices.ContainsFunc(m.Requests(), func(r Request) bool {
		return strings.Contains(strings.Join(strings.Fields(r.User), " "), want)
	})
}

// Answers are the texts that the model has said, one per reply with a text.
func (m *Model) Answers() []string {
	var out []string
	for _, r := range m.Requests() {
		if r.Text != "" {
			out = append(out, r.Text)
		}
	}
	return out
}

// recorded are the requests as durations since a start.
func (m *Model) recorded(start time.Time) []recording.Request {
	var out []recording.Request
	since := func(t time.Time) time.Duration {
		if t.IsZero() {
			return 0
		}
		return t.Sub(start)
	}
	for _, r := range m.Requests() {
		out = append(out, recording.Request{
			Begin: since(r.Begin), First: since(r.First), End: since(r.End), Rule: r.Rule, Step: r.Step,
			User: r.User, Called: r.Called, Failed: r.Failed, HungUp: r.HungUp,
		})
	}
	return out
}

func (m *Model) id(prefix string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids++
	return fmt.Sprintf("%s%018d", prefix, m.ids)
}

// note changes a request.
func (m *Model) note(r *Request, change func(*Request)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(r)
}

// ServeHTTP answers a program's request.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	body, err := readBody(r)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case r.Method == http.MethodHead:
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		var models []any
		for _, id := range []string{"claude-sonnet-4-5", "mock-model", "gemini-2.5-pro"} {
			models = append(models, obj{
				"id": id, "object": "model", "type": "model", "display_name": id, "created": 0,
				"created_at": "2025-01-01T00:00:00Z", "owned_by": "mock",
			})
		}
		sendJSON(w, http.StatusOK, obj{"object": "list", "has_more": false, "data": models, "models": []any{}})
	case r.Method == http.MethodGet && path == "/":
		sendJSON(w, http.StatusOK, obj{})
	case strings.HasSuffix(path, "/count_tokens"):
		sendJSON(w, http.StatusOK, obj{"input_tokens": 1234})
	case strings.Contains(path, ":countTokens"):
		sendJSON(w, http.StatusOK, obj{"totalTokens": 1234})
	case strings.HasSuffix(path, "/v1/messages"):
		m.anthropic(w, r, body)
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, r, body)
	case strings.HasSuffix(path, "/chat/completions"):
		m.chat(w, r, body)
	case strings.Contains(path, "enerateContent"):
		m.gemini(w, r, body)
	default:
		sendJSON(w, http.StatusNotFound, obj{})
	}
}

// obj is a JSON object.
type obj = map[string]any

func readBody(r *http.Request) (obj, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
		if b, err = io.ReadAll(z); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
	}
	body := obj{}
	_ = json.Unmarshal(b, &body) // what isn't JSON is answered like {}
	return body, nil
}

func sendJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

// reply is the answer to one request while it's being sent.
type reply struct {
	model *Model
	ctx   context.Context //nolint:containedctx // the request's, for as long as it's answered
	w     http.ResponseWriter
	req   *Request
	step  Step
	gone  bool // the program has hung up
}

// aside says whether a request isn't part of the conversation: programs have
// agents of their own look back at it (Qwen Code after each turn), which get fewer
// tools than the conversation's requests.
func (m *Model) aside(offered []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools = max(m.tools, len(offered))
	return len(offered) < m.tools
}

// helps says whether a request is that of a sub-agent for which the scenario has a rule.
func (m *Model) helps(conversation []turnText) bool {
	if m.orders != nil {
		return false
	}
	rule := m.choose(conversation).rule
	return rule != "" && slices.ContainsFunc(m.scenario.Rules, func(r Rule) bool { return r.Helper && r.Match == rule })
}

// Guess is what the model takes to be what a person will ask next. Claude Code and Qwen
// Code show it in their empty input boxes.
const Guess = "now run the tests again"

// guessing is how a request for a guess begins.
const guessing = "[SUGGESTION MODE"

// begin chooses what's answered and waits until the answer begins. auxiliary, if
// it isn't "", answers a request that isn't part of the conversation.
func (m *Model) begin(w http.ResponseWriter, r *http.Request, conversation []turnText, offered []string, auxiliary string) *reply {
	if auxiliary == "" && m.aside(offered) && !m.helps(conversation) && !m.orders.toSub(conversation) {
		auxiliary = "Nothing to add."
	}
	if n := len(conversation); n > 0 && strings.HasPrefix(conversation[n-1].text, guessing) {
		auxiliary = Guess
	}
	if auxiliary != "" {
		zero := 0.0
		return &reply{
			model: m, ctx: r.Context(), w: w, req: &Request{},
			step: Step{Text: auxiliary, Chunk: 50, Delay: &zero},
		}
	}
	c := m.choose(conversation)
	p := &reply{
		model: m, ctx: r.Context(), w: w, step: c.step,
		req: &Request{Begin: time.Now(), Rule: c.rule, Step: c.n, User: c.user},
	}
	for _, t := range conversation {
		if c.rule == "" && t.role == "user" {
			p.req.User = t.text
		}
		switch {
		case m.orders == nil:
		case t.role == "user":
			p.req.Said = append(p.req.Said, t.text)
		case t.role == "tool":
			p.req.Results = append(p.req.Results, t.text)
		}
	}
	m.mu.Lock()
	m.requests = append(m.requests, p.req)
	if c.step.Error != "" {
		key := fmt.Sprint(c.rule, c.n)
		m.errors[key]++
		if m.errors[key] > max(1, c.step.Times) {
			p.step.Error = ""
		}
	}
	m.mu.Unlock()
	p.pause(c.step.FirstDelay, 0.3)
	m.note(p.req, func(r *Request) {
		if p.step.Error != "" {
			r.Failed = true
		} else {
			r.First = time.Now()
		}
	})
	return p
}

// choose chooses what answers a conversation.
func (m *Model) choose(conversation []turnText) choice {
	if m.orders != nil {
		return m.orders.pick(conversation)
	}
	return m.scenario.pick(conversation)
}

// pause waits for some seconds, or until the program hangs up.
func (p *reply) pause(seconds *float64, otherwise float64) {
	s := otherwise
	if seconds != nil {
		s = *seconds
	}
	if s <= 0 || p.gone {
		return
	}
	t := time.NewTimer(time.Duration(s * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
		p.gone = true
	}
}

// say sends the text in pieces.
func (p *reply) say(text string, send func(piece string)) {
	p.pieces(text, func(piece string) {
		send(piece)
		if !p.gone {
			p.model.note(p.req, func(r *Request) { r.Text += piece })
		}
	})
}

// pieces sends a text piece by piece, with pauses.
func (p *reply) pieces(text string, send func(piece string)) {
	size := p.step.Chunk
	if size == 0 {
		size = 6
	}
	for c := range slices.Chunk([]rune(text), size) {
		if p.gone {
			return
		}
		send(string(c))
		p.pause(p.step.Delay, 0.015)
	}
}

// event sends a server-sent event.
func (p *reply) event(name string, v any) {
	if p.gone {
		return
	}
	var b bytes.Buffer
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	if s, ok := v.(string); ok {
		b.WriteString(s + "\n")
	} else {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v)
	}
	b.WriteString("\n")
	if _, err := p.w.Write(b.Bytes()); err != nil || p.ctx.Err() != nil {
		p.gone = true
		return
	}
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}

// stream begins an event stream.
func (p *reply) stream() {
	h := p.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("Request-Id", "req_mock")
	h.Set("Connection", "close")
	p.w.WriteHeader(http.StatusOK)
}

// whole sends an answer in one piece.
func (p *reply) whole(v any) {
	p.model.note(p.req, func(r *Request) { r.Text = p.step.Text })
	sendJSON(p.w, http.StatusOK, v)
}

// done notes that all was sent.
func (p *reply) done() {
	p.model.note(p.req, func(r *Request) {
		r.End = time.Now()
		r.HungUp = p.gone
		if !p.gone && !r.Failed {
			for _, t := range p.step.Tools {
				r.Called = append(r.Called, t.Kind)
			}
		}
	})
}
