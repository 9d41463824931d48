package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// Files that are chosen, pasted or dropped are in the session's folder as they were, and their paths are typed behind the
// text, as those from chats are.
func TestFilesAreSentToASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cwd := t.TempDir()
	uploads := &inbound.Uploads{StateDir: t.TempDir(), MaxFile: 8 << 20}
	s.files = func(p api.FilePart) (string, error) {
		p.Session.Cwd = cwd
		return uploads.TakePart(p.Session, inbound.UploadPart{Key: p.Key, Name: p.Name, Size: p.Size, Offset: p.Offset, Bytes: p.Bytes})
	}
	s.daemon.Add("one", "claude")
	random := drawtest.Rand(t, 0)
	photo := make([]byte, 3<<20+17) // in four parts
	for i := range photo {
		photo[i] = byte(random.IntN(256))
	}
	chosen := filepath.Join(t.TempDir(), "Ein Foto; $(x).jpg")
	if err := os.WriteFile(chosen, photo, 0o600); err != nil {
		t.Fatal(err)
	}
	b := browse(t, 390, 844)
	b.Ignore("status of 422")
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.SetUploadFiles("#file", []string{chosen}))
	b.Until("it's there", `document.querySelector('.file[data-state=there]')`)
	browsertest.Eval[bool](b, `(() => {
		const carry = (text, name) => {
			const data = new DataTransfer();
			data.items.add(new File([text], name, { type: 'text/plain' }));
			return data;
		};
		document.querySelector('#text').dispatchEvent(new ClipboardEvent('paste', { clipboardData: carry('pasted', 'image.png'), bubbles: true, cancelable: true }));
		document.querySelector('#scroller').dispatchEvent(new DragEvent('drop', { dataTransfer: carry('dropped', 'notes.txt'), bubbles: true, cancelable: true }));
		return true;
	})()`)
	b.Until("all are there", `document.querySelectorAll('.file[data-state=there]').length === 3`)
	b.Shot("files")
	// They're there when another view was open meanwhile.
	b.Do(chromedp.Click("#back"), chromedp.WaitVisible("#inbox"))
	browsertest.Eval[bool](b, `(history.back(), true)`)
	b.Until("they're there still", `document.querySelectorAll('.file[data-state=there]').length === 3`)
	b.Do(chromedp.SendKeys("#text", "look at these"), browsertest.Enter())
	b.Until("they're sent", `document.querySelectorAll('.file').length === 0 && document.querySelector('#text').value === '' && `+atRest)
	sent := s.daemon.Receipts()
	if len(sent) != 1 || !strings.HasPrefix(sent[0].Text, "look at these "+cwd) {
		t.Fatalf("sent are %+v", sent)
	}
	for i, want := range [][]byte{photo, []byte("pasted"), []byte("dropped")} {
		path := strings.Fields(sent[0].Text)[3+i]
		if got, err := os.ReadFile(path); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%s has %d bytes, %v; want %d", path, len(got), err, len(want))
		}
	}

	// One that's too large says so, and holds the text until it's removed.
	large := filepath.Join(t.TempDir(), "large.bin")
	if err := os.WriteFile(large, make([]byte, 8<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.SetUploadFiles("#file", []string{large}))
	b.Until("why not", `document.querySelector('.file[data-state=failed]')?.textContent.includes('at most 8 MB')`)
	b.Shot("file-too-large")
	b.Do(chromedp.SendKeys("#text", "and this"), browsertest.Enter())
	b.Until("that it isn't sent", `/couldn’t be sent/.test(document.querySelector('#toast').textContent)`)
	if wide := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390", wide)
	}
	b.Do(chromedp.Click(".file [aria-label^=Remove]"), chromedp.Focus("#text"), browsertest.Enter())
	b.Until("the text alone", `document.querySelector('#text').value === '' && `+atRest)
	if sent = s.daemon.Receipts(); len(sent) != 2 || sent[1].Text != "and this" {
		t.Errorf("sent are %+v", sent)
	}
}

// A file goes on where it was when the daemon was away.
func TestAFileOutlivesTheDaemonsAbsence(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	cwd := t.TempDir()
	uploads := &inbound.Uploads{StateDir: t.TempDir(), MaxFile: 8 << 20}
	stop := make(chan struct{}, 1)
	s.files = func(p api.FilePart) (string, error) {
		p.Session.Cwd = cwd
		path, err := uploads.TakePart(p.Session, inbound.UploadPart{Key: p.Key, Name: p.Name, Size: p.Size, Offset: p.Offset, Bytes: p.Bytes})
		if p.Offset > 0 && path == "" {
			select {
			case stop <- struct{}{}:
			default:
			}
		}
		return path, err
	}
	s.daemon.Add("one", "claude")
	text := strings.Repeat("0123456789abcdef", 4<<16) // 4 MB
	chosen := filepath.Join(t.TempDir(), "long.txt")
	if err := os.WriteFile(chosen, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.SetUploadFiles("#file", []string{chosen}))
	<-stop
	s.stop()
	s.start(t)
	b.Until("it's there, or can be tried again", `document.querySelector('.file[data-state=there]') || [...document.querySelectorAll('.file button')].find((e) => e.textContent === 'Try again')?.click()`)
	b.Until("it's there", `(document.querySelectorAll('.file button').forEach((e) => e.textContent === 'Try again' && (e.click(), e.click())), document.querySelector('.file[data-state=there]'))`)
	b.Do(chromedp.Focus("#text"), browsertest.Enter())
	b.Until("it's sent", `document.querySelectorAll('.file').length === 0 && `+atRest)
	sent := s.daemon.Receipts()
	if got, err := os.ReadFile(sent[0].Text); string(got) != text || err != nil {
		t.Errorf("%s has %d bytes, %v", sent[0].Text, len(got), err)
	}
}
