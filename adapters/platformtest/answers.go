package platformtest

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/sessions"
)

// AnswersChat is a place of a platform where a session is mirrored.
type AnswersChat struct {
	Bridge *adaptertest.Bridge
	Seen   func() []adaptertest.Message
	// Bare leaves out of what's seen, and of what should be, what a person doesn't read but a
	// message's source has. Nil: there's nothing such.
	Bare func(text string) string
}

// Answers is the conformance suite of what's mirrored of real agents: what they answer is
// seen as it's written, never twice, and in the end it's there once, in order, as its
// Markdown says, with nothing else but their tools and what they were asked. in runs a test
// in a bubble with a place that mirrors all sessions; no process runs yet.
func Answers(t *testing.T, in func(t *testing.T, test func(c AnswersChat))) {
	t.Helper()
	for _, name := range []string{"claude/basic-full-120x40", "codex/tools-inline-100x35", "opencode/ask-alt-120x40"} {
		t.Run(name, func(t *testing.T) {
			blocks := spoken(t, name)
			// A block that ends within a fence, and one that would go on in a list.
			blocks = append(blocks,
				adaptertest.Block{Kind: sessions.KindAnswer, Text: "- look:\n```go\nfunc unfinished("},
				adaptertest.Block{Kind: sessions.KindAnswer, Text: "  **next** block", Ends: true})
			in(t, func(c AnswersChat) { c.answers(t, blocks) })
		})
	}
}

// answers speaks the blocks, and looks at the chat all the while and in the end.
func (c AnswersChat) answers(t *testing.T, blocks []adaptertest.Block) {
	t.Helper()
	c.Bridge.Start()
	defer c.Bridge.Stop()
	c.Bridge.Begin(AskingText, "api")
	live := 0
	for i, block := range blocks {
		all := adaptertest.Letters(texts(blocks[:i+1], func(b adaptertest.Block) string { return b.Text })...)
		err := c.Bridge.House.Speak(AskingText, []adaptertest.Block{block}, func(d time.Duration) {
			adaptertest.After(d)
			seen := texts(c.Seen(), textOf)
			n := adaptertest.Letters(seen...)
			if limit := all + len("you")*(i+1); n > limit {
				t.Errorf("after %d blocks of %d letters, %d are seen: something stands twice\n%s", i+1, limit, n, strings.Join(seen, "\n---\n"))
			}
			if strings.Contains(strings.Join(seen, "\n"), adaptertest.Status) {
				live++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	adaptertest.After(2 * time.Minute)
	if live == 0 {
		t.Error("nobody ever saw what it's doing")
	}
	c.inTheEnd(t, blocks)
}

// inTheEnd holds the chat against all the blocks.
func (c AnswersChat) inTheEnd(t *testing.T, blocks []adaptertest.Block) {
	t.Helper()
	bare := c.Bare
	if bare == nil {
		bare = func(text string) string { return text }
	}
	seen := c.Seen()
	got := bare(rendertest.Bare(adaptertest.WithoutEndings(texts(seen, textOf))))
	if want := bare(rendered(blocks)); got != want {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		t.Errorf("from byte %d on the chat shows\n%.300q\nwant\n%.300q", at, got[at:], want[at:])
	}
	rang, turns := 0, 0
	for _, m := range seen {
		if m.Rang {
			rang++
		}
	}
	for _, b := range blocks {
		if b.Ends {
			turns++
		}
	}
	if rang != turns {
		t.Errorf("it rang %d times for %d turns", rang, turns)
	}
}

// spoken is what a model said in a recording, as blocks of a transcript.
func spoken(t *testing.T, name string) []adaptertest.Block {
	t.Helper()
	r, err := recording.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := r.Truth()
	if err != nil {
		t.Fatal(err)
	}
	var out []adaptertest.Block
	for _, rule := range truth.Rules {
		out = append(out, adaptertest.Block{Kind: sessions.KindUser, Text: rule.Match + "\n\nplease"})
		for _, s := range rule.Steps {
			if s.Text != "" {
				out = append(out, adaptertest.Block{Kind: sessions.KindAnswer, Text: s.Text})
			}
			for _, tool := range s.Tools {
				out = append(out,
					adaptertest.Block{Kind: sessions.KindTool, Text: "⚙ " + tool.Kind + ": " + string(tool.Args)},
					adaptertest.Block{Kind: sessions.KindTool, Text: "  1\n  2\n  … +298 lines"})
			}
		}
		out[len(out)-1].Ends = true
	}
	return out
}

// rendered is what a chat shows of blocks: of answers what their Markdown says.
func rendered(blocks []adaptertest.Block) string {
	var out strings.Builder
	for _, b := range blocks {
		switch b.Kind {
		case sessions.KindAnswer:
			parts := []render.Part{{Kind: render.Answer, Source: b.Text}}
			out.WriteString(render.Render(parts, render.TextPosition{}, render.End(parts)).String())
		case sessions.KindUser:
			out.WriteString("you:" + b.Text)
		default:
			out.WriteString(b.Text)
		}
	}
	return rendertest.Bare(out.String())
}

func texts[T any](all []T, of func(T) string) []string {
	var out []string
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

func textOf(m adaptertest.Message) string { return m.Text }
