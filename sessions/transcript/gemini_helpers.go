package transcript

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// geminiHelpers finds the sub-agents of a conversation of Gemini CLI, which write files of
// their own (seen with 0.61.0): chats/SESSION/ID.jsonl beside chats/session-TIME-ID.jsonl.
// Nothing there says which agent it is, so it's named by what it was asked first.
type geminiHelpers struct {
	path    string    // of the conversation
	folder  string    // "": the conversation hasn't said yet which it is
	changed time.Time // of the folder
}

func openGemini(path string, at readPosition) (source, error) {
	src, err := openFile(path, decoders[Gemini], at)
	if err != nil {
		return nil, err
	}
	return newFamily(src, &geminiHelpers{path: path}, at), nil
}

func (*geminiHelpers) close() error { return nil }

// find looks into the folder if that has changed. It's looked at again where a sub-agent
// hasn't been asked anything yet.
func (g *geminiHelpers) find(_ context.Context, known func(string) bool, at func(string) readPosition) (out []*helper) {
	if g.folder == "" {
		head, _, err := ends(g.path)
		session := firstOf(head, "sessionId").Str
		if err != nil || session == "" || session != filepath.Base(session) || strings.HasPrefix(session, ".") {
			return nil
		}
		g.folder = filepath.Join(filepath.Dir(g.path), session)
	}
	info, err := os.Stat(g.folder)
	if err != nil || info.ModTime().Equal(g.changed) {
		return nil // there are none, or nobody may know
	}
	entries, err := os.ReadDir(g.folder)
	if err != nil {
		return nil
	}
	all := true
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || known(name) {
			continue
		}
		path := filepath.Join(g.folder, e.Name())
		task := firstUser(path)
		if task == "" {
			all = false
			continue
		}
		src, err := openFile(path, decoders[Gemini], at(name))
		if err != nil {
			continue
		}
		out = append(out, &helper{name: name, by: "sub-agent (" + short(task, 1) + ")", ahead: ahead{src: &answersAlone{src}}})
	}
	if all && hasSettled(info) {
		g.changed = info.ModTime()
	}
	return out
}

// firstUser is what was asked first in a transcript of Gemini CLI; "": nothing yet.
func firstUser(path string) string {
	head, _, err := ends(path)
	if err != nil {
		return ""
	}
	dec := decoders[Gemini]()
	for line := range strings.SplitSeq(string(head), "\n") {
		records, _ := dec.decode([]byte(line), nil)
		for _, r := range records {
			if r.Kind == User {
				return r.Text
			}
		}
	}
	return ""
}
