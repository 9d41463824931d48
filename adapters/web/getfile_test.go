package web_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// A file of the session's folder is saved by the browser as it is; one that /send wouldn't send says why.
func TestAFileIsGotFromASession(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	cwd, saved := t.TempDir(), t.TempDir()
	files := commands.SentFiles{ShownPath: func(path string) string { return path }}
	s.give = func(_ sessions.Session, path string) (string, []byte, error) {
		path, data, err := files.ReadFile(sessions.Session{Cwd: cwd}, path, math.MaxInt)
		return filepath.Base(path), data, err
	}
	const text = "<script>document.title = 'ran'</script>\x00\xff"
	for name, content := range map[string]string{"report.html": text, "twice.txt": "x", ".env": "X=1"} {
		if err := os.WriteFile(filepath.Join(cwd, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(cwd, "twice.txt"), filepath.Join(cwd, "again.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("report.html", filepath.Join(cwd, "link.html")); err != nil {
		t.Fatal(err)
	}
	s.daemon.Add("one", "claude")
	b := browse(t, 390, 844)
	b.Ignore("status of 422")
	b.Do(browsertest.SaveTo(saved), s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#more"), chromedp.Click("#get"), chromedp.WaitVisible("#get-dialog"))
	for path, why := range map[string]string{"../x": "only files in the session", "again.txt": "another name", "link.html": "only plain files", ".env": "kept back", "none": "no file none"} {
		b.Do(chromedp.SetValue("#get-path", path), chromedp.Click("#get-do"))
		b.Until(why, `document.querySelector('#get-error').textContent.includes('`+why+`')`)
	}
	b.Shot("get-refused")
	b.Do(chromedp.SetValue("#get-path", "report.html"), chromedp.Click("#get-do"))
	b.Until("it's got", `!document.querySelector('#get-dialog').open`)
	var got []byte
	for deadline := time.Now().Add(time.Minute); string(got) != text && time.Now().Before(deadline); {
		b.Do(chromedp.Sleep(20 * time.Millisecond)) // the browser writes it when it likes
		got, _ = os.ReadFile(filepath.Join(saved, "report.html"))
	}
	if string(got) != text {
		t.Errorf("saved is %q", got)
	}
	if title := browsertest.Eval[string](b, `document.title`); title == "ran" {
		t.Error("what's in the file ran")
	}
}
