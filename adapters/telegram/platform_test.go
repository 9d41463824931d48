package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/sessions"
)

// notes are remembered over restarts, but not over the test.
type notes map[string]string

func (n notes) Note(_ context.Context, key string) (string, error) { return n[key], nil }

func (n notes) PutNote(_ context.Context, key, value string) error {
	n[key] = value
	return nil
}

func TestAnswer(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		p := w.adapter(nil)
		m := w.See(w.ada.Private())[0].ID
		press := func() (intake.Event, string) {
			id, err := w.ada.Forge(w.ada.ID, m, "o:1")
			if err != nil {
				w.Fatal(err)
			}
			return intake.Event{Action: intake.Pressed{Data: "o:1", Token: id}}, id
		}
		for text, want := range map[string]string{"Stopped.": "Stopped.", "": "", strings.Repeat("😀", 300): strings.Repeat("😀", 199) + "…"} {
			e, id := press()
			if err := p.TellPresser(w.Context(), e, text); err != nil {
				w.Errorf("answer %q: %v", text, err)
			}
			if got, _ := w.Press(id); got.Text != want || got.Answered.IsZero() {
				w.Errorf("the press is %+v, want the answer %q", got, want)
			}
		}
		late, _ := press()
		after(time.Minute)
		if err := p.TellPresser(w.Context(), late, "too late"); err != nil {
			w.Errorf("a late answer: %v", err)
		}
		if err := p.TellPresser(w.Context(), intake.Event{Action: intake.Said{}}, "x"); err == nil {
			w.Error("a text was answered like a press")
		}
		remove := w.Inject(telegramtest.Fault{Method: "answerCallbackQuery", Code: 500, Description: "Internal Server Error"})
		if err := p.TellPresser(w.Context(), late, ""); err == nil {
			w.Error("a refusal isn't an error")
		}
		remove()
	})
}

func TestLink(t *testing.T) {
	a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		chat, thread, message, want string
	}{
		{"-1001234567890", "7", "99", "https://t.me/c/1234567890/7/99"},
		{"-1001234567890", "", "99", "https://t.me/c/1234567890/99"},
		{"-1001234567890", "7", "", "https://t.me/c/1234567890/7"},
		{"-1001234567890", "", "", ""},
		{"-123456", "", "99", ""},
		{"123456", "7", "99", ""},
		{"-100", "7", "99", ""},
		{"-1001/../x", "7", "99", ""},
		{"-1001234567890", "7", "9?9", ""},
	} {
		at := target(0, 0)
		at.Chat, at.Thread = c.chat, c.thread
		if got := a.Link(at, c.message); got != c.want {
			t.Errorf("%v %s is %q, want %q", at, c.message, got, c.want)
		}
	}
}

// sent is a file that a person has sent, as inbound has it.
func (w *world) sent(u telegramtest.Upload) intake.Attachment {
	w.Helper()
	if _, err := w.ada.Send(w.ada.Private(), telegramtest.Post{File: &u}); err != nil {
		w.Fatal(err)
	}
	list := w.Pending()
	e, _, err := telegram.Decoder{}.Decode(list[len(list)-1])
	if err != nil {
		w.Fatal(err)
	}
	return e.Action.(intake.Said).Files[0]
}

