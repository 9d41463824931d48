package recording

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Truth is the model's script: what it said to what.
type Truth struct{ Rules []Rule }

// Rule says what the model does when Match (a regular expression, case ignored)
// is found in what the person asked.
type Rule struct {
	Match string
	Steps []Step // one per reply
}

// Step is one reply of the model.
type Step struct {
	Think string
	Text  string // exact Markdown
	Tools []Tool
	Error string // it failed Times times before it replied
	Times int
}

// Tool is a call of a tool; Kind is "shell", "write" or "ask".
type Tool struct {
	Kind string
	Args json.RawMessage
}

// Truth reads the model's script.
func (r *Recording) Truth() (Truth, error) {
	var t Truth
	b, err := r.File("truth.json")
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("read truth.json of recording %s: %w", r.Name, err)
	}
	return t, nil
}

// Request is one request that the model got as part of a conversation.
type Request struct {
	Begin time.Duration // it came in
	First time.Duration // the answer began; 0: it didn't
	End   time.Duration // all was sent, or the program hung up
	Rule  string        // Match of the rule that answered it; "" none
	Step  int           // which of its steps
	User  string        // what the person had asked
	// Called are the kinds of the tools that it called.
	Called []string
	Failed bool // it answered with an error
	HungUp bool // the program closed the connection before the end
}

// modelEvent is one line of model.jsonl.
type modelEvent struct {
	T        float64
	Event    string // begin, first, error, end, closed
	ID       string
	Rule     string
	Step     int
	UserText string   `json:"user_text"`
	Tools    []string // that were offered
	Called   []string
}

// Model are the requests of the conversation, in order, with clock times of the
// model itself. Those that aren't part of it are left out: for titles, and by
// agents that look back at it, which are offered fewer tools. None where they
// weren't recorded.
func (r *Recording) Model() ([]Request, error) {
	events, err := readLines[modelEvent](r, "model.jsonl")
	if err != nil {
		return nil, err
	}
	found, tools := map[string]*Request{}, 0
	var order []string
	for _, e := range events {
		tools = max(tools, len(e.Tools))
		if e.Event == "begin" && e.Rule != "auxiliary" && len(e.Tools) == tools {
			found[e.ID] = &Request{Begin: since(e.T), Rule: e.Rule, Step: e.Step, User: e.UserText}
			order = append(order, e.ID)
		}
		q := found[e.ID]
		if q == nil {
			continue
		}
		switch e.Event {
		case "first":
			q.First = since(e.T)
		case "error":
			q.Failed = true
		case "end":
			q.End, q.Called = since(e.T), e.Called
		case "closed":
			q.End, q.HungUp = since(e.T), true
		}
	}
	out := make([]Request, 0, len(order))
	for _, id := range order {
		out = append(out, *found[id])
	}
	return out, nil
}

// sortByTime keeps the order of what has the same time.
func sortByTime[T any](s []T, at func(T) time.Duration) {
	slices.SortStableFunc(s, func(a, b T) int { return int(at(a) - at(b)) })
}
