package telegramtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxBody leaves room for the largest document and its form around it.
const maxBody = maxUpload + 1<<20

// upload is a file in a multipart body.
type upload struct {
	name    string
	content []byte
}

// params are a call's arguments, however they came. What isn't text in a JSON
// body is kept as JSON, which is what the other two kinds of body hold anyway.
type params struct {
	values map[string]string
	files  map[string]upload
}

// readParams reads the arguments of a call in any of the four ways the Bot API
// takes them (core.telegram.org/bots/api#making-requests).
func readParams(r *http.Request) (params, *refusal) {
	p := params{values: map[string]string{}, files: map[string]upload{}}
	p.add(r.URL.Query())
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	body := http.MaxBytesReader(nil, r.Body, maxBody)
	switch kind {
	case "multipart/form-data":
		err = p.readMultipart(body, attributes["boundary"])
	case "application/json":
		err = p.readJSON(body)
	case "application/x-www-form-urlencoded":
		err = p.readForm(body)
	default:
		_, err = io.Copy(io.Discard, body)
	}
	return p, bodyRefusal(err)
}

func bodyRefusal(err error) *refusal {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	return badRequest("can't parse the request: %v", err)
}

func (p params) add(values url.Values) {
	for key, list := range values {
		p.values[key] = list[len(list)-1]
	}
}

func (p params) readForm(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(string(text))
	p.add(values)
	return err
}

func (p params) readJSON(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil || len(strings.TrimSpace(string(text))) == 0 {
		return err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	if object == nil {
		return errors.New("JSON object expected") // it's null
	}
	for key, raw := range object {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			p.values[key] = s
		} else {
			p.values[key] = string(raw)
		}
	}
	return nil
}

// readMultipart takes an empty body for no arguments: clients that build every
// call alike send the header without a part.
func (p params) readMultipart(body io.Reader, boundary string) error {
	if boundary == "" {
		return errors.New("the boundary is missing")
	}
	buffered := bufio.NewReader(body)
	if _, err := buffered.Peek(1); errors.Is(err, io.EOF) {
		return nil
	}
	parts := multipart.NewReader(buffered, boundary)
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF { //nolint:errorlint // a wrapped one is the end of the body before that of the form
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if name := part.FileName(); name != "" {
			p.files[part.FormName()] = upload{name, content}
		} else {
			p.values[part.FormName()] = string(content)
		}
	}
}

// recorded returns the arguments for the record; of files only the size, since
// the chat keeps the content.
func (p params) recorded() map[string]string {
	all := maps.Clone(p.values)
	for key, file := range p.files {
		all[key] = file.name + " (" + strconv.Itoa(len(file.content)) + " bytes)"
	}
	return all
}

func (p params) text(key string) string { return p.values[key] }

func (p params) has(key string) bool { return p.values[key] != "" }

// flag reads booleans as generously as Telegram does.
func (p params) flag(key string) bool {
	switch strings.ToLower(strings.TrimSpace(p.values[key])) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// number returns 0 for what's missing or isn't a number, as Telegram does.
func (p params) number(key string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(p.values[key]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// decode reads a JSON argument; a missing one leaves into alone.
func (p params) decode(key string, into any) error {
	if !p.has(key) {
		return nil
	}
	return json.Unmarshal([]byte(p.values[key]), into)
}

// reply is the frame of every answer
// (core.telegram.org/bots/api#making-requests).
type reply struct {
	OK          bool             `json:"ok"`
	Result      any              `json:"result,omitempty"`
	ErrorCode   int              `json:"error_code,omitempty"`
	Description string           `json:"description,omitempty"`
	Parameters  *replyParameters `json:"parameters,omitempty"`
}

type replyParameters struct {
	MigrateToChatID int64 `json:"migrate_to_chat_id,omitempty"`
	RetryAfter      int   `json:"retry_after,omitempty"`
}

func writeResult(w http.ResponseWriter, result any) {
	writeJSON(w, http.StatusOK, reply{OK: true, Result: result})
}

func writeRefusal(w http.ResponseWriter, r *refusal) {
	answer := reply{ErrorCode: r.code, Description: r.text}
	if r.retryAfter > 0 || r.migrateTo != 0 {
		seconds := int(r.retryAfter.Seconds())
		answer.Parameters = &replyParameters{MigrateToChatID: r.migrateTo, RetryAfter: seconds}
		if seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	writeJSON(w, r.code, answer)
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that's gone is none of the stand-in's business.
	_, _ = w.Write(body)
}
