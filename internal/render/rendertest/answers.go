package rendertest

import (
	"embed"
	"io/fs"
	"testing"
)

//go:embed answers
var answers embed.FS

// Answers returns answers as agents write them, by name.
func Answers(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := fs.ReadDir(answers, "answers")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := fs.ReadFile(answers, "answers/"+f.Name())
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name()] = string(text)
	}
	return out
}