func TestFetch(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		p := w.adapter(nil)
		content := bytes.Repeat([]byte("0123456789"), 10_000)
		file := w.sent(telegramtest.Upload{Name: "../../.bashrc", Content: content})
		fetch := func(f intake.Attachment, limit int64) (string, error) {
			var b bytes.Buffer
			err := p.Fetch(w.Context(), f, limit, &b)
			if int64(b.Len()) > limit {
				w.Errorf("%d bytes were written, at most %d may be", b.Len(), limit)
			}
			return b.String(), err
		}
		for _, limit := range []int64{100_000, 100_001, 20 << 20} {
			if got, err := fetch(file, limit); err != nil || got != string(content) {
				w.Errorf("with a limit of %d: %d bytes, %v", limit, len(got), err)
			}
		}
		lying := file
		lying.Size = 1
		for _, f := range []intake.Attachment{file, lying} {
			if _, err := fetch(f, 99_999); !errors.Is(err, intake.ErrTooLarge) {
				w.Errorf("a file that's too large: %v", err)
			}
		}
		huge := w.sent(telegramtest.Upload{Name: "film", Content: content, Size: 2 << 30})
		huge.Size = 0
		if _, err := fetch(huge, 1<<40); !errors.Is(err, intake.ErrTooLarge) {
			w.Errorf("a file that Telegram doesn't give: %v", err)
		}
		if _, err := fetch(intake.Attachment{ID: "nonsense"}, 10); err == nil || errors.Is(err, sessions.ErrUnavailable) {
			w.Errorf("a file that isn't there: %v", err)
		}
		w.Inject(telegramtest.Fault{Method: "getFile", Cut: telegramtest.CutBefore, Times: 1})
		if _, err := fetch(file, 1<<20); !errors.Is(err, sessions.ErrUnavailable) {
			w.Errorf("a dropped connection: %v", err)
		}
		full := errors.New("the disk is full")
		if err := p.Fetch(w.Context(), file, 1<<20, failing{full}); !errors.Is(err, full) || errors.Is(err, sessions.ErrUnavailable) {
			w.Errorf("a full disk: %v", err)
		}
	})
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Whatever a server says a file's path and length are, and wherever it sends us.
func TestFetchFromAStrangeServer(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		answer func(r *http.Request) *http.Response
		want   string
	}{
		"above the folder":    {"../../getMe", nil, "a path that isn't one"},
		"above, in between":   {"documents/../../x", nil, "a path that isn't one"},
		"none":                {"", nil, "a path that isn't one"},
		"a local one":         {"/var/lib/telegram-bot-api/file", nil, "without --local"},
		"a query":             {"documents/x?y=z", nil, "a path that isn't one"},
		"another host":        {"//example.com/x", nil, "without --local"},
		"an endless answer":   {"documents/x", func(r *http.Request) *http.Response { return reply(r, 200, endless{}) }, "too large"},
		"a redirect":          {"documents/x", func(r *http.Request) *http.Response { return reply(r, 302, http.NoBody) }, "302"},
		"an answer cut short": {"documents/x", func(r *http.Request) *http.Response { return reply(r, 200, broken{}) }, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			gone := courier(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/getFile") {
					return answering(200, fmt.Sprintf(`{"ok":true,"result":{"file_id":"x","file_path":%q}}`, c.path))(r)
				}
				if c.answer == nil || r.URL.Host != "api.telegram.org" {
					t.Errorf("%s was called", r.URL)
				}
				return c.answer(r), nil
			})
			a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken, Transport: gone})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			err = a.Fetch(t.Context(), intake.Attachment{ID: "x"}, 1000, &b)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "AAstand") || b.Len() > 1000 {
				t.Errorf("%d bytes, %v; want …%s…", b.Len(), err, c.want)
			}
		})
	}
}

func reply(r *http.Request, status int, body io.Reader) *http.Response {
	header := http.Header{"Location": []string{"https://evil.example" + r.URL.Path}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), Request: r}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestSetCommands(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		kept := notes{}
		ctx := w.Context()
		list := []intake.CommandInfo{{Name: "new", Args: "[agent] [folder]", Help: "Start a session"}, {Name: "help", Help: strings.Repeat("x", 300)}}
		set := func(want int) {
			w.Helper()
			before := len(w.calls("setMyCommands"))
			if err := w.noting(kept).SetCommands(ctx, list); err != nil {
				w.Error(err)
			}
			if n := len(w.calls("setMyCommands")) - before; n != want {
				w.Errorf("%d calls, want %d", n, want)
			}
		}
		set(2)
		set(0) // after a restart, too
		for _, chat := range []int64{w.ada.ID, w.group, w.forum} {
			got := w.Commands(chat, w.ada.ID)
			if len(got) != 2 || got[0] != (telegramtest.Command{Command: "new", Description: "Start a session · [agent] [folder]"}) || len([]rune(got[1].Description)) != 256 {
				w.Errorf("chat %d shows %+v", chat, got)
			}
		}
		list = list[:1]
		w.Inject(telegramtest.Fault{Method: "setMyCommands", Times: 1, RetryAfter: 480 * time.Second})
		for range 10 { // restarts within the penalty
			if err := w.noting(kept).SetCommands(ctx, list); err == nil {
				w.Error("it went through")
			}
			after(45 * time.Second)
		}
		if n := len(w.calls("setMyCommands")); n != 3 {
			w.Errorf("%d calls, want one within the penalty", n)
		}
		after(10 * time.Minute) // four calls in that time are allowed
		set(2)
		if got := w.Commands(w.ada.ID, w.ada.ID); len(got) != 1 {
			w.Errorf("the menu is %+v", got)
		}
	})
}

// Who's in a group is asked of Telegram, and an error isn't an answer.
func TestMember(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		p := w.adapter(nil)
		group := adapters.Target{Adapter: "telegram", Chat: strconv.FormatInt(w.group, 10)}
		person := "telegram:" + strconv.FormatInt(w.ada.ID, 10)
		if in, err := p.Member(w.Context(), group, person); !in || err != nil {
			w.Errorf("she's in: %v, %v", in, err)
		}
		if err := w.ada.Leave(w.group); err != nil {
			w.Fatal(err)
		}
		if in, err := p.Member(w.Context(), group, person); in || err != nil {
			w.Errorf("she's left: %v, %v", in, err)
		}
		for _, wrong := range []string{"telegram:1", "telegram:x", ""} {
			if in, err := p.Member(w.Context(), group, wrong); in || err == nil {
				w.Errorf("%q: %v, %v", wrong, in, err)
			}
		}
	})
}
