package web_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// shelf has what a session has shown.
type shelf struct {
	all     []sessions.Exhibit // the newest first
	content map[string][]byte
}

func (s *shelf) Known(context.Context, sessions.ID, sessions.ExhibitRequest) (sessions.Exhibit, error) {
	return sessions.Exhibit{}, sessions.ErrUnknown
}

func (s *shelf) Read(sessions.Session, string) (sessions.ExhibitFile, error) {
	return sessions.ExhibitFile{}, sessions.ErrUnavailable
}

func (s *shelf) Show(context.Context, sessions.Session, sessions.ExhibitRequest, sessions.ExhibitFile) (sessions.Exhibit, error) {
	return sessions.Exhibit{}, sessions.ErrUnavailable
}

func (s *shelf) Exhibit(_ context.Context, id string) (sessions.Exhibit, error) {
	for _, e := range s.all {
		if e.ID == id {
			return e, nil
		}
	}
	return sessions.Exhibit{}, sessions.ErrUnknown
}

func (s *shelf) Exhibits(context.Context, sessions.ID) ([]sessions.Exhibit, error) { return s.all, nil }

func (s *shelf) Await(ctx context.Context, id string, _ time.Duration) (sessions.Exhibit, error) {
	return s.Exhibit(ctx, id)
}

func (s *shelf) Content(_ context.Context, e sessions.Exhibit) (string, []byte, error) {
	return e.Name, s.content[e.ID], nil
}

func (s *shelf) Newest(sessions.ID) string { return s.all[0].ID }

// What a session shows is said above the composer, and looked at in a dialog: pictures are drawn, nothing of a file runs.
func TestWhatASessionShowsIsLookedAt(t *testing.T) {
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	picture := image.NewRGBA(image.Rect(0, 0, 320, 120))
	for x := range 320 {
		for y := range 120 {
			picture.Set(x, y, color.RGBA{uint8(x), uint8(2 * y), 120, 255})
		}
	}
	var chart bytes.Buffer
	if err := png.Encode(&chart, picture); err != nil {
		t.Fatal(err)
	}
	page := []byte("<script>document.title = 'ran'</script>")
	s.stop()
	s.exhibits = &shelf{
		all: []sessions.Exhibit{
			{ID: "ex_2", Session: id, Name: "chart.png", Path: "chart.png", Caption: "Latency, <b>before</b> and after", Size: int64(chart.Len()), Type: "image/png", At: time.Now()},
			{ID: "ex_1", Session: id, Name: "a-rather-long-name-of-a-report-that-has-no-blank-in-it-at-all.html", Path: "/var/log/report.html", Outside: true, Size: int64(len(page)), Type: "text/html; charset=utf-8", At: time.Now().Add(-time.Hour)},
		},
		content: map[string][]byte{"ex_2": chart.Bytes(), "ex_1": page},
	}
	s.start(t)
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#exhibit"))
	b.Shot("exhibit-new")
	b.Do(chromedp.Click("#exhibit-look"), chromedp.WaitVisible("#exhibits-dialog .exhibit-picture"))
	b.Until("the picture is drawn", `document.querySelector('.exhibit-picture').naturalWidth === 320`)
	b.Shot("exhibits")
	text := browsertest.Eval[string](b, `document.querySelector('#exhibits-list').textContent`)
	for _, want := range []string{"chart.png", "Latency, <b>before</b> and after", "from /var/log/report.html"} {
		if !strings.Contains(text, want) {
			t.Errorf("the dialog says %q, and not %q", text, want)
		}
	}
	if wide := browsertest.Eval[bool](b, `document.querySelector('#exhibits-dialog').scrollWidth > document.querySelector('#exhibits-dialog').clientWidth`); wide {
		t.Error("the dialog is wider than the screen")
	}
	b.Do(chromedp.Click("#exhibits-close"))
	b.Until("it was looked at", `!document.querySelector('#exhibits-dialog').open && document.querySelector('#exhibit').hidden`)
	if title := browsertest.Eval[string](b, `document.title`); title == "ran" {
		t.Error("what's in a file ran")
	}
}

// A program's question is told apart from panebridge's words.
func TestAProgramsQuestionIsOnThePage(t *testing.T) {
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("asking", "claude")
	const title = "May I deploy?"
	s.daemon.Ask(id, sessions.Dialog{
		Kind: sessions.PromptInquiry, Title: title, Body: title, Note: "These are the words of a program in the session, and not panebridge's.", Print: "a",
		Options: []sessions.DialogOption{{Label: "yes"}, {Label: sessions.RefuseInquiry, Refuses: true}}, Text: "Write an answer…",
	})
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	b.Until("the question takes clicks", armed)
	if text := browsertest.Eval[string](b, promptText); strings.Count(text, "May I deploy?") != 1 || !strings.Contains(text, "not panebridge") || !strings.Contains(text, "Don't answer") {
		t.Errorf("the question is %q", text)
	}
	b.Shot("inquiry")
}
