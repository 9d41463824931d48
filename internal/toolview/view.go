package toolview

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// ToolView is the use of a tool as people look at it. Texts have no control characters but tabs and ends
// of lines.
type ToolView struct {
	Call   int64        `json:"call"`   // number of the first line of its call; 0: it isn't kept
	Result int64        `json:"result"` // and of its result; 0: there's none yet, or it isn't kept
	Name   string       `json:"name"`
	Failed bool         `json:"failed"`
	Input  []InputField `json:"input"`           // never null; without what Files show
	Files  []FileDiff   `json:"files,omitempty"` // what it changes, or has changed
	Output string       `json:"output"`
	// Masked says that secrets were masked in it.
	Masked bool `json:"masked,omitempty"`
}

// InputField is an argument of a call.
type InputField struct {
	Name string `json:"name"` // "": the call has one argument without a name
	Text string `json:"text"`
}

// FileDiff is what changes in a file.
type FileDiff struct {
	Path  string     `json:"path"`
	From  string     `json:"from,omitempty"` // the path that it had
	Does  FileChange `json:"does"`
	Hunks []DiffHunk `json:"hunks"` // never null
	// More is how many lines aren't shown: of one use at most 4000 are.
	More int `json:"more,omitempty"`
}

// FileChange is what becomes of a file.
type FileChange string

// What becomes of files.
const (
	FileEdited  FileChange = "edit"
	FileWritten FileChange = "write" // the whole of it; it may have been there before
	FileAdded   FileChange = "add"
	FileDeleted FileChange = "delete"
)

// DiffHunk are lines of a file that stand one below the other.
type DiffHunk struct {
	Head  string     `json:"head,omitempty"` // where it is, in the agent's words: "func main() {"
	Lines []DiffLine `json:"lines"`
	End   bool       `json:"-"` // they're the file's last, as a patch says
}

// DiffLine is a line that's taken away ("-"), added ("+"), or stays (" ").
type DiffLine struct {
	Op   string `json:"op"`
	Old  int    `json:"old,omitempty"` // its number in the file as it was, from 1; 0: it isn't there, or it isn't known
	New  int    `json:"new,omitempty"` // and as it is then
	Text string `json:"text"`
	// NoEnd says that it's its file's last, without an end.
	NoEnd bool `json:"-"`
}

// maxLines is how many lines of diffs a view has at most.
const maxLines = 4000

// Of makes a view of a use, whose secrets the masker masks; nil: none are.
func Of(use sessions.ToolUse, masker *redact.Masker) ToolView {
	h := hider{masker: masker}
	v := ToolView{Call: use.Call.N, Result: use.Result.N, Name: use.Call.Name, Failed: use.Result.Failed, Input: []InputField{}}
	if v.Name == "" {
		v.Name = use.Result.Name
	}
	v.Name = h.text(plain(v.Name))
	args := parseArgs(use.Call.Args, &h)
	files, shown := args.files(v.Name)
	v.Input = append(v.Input, args.fields(shown)...)
	for i := range v.Input {
		v.Input[i] = h.field(v.Input[i])
	}
	if changed := ParseUnified(plain(use.Result.Diff)); len(changed) > 0 {
		if len(changed) == 1 && len(files) == 1 { // of its path an agent may say the last part alone
			changed[0].Path, changed[0].From = files[0].Path, files[0].From
			if changed[0].Does == FileEdited && files[0].Does != FileWritten {
				changed[0].Does = files[0].Does
			}
		} else if path := args.path(); len(changed) == 1 && path != "" {
			changed[0].Path = path
		}
		files = changed
	}
	bound(files)
	for i := range files {
		h.file(&files[i])
	}
	v.Files = files
	v.Output = h.text(plain(use.Result.Output))
	h.sweep(&v)
	v.Masked = h.masked
	return v
}

// bound drops lines beyond maxLines.
func bound(files []FileDiff) {
	left := maxLines
	for i := range files {
		for j := range files[i].Hunks {
			h := &files[i].Hunks[j]
			if n := len(h.Lines); n > left {
				files[i].More += n - left
				h.Lines = h.Lines[:left]
			}
			left -= len(h.Lines)
		}
	}
}

// plain is a text without escape sequences and control characters, but for tabs and ends of lines.
func plain(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		if strings.IndexFunc(row, isControl) >= 0 {
			rows[i] = strings.Map(func(r rune) rune {
				if isControl(r) {
					return -1
				}
				return r
			}, sgr.Plain(row))
		}
	}
	return strings.Join(rows, "\n")
}

func isControl(r rune) bool { return r != '\t' && r != '\n' && unicode.IsControl(r) }

// argument is one of a call's, with its value as JSON.
type argument struct {
	name  string
	value json.RawMessage
}

// arguments are a call's, in the order in which the agent wrote them.
type arguments []argument

// parseArgs reads a call's arguments, without their secrets where they stand together. What isn't an
// object is one argument without a name.
func parseArgs(text string, h *hider) arguments {
	if text == "" {
		return nil
	}
	if masked := h.text(text); masked != text {
		if !json.Valid([]byte(masked)) {
			quoted, _ := json.Marshal(masked)
			masked = string(quoted)
		}
		text = masked
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return arguments{{value: json.RawMessage(text)}}
	}
	var all arguments
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			break
		}
		all = append(all, argument{name, value})
	}
	return all
}

// text is the first of the arguments of these names that's a text.
func (a arguments) text(names ...string) (text, name string) {
	for _, name := range names {
		for _, one := range a {
			if one.name == name && json.Unmarshal(one.value, &text) == nil && text != "" {
				return plain(text), name
			}
		}
	}
	return "", ""
}

// fields are the arguments as names and texts, without those that are shown elsewhere.
func (a arguments) fields(shown map[string]bool) (out []InputField) {
	for _, one := range a {
		if shown[one.name] {
			continue
		}
		if text := readable(one.value); text != "" {
			out = append(out, InputField{plain(one.name), plain(text)})
		}
	}
	return out
}

// readable is a value as people read it: a text as it is, words in one line, else JSON.
func readable(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var words []string
	if json.Unmarshal(value, &words) == nil {
		return strings.Join(words, " ")
	}
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return string(value)
	}
	return out.String()
}
