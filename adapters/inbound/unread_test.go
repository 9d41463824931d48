package inbound_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// unread is a dialog that isn't recognised, whose screen has such rows.
func unread(rows ...string) sessions.Dialog {
	d := sessions.Dialog{Kind: sessions.PromptUnread, Title: "Deploy?", Body: strings.Join(rows, "\n"), Print: strings.Join(rows, "\n")}
	for _, key := range []string{"Esc", "↑", "↓", "Enter", "←", "→", "Tab", "Space", "1", "2", "3", "4", "5", "6", "7", "8", "9", "y", "n"} {
		d.Options = append(d.Options, sessions.DialogOption{Label: key})
	}
	return d
}

// A dialog that isn't recognised rings once, with a picture and keys for approvers. What comes
// of a key, or changes it a little, is shown and rings nobody; another one rings.
func TestADialogThatIsNotRecognisedRings(t *testing.T) {
	inWorld(t, func(w *world) {
		w.question("pr_1", unread("Deploy?", "❯ now", "  later"))
		posts := w.wantPosts("**agent needs you**: Deploy?")
		if !posts[0].Ring || len(posts[0].Picture) == 0 || len(posts[0].Buttons) != 5 {
			t.Fatalf("got %+v", posts[0])
		}
		for _, row := range posts[0].Buttons {
			if len(row) > 5 {
				t.Errorf("%d buttons in a row", len(row))
			}
		}
		if got := labels(posts); !slices.Equal(got[:9], []string{"Esc", "↑", "↓", "Enter", "←", "→", "Tab", "Space", "1"}) {
			t.Errorf("the keys are %v", got)
		}
		w.press(ann, w.button(posts, "↓"))
		w.wantAnswer("takes the role approver")
		w.press(dora, w.button(posts, "↓"))
		w.wantAnswer("Pressed ↓.")
		if got := w.asks.Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{2}) {
			t.Errorf("answers %+v", got)
		}
		closed := w.wantPosts("Somebody pressed ↓.")
		if closed[0].Buttons != nil || len(closed[0].Picture) == 0 {
			t.Errorf("got %+v", closed[0])
		}
		w.pass(time.Second)
		p := w.question("pr_2", unread("Deploy?", "  now", "❯ later"))
		if posts = w.wantPosts("needs you"); posts[0].Ring || len(posts[0].Picture) == 0 {
			t.Errorf("what came of a key: %+v", posts[0])
		}
		w.close(p, "another question took its place")
		p = w.question("pr_3", unread("Deploy?", "  now", "❯ never", "  later"))
		if posts = w.wantPosts("Another question", "needs you"); posts[1].Ring {
			t.Error("a small change rings")
		}
		w.close(p, "another question took its place")
		w.question("pr_4", unread("Which region?", "❯ here", "  there"))
		if posts = w.wantPosts("Another question", "needs you"); !posts[1].Ring {
			t.Error("another dialog doesn't ring")
		}
	})
}

// A field for a key or a code has no keys.
func TestAFieldForACodeHasNoKeys(t *testing.T) {
	inWorld(t, func(w *world) {
		d := unread("Paste your code:")
		d.Options = nil
		w.question("pr_1", d)
		posts := w.wantPosts("a key or a code perhaps")
		if !posts[0].Ring || len(posts[0].Picture) == 0 || !slices.Equal(labels(posts), []string{"Screen"}) {
			t.Errorf("got %+v", posts[0])
		}
	})
}
