package agentlab

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed testdata/scenarios
var scenarios embed.FS

// Scenario is what the model does: the first rule counts that matches what the
// person typed last.
type Scenario struct {
	Description string
	Include     []string // names of other scenarios, whose rules follow
	Chunk       int      // characters per event; 0: 6
	Delay       *float64 // seconds between two events; nil: 0.015
	Rules       []Rule
}

// Rule says what the model answers to a text that Match, a regular expression
// that ignores case, is found in: one step per reply.
type Rule struct {
	Match string
	// Helper says that it's what a sub-agent of the program's is asked, which is offered
	// fewer tools than the program itself.
	Helper bool
	Steps  []Step
}

// Step is one reply.
type Step struct {
	Think    string
	Text     string
	TextFile string `json:"text_file"` // beside the scenario, instead of Text
	Lines    *Lines // behind Text, as a code block
	After    string // behind Lines
	Tools    []Tool
	// FirstDelay is how many seconds pass before the answer begins; nil: 0.3.
	FirstDelay *float64 `json:"first_delay"`
	Chunk      int
	Delay      *float64
	Error      string // answer the first Times requests with an error
	Times      int
}

// Lines are many lines made of a format with {i} and {n}.
type Lines struct {
	Count  int
	Format string
}

// Tool is a call of a tool by its kind: "shell", "write", "agent" or "ask". The model
// calls what the program offers for it.
type Tool struct {
	Kind string
	Args json.RawMessage
}

// LoadScenario reads one of testdata/scenarios by its name.
func LoadScenario(name string) (*Scenario, error) {
	b, err := scenarios.ReadFile(path.Join("testdata/scenarios", name+".json"))
	if err != nil {
		return nil, fmt.Errorf("load scenario %s: %w", name, err)
	}
	s := &Scenario{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("load scenario %s: %w", name, err)
	}
	for _, other := range s.Include {
		o, err := LoadScenario(other)
		if err != nil {
			return nil, err
		}
		s.Rules = append(s.Rules, o.Rules...)
	}
	for _, r := range s.Rules {
		if _, err := regexp.Compile("(?is)" + r.Match); err != nil {
			return nil, fmt.Errorf("load scenario %s: %w", name, err)
		}
		for i := range r.Steps {
			if err := r.Steps[i].expand(); err != nil {
				return nil, fmt.Errorf("load scenario %s: %w", name, err)
			}
		}
	}
	return s, nil
}

// lineNumber matches {i} with or without a width, as in {i:04d}.
var lineNumber = regexp.MustCompile(`\{i(?::0(\d)d)?\}`)

// expand makes Text of TextFile and Lines.
func (s *Step) expand() error {
	if s.TextFile != "" {
		b, err := scenarios.ReadFile(path.Join("testdata/scenarios", s.TextFile))
		if err != nil {
			return fmt.Errorf("read %s: %w", s.TextFile, err)
		}
		s.Text, s.TextFile = string(b), ""
	}
	if s.Lines == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString(s.Text + "\n\n```text\n")
	for i := 1; i <= s.Lines.Count; i++ {
		line := strings.ReplaceAll(s.Lines.Format, "{n}", fmt.Sprint(s.Lines.Count))
		b.WriteString(lineNumber.ReplaceAllStringFunc(line, func(m string) string {
			if width := lineNumber.FindStringSubmatch(m)[1]; width != "" {
				return fmt.Sprintf("%0*d", int(width[0]-'0'), i)
			}
			return fmt.Sprint(i)
		}) + "\n")
	}
	s.Text = b.String() + "```\n\n" + s.After
	s.Lines = nil
	return nil
}

// turnText is one text of a conversation as a request tells it.
type turnText struct{ role, text string } // role: user, assistant, tool

var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// choice is the step that answers a request.
type choice struct {
	rule string // Match; "" none matched
	n    int    // which step
	user string
	step Step
}

// pick finds the step for a conversation: the rule is the first that matches the
// last user text that any rule matches, the step is the number of replies since.
func (s *Scenario) pick(conversation []turnText) choice {
	for i := range slices.Backward(conversation) {
		if conversation[i].role != "user" {
			continue
		}
		text := strings.TrimSpace(reminder.ReplaceAllString(conversation[i].text, ""))
		for _, r := range s.Rules {
			if !regexp.MustCompile("(?is)" + r.Match).MatchString(text) {
				continue
			}
			n, last := 0, ""
			for _, c := range conversation[i+1:] {
				if c.role == "assistant" && last != "assistant" {
					n++
				}
				last = c.role
			}
			step := r.Steps[min(n, len(r.Steps)-1)]
			if step.Chunk == 0 {
				step.Chunk = s.Chunk
			}
			if step.Delay == nil {
				step.Delay = s.Delay
			}
			return choice{r.Match, n, text, step}
		}
	}
	return choice{step: Step{Text: "(no rule matched)"}}
}
