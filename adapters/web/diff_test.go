package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const someDiff = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -7,3 +7,4 @@\n func a() {\n-\told <b>\n+\tnew <img src=x onerror='window.hit = 1'>\n+--- not a head\n }\n"

// diffShown are the rows of a diff below an element: numbers, sign and text.
const diffShown = `[...document.querySelectorAll('%s .diff > *')].map((row) => [...row.querySelectorAll('span')].map((e) => e.textContent).join('|') || row.textContent)`

const someRows = `["diff --git a/x.go b/x.go","--- a/x.go","+++ b/x.go","@@ -7,3 +7,4 @@","7|7| |func a() {","8||−|\told <b>","|8|+|\tnew <img src=x onerror='window.hit = 1'>","|9|+|--- not a head","9|10| |}"]`

// A question about files shows what would change line by line, with numbers and colours, and a command its folder.
func TestAQuestionShowsItsDiff(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	options := []sessions.DialogOption{{Label: "Yes"}, {Label: "No", Refuses: true}}
	edit := sessions.Dialog{Kind: sessions.PromptPermission, Title: "Do you want to make this edit to x.go?", Whole: "file: x.go", Call: "c", Diff: someDiff, Options: options, Print: "p1"}
	first := s.daemon.Ask(id, edit)
	b := browse(t, 1280, 900)
	b.Do(s.open(), chromedp.WaitVisible("#prompt .diff"))
	b.Until("its rows", fmt.Sprintf(`JSON.stringify(`+diffShown+`) === %q`, "#prompt", compact(someRows)))
	b.Shot("prompt-diff")
	b.Do(chromedp.EmulateViewport(390, 844))
	b.Shot("prompt-diff-phone")
	if wide := browsertest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the phone")
	}
	s.daemon.SetPrompt(first, sessions.PromptClosed, "it was answered in the pane", nil)
	edit.Diff, edit.Note = "", "The file x.go doesn’t have what the agent wants to replace."
	second := s.daemon.Ask(id, edit)
	b.Until("the note", `document.querySelector('#prompt').textContent.includes('doesn’t have what') && !document.querySelector('#prompt .diff')`)
	s.daemon.SetPrompt(second, sessions.PromptClosed, "it was answered in the pane", nil)
	s.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptPermission, Title: "Run it?", Whole: "rm -rf build", Call: "d", Folder: "/srv/p", Options: options, Print: "p2"})
	b.Until("the folder", `document.querySelector('#prompt').textContent.includes('In /srv/p')`)
	if hit := browsertest.Eval[bool](b, `Boolean(window.hit)`); hit {
		t.Error("what's in the diff ran")
	}
}

func compact(text string) string { return strings.ReplaceAll(text, "\t", `\t`) }

// What a session has changed is shown as a diff, of all or of a file; what fails is said.
func TestWhatASessionHasChanged(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.diff = func(_ context.Context, _ sessions.Session, since, file string, _ bool) (api.Changes, error) {
		if file == "../x" {
			return api.Changes{}, fmt.Errorf("%s isn’t in the session’s repository", file)
		}
		c := api.Changes{Root: "/srv/p", Commit: "0123456789abcdef" + since, Files: 1, Diff: someDiff, Notes: []string{"Not shown, since they’re larger than 5 MB: video.mp4."}}
		if file == "none" {
			c.Diff, c.Files = "", 0
		}
		return c, nil
	}
	s.daemon.Add("one", "claude")
	b := browse(t, 1280, 900)
	b.Ignore("status of 422")
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#more"), chromedp.Click("#diff"), chromedp.WaitVisible("#diff-dialog .diff"))
	b.Until("its rows", fmt.Sprintf(`JSON.stringify(`+diffShown+`) === %q`, "#diff-parts", compact(someRows)))
	b.Until("the notes", `document.querySelector('#diff-parts').textContent.includes('1 file has changed in /srv/p since 0123456789.') && document.querySelector('#diff-parts').textContent.includes('video.mp4')`)
	b.Shot("changes")
	b.Do(chromedp.EmulateViewport(390, 844))
	b.Shot("changes-phone")
	if wide := browsertest.Eval[bool](b, `document.querySelector('#diff-dialog').scrollWidth > document.querySelector('#diff-dialog').clientWidth`); wide {
		t.Error("the dialog is wider than the phone")
	}
	if aside := browsertest.Eval[int](b, `(() => { const box = document.querySelector('#diff-parts .diff'); return box.scrollWidth - box.clientWidth; })()`); aside > 0 {
		t.Errorf("%d pixels of its rows are out of sight on a phone", aside)
	}
	b.Do(chromedp.SetValue("#diff-file", "none"), chromedp.Click("#diff-do"))
	b.Until("nothing", `document.querySelector('#diff-parts').textContent.includes('No files have changed') && document.querySelector('#diff-save').hidden`)
	b.Do(chromedp.SetValue("#diff-file", "../x"), chromedp.Click("#diff-do"))
	b.Until("why not", `document.querySelector('#diff-error').textContent.includes('isn’t in the session’s repository')`)
	b.Do(chromedp.Click("#diff-close"))
	b.Until("it's closed", `!document.querySelector('#diff-dialog').open`)
}

// Nothing of a diff is hidden: neither by what turns the direction of writing or is drawn as nothing, nor, in a question, by
// how far to the right it stands.
func TestNothingOfADiffIsHidden(t *testing.T) {
	slow(t)
	s := newSite(t)
	const head = "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+"
	s.diff = func(context.Context, sessions.Session, string, string, bool) (api.Changes, error) {
		return api.Changes{Root: "/srv/p", Files: 1, Diff: head + "if x\u202e \u2066{\u200b a\u200db 👩\u200d💻\x1b[2J\r\n", Notes: []string{}}, nil
	}
	id := s.daemon.Add("one", "claude")
	b := browse(t, 1280, 900)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#more"), chromedp.Click("#diff"), chromedp.WaitVisible("#diff-dialog .diff"), chromedp.EmulateViewport(390, 844))
	want := `if x\u202e \u2066{\u200b a\u200db 👩` + "\u200d" + `💻\u001b[2J\r`
	b.Until("what's hidden", fmt.Sprintf(`document.querySelector('#diff-parts .added .diff-text').textContent === %q`, want))
	b.Shot("changes-hidden")
	b.Do(chromedp.Click("#diff-close"))
	s.daemon.Ask(id, sessions.Dialog{
		Kind: sessions.PromptPermission, Title: "Do you want to make this edit to x.go?", Whole: "file: x.go", Call: "c", Print: "p1",
		Diff: head + "x = 1" + strings.Repeat(" ", 300) + "; rm -rf ~\n", Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "No", Refuses: true}},
	})
	b.Do(chromedp.WaitVisible("#prompt .diff"))
	b.Shot("prompt-long-line")
	const inside = `(() => {
		const box = document.querySelector('#prompt .diff');
		const text = box.querySelector('.added .diff-text');
		return box.scrollWidth <= box.clientWidth && text.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1;
	})()`
	if !browsertest.Eval[bool](b, inside) {
		t.Error("the end of a long line stands outside of what's seen")
	}
}
