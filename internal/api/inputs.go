package api

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// maxKeys bounds one call of keys: more is a text, and belongs in input, where
// it's stored and verified.
const maxKeys = 100

// maxKeyBytes bounds the key by which a text is known that's sent again.
const maxKeyBytes = 64

func (a *api) input(w http.ResponseWriter, r *http.Request) error {
	var body Input
	if err := readJSON(w, r, maxInputBodyBytes, &body); err != nil {
		return err
	}
	if len(body.Text) > sessions.MaxInputBytes {
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: codeTooLarge,
			Message: fmt.Sprintf("the text has %d bytes, more than %d", len(body.Text), sessions.MaxInputBytes),
		}
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	req, err := a.inputRequest(r, s.ID, body)
	if err != nil {
		return err
	}
	rcpt, err := a.opts.Sessions.Input(r.Context(), s.ID, req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, a.receiptFor(r, rcpt))
	return nil
}

// withdraw serves POST /api/v1/sessions/{id}/input/withdraw.
func (a *api) withdraw(w http.ResponseWriter, r *http.Request) error {
	var body Withdrawal
	if err := readJSON(w, r, maxInputBodyBytes, &body); err != nil {
		return err
	}
	if body.Key == "" {
		return badRequest(`"key" says which text is taken back: the one that it was sent with`)
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	req, err := a.inputRequest(r, s.ID, body.Input)
	if err != nil {
		return err
	}
	takeBack := a.opts.Sessions.Withdraw
	if body.OnlyLate {
		takeBack = a.opts.Sessions.Forestall
	}
	rcpt, err := takeBack(r.Context(), s.ID, req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(r, rcpt))
	return nil
}

// inputRequest is what's asked of a session by a body. Its key is of this sender and this text.
func (a *api) inputRequest(r *http.Request, id sessions.ID, body Input) (sessions.InputRequest, error) {
	author, name := a.authorOf(r)
	req := sessions.InputRequest{Text: body.Text, Submit: body.Submit == nil || *body.Submit, Author: author, Name: name}
	if body.Key == "" {
		return req, nil
	}
	digest := sha256.Sum256([]byte(body.Text))
	req.Key = a.keyBegin(r, id) + body.Key + fmt.Sprintf(" %x", digest[:8])
	return req, checkKey(body.Key)
}

// keyBegin is what the keys of a sender's texts to a session begin with.
func (a *api) keyBegin(r *http.Request, id sessions.ID) string {
	return fmt.Sprintf("api %s %s ", a.senderOf(r), id)
}

// ownKey is the key that who asks has sent a text with; "": none, or it's another's text.
func (a *api) ownKey(r *http.Request, rcpt sessions.Receipt) string {
	key, isOwn := strings.CutPrefix(rcpt.Key, a.keyBegin(r, rcpt.Session))
	end := strings.LastIndexByte(key, ' ')
	if !isOwn || end < 0 {
		return ""
	}
	return key[:end]
}

// senderOf names who sends a request among all who may use a key.
func (a *api) senderOf(r *http.Request) string {
	author, _ := a.authorOf(r)
	return author + " " + browserOf(r.Context()).ID
}

func checkKey(key string) error {
	if len(key) > maxKeyBytes {
		return badRequest(fmt.Sprintf(`"key" has at most %d bytes`, maxKeyBytes))
	}
	return nil
}

func (a *api) receipt(w http.ResponseWriter, r *http.Request) error {
	rcpt, err := a.opts.Sessions.Receipt(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(r, rcpt))
	return nil
}

func (a *api) cancelReceipt(w http.ResponseWriter, r *http.Request) error {
	rcpt, err := a.opts.Sessions.Cancel(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(r, rcpt))
	return nil
}

// openReceipts serves GET /api/v1/sessions/{id}/receipts: the inputs that aren't done, in
// their order, wherever they were written.
func (a *api) openReceipts(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	list := []any{}
	for _, rcpt := range a.opts.Sessions.Waiting(s.ID) {
		list = append(list, a.receiptFor(r, rcpt))
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// sendAnyway serves POST /api/v1/receipts/{id}/anyway. It returns when the text, or its
// Enter, is in the pane.
func (a *api) sendAnyway(w http.ResponseWriter, r *http.Request) error {
	var body Anyway
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if body.Quoted == "" {
		return badRequest(`"quoted" says which screen was looked at: the receipt has it`)
	}
	by, _ := a.authorOf(r)
	var rcpt sessions.Receipt
	var err error
	if body.Revival == "" {
		rcpt, err = a.opts.Sessions.SendAnyway(r.Context(), r.PathValue("id"), body.Quoted, by)
	} else {
		rcpt, err = a.opts.Sessions.Revive(r.Context(), r.PathValue("id"), body.Quoted, by, body.Revival)
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(r, rcpt))
	return nil
}

// seenAgo is how old what a person at the page presses a key for is at least: what has come
// up since then, nobody has pressed it for.
const seenAgo = 700 * time.Millisecond

func (a *api) keys(w http.ResponseWriter, r *http.Request) error {
	var body Keys
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if len(body.Keys) == 0 || len(body.Keys) > maxKeys {
		return badRequest(fmt.Sprintf(`"keys" takes 1 to %d key names, such as "Escape" or "C-c"`, maxKeys))
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	author, _ := a.authorOf(r)
	press := sessions.KeyPress{Keys: body.Keys, Author: author, Answers: a.may(r.Context(), access.Approver)}
	if press.Seen, err = a.seenAt(s.ID, body.Frame); err != nil {
		return err
	}
	if err := a.opts.Sessions.Keys(r.Context(), s.ID, press); err != nil {
		return err
	}
	if a.opts.Terminals != nil {
		a.opts.Terminals.Look(s.ID)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Prompt is a question that an agent asks in its pane, as the API shows it: with its
// secrets masked.
type Prompt struct {
	ID      string              `json:"id"`
	Session sessions.ID         `json:"session"`
	Kind    sessions.PromptKind `json:"kind"`
	Title   string              `json:"title"`
	Body    string              `json:"body,omitempty"`   // lines joined with "\n"
	Diff    bool                `json:"diff,omitempty"`   // Body is a unified diff of what would change in files
	Note    string              `json:"note,omitempty"`   // why it isn't, though files would change
	Folder  string              `json:"folder,omitempty"` // where a command would run
	Cut     bool                `json:"cut,omitempty"`    // the beginning of Body isn't on the screen
	// Recorded says that Body is the agent's own record of the call, and not what's drawn;
	// Disputed that they differ, and Body is both.
	Recorded bool `json:"recorded,omitempty"`
	Disputed bool `json:"disputed,omitempty"`
	// Unseen says that Body isn't surely all that it's about: then only what refuses can be
	// chosen.
	Unseen  bool           `json:"unseen,omitempty"`
	Options []PromptOption `json:"options"` // never null
	// Multi says that any number of Options may be chosen.
	Multi bool `json:"multi,omitempty"`
	// Text is the label of what takes free text; "": it takes none.
	Text string `json:"text,omitempty"`
	// Hidden says that what's typed isn't shown: of the kind line.
	Hidden   bool                 `json:"hidden,omitempty"`
	State    sessions.PromptState `json:"state"`
	Reason   string               `json:"reason,omitempty"` // why it's closed
	Answer   *PromptAnswer        `json:"answer,omitempty"` // the one that counts
	OpenedAt time.Time            `json:"opened_at"`
	ClosedAt time.Time            `json:"closed_at,omitzero"`
}

// PromptOption is one that can be chosen.
type PromptOption struct {
	N      int    `json:"n"` // from 1, as it's drawn
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	// Refuses says that it allows nothing, whatever the question is.
	Refuses bool `json:"refuses,omitempty"`
	// Offered says that it can be chosen: it allows nothing, or all of the question is known.
	Offered bool `json:"offered,omitempty"`
}

// PromptAnswer is who answered what.
type PromptAnswer struct {
	Options []int  `json:"options,omitempty"` // numbers, see PromptOption.N
	Chosen  string `json:"chosen"`            // the labels of the options, or the text
	Author  string `json:"author"`            // "web", "cli", "PLATFORM:123"
	Name    string `json:"name,omitempty"`    // what people call them
}

// AnswerRequest is the body of POST /api/v1/prompts/{id}/answer: one of its fields.
type AnswerRequest struct {
	Option  *PromptChoice  `json:"option,omitempty"`
	Options []PromptChoice `json:"options,omitzero"` // of a prompt with Multi; none is [] there
	Text    string         `json:"text,omitempty"`
}

// PromptChoice names an option by its number (from 1) or its label.
type PromptChoice struct {
	N     int    // 0: it's Label
	Label string // exactly as it's shown
}

// MarshalJSON writes a number or a string.
func (c PromptChoice) MarshalJSON() ([]byte, error) {
	if c.N != 0 {
		return json.Marshal(c.N)
	}
	return json.Marshal(c.Label)
}

// UnmarshalJSON reads a number or a string.
func (c *PromptChoice) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &c.Label) == nil && string(text) != "null" {
		return nil
	}
	if json.Unmarshal(text, &c.N) != nil || c.N < 1 {
		return errors.New(`an option is given by its number, from 1, or its label as a string`)
	}
	return nil
}

// newPrompt shows a prompt. Each of its texts is masked by itself, as it was judged whether a mask
// hides too much.
func (a *api) newPrompt(p sessions.Prompt) Prompt {
	line := func(text string) string { return a.hiddenText(sessions.Legible(text)) }
	out := Prompt{
		ID: p.ID, Session: p.Session, Kind: p.Dialog.Kind, Title: line(p.Dialog.Title), Body: a.aboutOf(p.Dialog),
		Diff: p.Dialog.IsDiff(), Note: line(p.Dialog.Note), Folder: line(p.Dialog.Folder),
		Cut: p.Dialog.Cut && p.Dialog.Whole == "", Recorded: p.Dialog.Whole != "", Disputed: p.Dialog.Disputed, Unseen: p.Dialog.Unseen || p.Dialog.Masked, Options: []PromptOption{}, Multi: p.Dialog.Kind == sessions.PromptMulti, Text: p.Dialog.Text, Hidden: p.Dialog.Hidden,
		State: p.State, Reason: p.Reason, OpenedAt: p.OpenedAt, ClosedAt: p.ClosedAt,
	}
	if p.Kind() == sessions.PromptInquiry && out.Body == out.Title { // one line is shown once
		out.Body = ""
	}
	for i, o := range p.Dialog.Options {
		out.Options = append(out.Options, PromptOption{N: i + 1, Label: line(o.Label), Detail: line(o.Detail), Refuses: o.Refuses, Offered: p.Dialog.Offers(i)})
	}
	if p.Answer != nil {
		out.Answer = &PromptAnswer{Chosen: line(p.Chosen()), Author: p.Answer.Author, Name: p.Answer.Name}
		for _, i := range p.Answer.Options {
			out.Answer.Options = append(out.Answer.Options, i+1)
		}
	}
	return out
}

// aboutOf is what a question is about, without secrets.
func (a *api) aboutOf(d sessions.Dialog) string {
	if d.IsDiff() {
		return toolview.MaskDiff(a.opts.Masker, d.About())
	}
	return a.hiddenText(d.About())
}

// prompts serves GET /api/v1/prompts: the open ones, oldest first.
func (a *api) prompts(w http.ResponseWriter, _ *http.Request) error {
	out := []Prompt{}
	for _, p := range a.opts.Sessions.Prompts() {
		out = append(out, a.newPrompt(p))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// AnsweredPrompt is a question that was answered, as GET /api/v1/sessions/{id}/prompts lists them.
type AnsweredPrompt struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Chosen string    `json:"chosen,omitempty"` // "": none of its options
	Author string    `json:"author"`
	Name   string    `json:"name,omitempty"` // what people call the author
	At     time.Time `json:"at"`             // when it was answered
}

// maxAnswered is how many answered prompts are listed at most.
const maxAnswered = 200

// answeredPrompts serves GET /api/v1/sessions/{id}/prompts: those that were answered between two
// times, the newest first.
func (a *api) answeredPrompts(w http.ResponseWriter, r *http.Request) error {
	from, err := queryTime(r, "from", time.Unix(0, 0))
	if err != nil {
		return err
	}
	to, err := queryTime(r, "to", time.Unix(0, math.MaxInt64))
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	all, err := a.opts.Output.AnsweredPrompts(r.Context(), s.ID, from, to, maxAnswered)
	if err != nil {
		return err
	}
	out := []AnsweredPrompt{}
	for _, p := range all {
		if shown := a.newPrompt(p); shown.Answer != nil {
			out = append(out, AnsweredPrompt{ID: p.ID, Title: shown.Title, Chosen: shown.Answer.Chosen, Author: shown.Answer.Author, Name: shown.Answer.Name, At: p.ClosedAt})
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// queryTime returns a query parameter that is a time.
func queryTime(r *http.Request, name string, def time.Time) (time.Time, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil {
		return t, badRequest(fmt.Sprintf("%s must be a time like 2026-01-31T12:00:00Z, not %q", name, v))
	}
	return t, nil
}

// prompt serves GET /api/v1/prompts/{id}, whatever became of it.
func (a *api) prompt(w http.ResponseWriter, r *http.Request) error {
	p, err := a.opts.Sessions.Prompt(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newPrompt(p))
	return nil
}

// answerPrompt serves POST /api/v1/prompts/{id}/answer. It returns when the answer was
// given in the pane; an error comes with the prompt as it is now.
func (a *api) answerPrompt(w http.ResponseWriter, r *http.Request) error {
	var body AnswerRequest
	if err := readJSON(w, r, maxInputBodyBytes, &body); err != nil {
		return err
	}
	p, err := a.opts.Sessions.Prompt(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	answer, err := a.answerOf(r, body, p)
	if err != nil {
		return err
	}
	p, err = a.opts.Sessions.Answer(r.Context(), p.ID, answer)
	if err != nil {
		e := *toError(err)
		if errors.Is(err, sessions.ErrInvalid) {
			e.Status, e.Code = http.StatusBadRequest, codeBadRequest
		}
		if p.ID != "" {
			shown := a.newPrompt(p)
			e.Prompt = &shown
		}
		return &e
	}
	writeJSON(w, http.StatusOK, a.newPrompt(p))
	return nil
}

// answerOf finds the options that a request names.
func (a *api) answerOf(r *http.Request, body AnswerRequest, p sessions.Prompt) (sessions.Answer, error) {
	out := sessions.Answer{Text: body.Text}
	out.Author, out.Name = a.authorOf(r)
	choices := body.Options
	given := 0
	for _, one := range []bool{body.Option != nil, body.Options != nil, body.Text != ""} {
		if one {
			given++
		}
	}
	if given != 1 {
		return out, badRequest(`give one of "option", "options" and "text"`)
	}
	if body.Option != nil {
		choices = []PromptChoice{*body.Option}
	}
	if body.Text != "" {
		return out, nil
	}
	out.Options = []int{}
	shown := a.newPrompt(p)
	for _, c := range choices {
		i, err := indexOf(c, shown, p.Dialog.Options)
		if err != nil {
			return out, err
		}
		out.Options = append(out.Options, i)
	}
	return out, nil
}

// indexOf finds an option by its number, or by its label with or without its secrets.
func indexOf(c PromptChoice, shown Prompt, options []sessions.DialogOption) (int, error) {
	if c.N > 0 {
		return c.N - 1, nil // whether there's one the manager says
	}
	found := -1
	var labels []string
	for i, o := range shown.Options {
		labels = append(labels, fmt.Sprintf("%d %q", o.N, o.Label))
		if o.Label != c.Label && options[i].Label != c.Label {
			continue
		}
		if found >= 0 {
			return 0, badRequest(fmt.Sprintf("several options are %q; give a number", c.Label))
		}
		found = i
	}
	if found < 0 {
		return 0, badRequest(fmt.Sprintf("there is no option %q; there are %s", c.Label, strings.Join(labels, ", ")))
	}
	return found, nil
}
