package telegramtest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// listen serves a handler on loopback until the test ends, and returns its
// address.
func listen(t *testing.T, h http.Handler) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- memnet.Serve(ctx, l, h) }()
	t.Cleanup(func() {
		cancel()
		ok(t, <-ended)
	})
	return "http://" + l.Addr().String()
}

// client returns the library's bot, unmodified, on the stand-in.
func (w *world) client(options ...bot.Option) *bot.Bot {
	w.t.Helper()
	b, err := bot.New(w.Token(), append([]bot.Option{bot.WithServerURL(listen(w.t, w))}, options...)...)
	ok(w.t, err)
	return b
}

func TestLibrarySendsAndEdits(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	b := w.client()
	ctx := t.Context()
	markup := &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{
		{Text: "Stop", CallbackData: "stop"}, {Text: "Docs", URL: "https://example.com/"},
	}}}
	preview := true
	m, err := b.SendMessage(ctx, &bot.SendMessageParams{
		ChatID: w.forum, MessageThreadID: w.topic, Text: "😀 \"bold\" <& x", DisableNotification: true,
		Entities:           []models.MessageEntity{{Type: models.MessageEntityTypeBold, Offset: 3, Length: 6}},
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &preview}, ReplyMarkup: markup,
	})
	ok(t, err)
	if m.MessageThreadID != w.topic || !m.IsTopicMessage || m.Text != "😀 \"bold\" <& x" || m.Entities[0].Offset != 3 || m.From.ID != b.ID() ||
		m.ReplyMarkup.InlineKeyboard[0][0].CallbackData != "stop" {
		t.Errorf("the message is %+v", m)
	}
	edited, err := b.EditMessageText(ctx, &bot.EditMessageTextParams{ChatID: w.forum, MessageID: m.ID, Text: "*a*", ParseMode: models.ParseModeMarkdown})
	ok(t, err)
	if edited.Text != "a" || edited.EditDate == 0 || edited.ReplyMarkup != nil {
		t.Errorf("the edited message is %+v", edited)
	}
	_, err = b.EditMessageText(ctx, &bot.EditMessageTextParams{ChatID: w.forum, MessageID: m.ID, Text: "*a*", ParseMode: models.ParseModeMarkdown})
	if !errors.Is(err, bot.ErrorBadRequest) || !strings.Contains(err.Error(), "message is not modified") {
		t.Errorf("the same edit again: %v", err)
	}
	_, err = b.EditMessageReplyMarkup(ctx, &bot.EditMessageReplyMarkupParams{ChatID: w.forum, MessageID: m.ID, ReplyMarkup: markup})
	ok(t, err)

	doc, err := b.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID: w.forum, Caption: "log", Document: &models.InputFileUpload{Filename: "run.log", Data: strings.NewReader("line\n")},
		ReplyParameters: &models.ReplyParameters{MessageID: m.ID},
	})
	ok(t, err)
	file, err := b.GetFile(ctx, &bot.GetFileParams{FileID: doc.Document.FileID})
	ok(t, err)
	if got := fetch(t, b.FileDownloadLink(file)); got != "line\n" || doc.ReplyToMessage.ID != m.ID {
		t.Errorf("the document is %q, an answer to %+v", got, doc.ReplyToMessage)
	}
	photo, err := b.SendPhoto(ctx, &bot.SendPhotoParams{ChatID: w.forum, Photo: &models.InputFileUpload{Filename: "a.png", Data: strings.NewReader(string(pixel(t)))}})
	ok(t, err)
	if photo.Photo[0].Width != 1 {
		t.Errorf("the photo is %+v", photo.Photo)
	}

	topic, err := b.CreateForumTopic(ctx, &bot.CreateForumTopicParams{ChatID: w.forum, Name: "docs"})
	ok(t, err)
	in := w.forum
	for name, call := range map[string]func() (bool, error){
		"editForumTopic": func() (bool, error) {
			return b.EditForumTopic(ctx, &bot.EditForumTopicParams{ChatID: in, MessageThreadID: topic.MessageThreadID, Name: "x"})
		},
		"sendChatAction": func() (bool, error) {
			return b.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: in, MessageThreadID: topic.MessageThreadID, Action: models.ChatActionTyping})
		},
		"pinChatMessage": func() (bool, error) {
			return b.PinChatMessage(ctx, &bot.PinChatMessageParams{ChatID: in, MessageID: m.ID, DisableNotification: true})
		},
		"setMessageReaction": func() (bool, error) {
			return b.SetMessageReaction(ctx, &bot.SetMessageReactionParams{ChatID: in, MessageID: m.ID, Reaction: []models.ReactionType{{
				Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: "👀"},
			}}})
		},
		"setMyCommands": func() (bool, error) {
			return b.SetMyCommands(ctx, &bot.SetMyCommandsParams{
				Commands: []models.BotCommand{{Command: "new", Description: "start"}},
				Scope:    &models.BotCommandScopeChat{ChatID: in},
			})
		},
		"deleteMessages": func() (bool, error) {
			return b.DeleteMessages(ctx, &bot.DeleteMessagesParams{ChatID: in, MessageIDs: []int{doc.ID, photo.ID}})
		},
		"sendMessageDraft": func() (bool, error) {
			return b.SendMessageDraft(ctx, &bot.SendMessageDraftParams{ChatID: opened(w), DraftID: "17", Text: "thinking"})
		},
	} {
		if done, err := call(); err != nil || !done {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
	if len(w.Refusals()) != 1 {
		t.Errorf("refusals are %+v", w.Refusals())
	}
	for _, c := range w.Calls() {
		if c.Method == "setMyCommands" && c.Chat != 0 {
			t.Errorf("commands count for chat %d", c.Chat)
		}
	}
}

func fetch(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	ok(t, err)
	resp, err := http.DefaultClient.Do(r)
	ok(t, err)
	body, err := io.ReadAll(resp.Body)
	ok(t, errors.Join(err, resp.Body.Close()))
	return string(body)
}

func TestLibraryGetsItsTypedErrors(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	b := w.client()
	send := func(chat int64) error {
		_, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat, Text: "x"})
		return err
	}
	w.Inject(telegramtest.Fault{Times: 1, RetryAfter: 300 * time.Second})
	tooMany, isTooMany := errors.AsType[*bot.TooManyRequestsError](send(w.forum))
	if !isTooMany || tooMany.RetryAfter != 300 {
		t.Errorf("a 429 is %v", tooMany)
	}
	moved, err := w.ada.Migrate(w.group, false)
	ok(t, err)
	migrate, isMigrate := errors.AsType[*bot.MigrateError](send(w.group))
	if !isMigrate || int64(migrate.MigrateToChatID) != moved {
		t.Errorf("a migration is %v", migrate)
	}
	if err := send(1); !errors.Is(err, bot.ErrorBadRequest) {
		t.Errorf("an unknown chat is %v", err)
	}
	if err := send(w.ada.ID); !errors.Is(err, bot.ErrorForbidden) {
		t.Errorf("writing first is %v", err)
	}
	w.Inject(telegramtest.Fault{Times: 1, Code: 502, Body: "<html>bad gateway</html>"})
	if err := send(moved); err == nil || !strings.Contains(err.Error(), "decode response body") {
		t.Errorf("a proxy's page is %v", err)
	}
	b.SetToken(strings.Replace(w.Token(), "stand", "stood", 1))
	if err := send(moved); !errors.Is(err, bot.ErrorUnauthorized) {
		t.Errorf("a wrong token is %v", err)
	}
}

func TestLibraryReadsUpdatesAndAnswersPresses(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	m := say(w)
	w.must("editMessageReplyMarkup", of(w, m, args{"reply_markup": buttons("Stop", "stop")}))
	got := make(chan string, 10)
	b := w.client(bot.WithNotAsyncHandlers(), bot.WithErrorsHandler(func(err error) { got <- "error: " + err.Error() }),
		bot.WithDefaultHandler(func(ctx context.Context, b *bot.Bot, u *models.Update) {
			switch {
			case u.CallbackQuery != nil:
				_, err := b.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{CallbackQueryID: u.CallbackQuery.ID, Text: "stopped"})
				ok(t, err)
				got <- "pressed " + u.CallbackQuery.Data
			case u.Message != nil && u.Message.Text != "":
				got <- "said " + u.Message.Text
			}
		}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { b.Start(ctx); close(ended) }()
	if _, err := w.ada.Say(w.at(), "hello"); err != nil {
		t.Error(err)
	}
	press, err := w.bob.Press(w.forum, m, "Stop")
	ok(t, err)
	for _, want := range []string{"said hello", "pressed stop"} {
		if text := <-got; text != want {
			t.Errorf("the bot got %q, want %q", text, want)
		}
	}
	if p, _ := w.Press(press); p.Text != "stopped" || p.Answered.IsZero() {
		t.Errorf("the press is %+v", p)
	}
	ok(t, w.Wait(t.Context(), func() bool { return len(w.Pending()) == 0 }))
	cancel()
	<-ended
}

// The library, its own poll loop, a day of silence and a minute of talk, in no
// time at all.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		client, stop := serve(t, w)
		var b *bot.Bot
		b, err := bot.New(w.Token(), bot.WithServerURL("http://api"), bot.WithHTTPClient(time.Minute, client), bot.WithNotAsyncHandlers(),
			bot.WithDefaultHandler(func(ctx context.Context, _ *bot.Bot, u *models.Update) {
				if u.Message != nil && u.Message.Text != "" {
					_, err := b.SendMessage(ctx, &bot.SendMessageParams{ChatID: u.Message.Chat.ID, MessageThreadID: u.Message.MessageThreadID, Text: "re: " + u.Message.Text})
					if err != nil {
						t.Error(err)
					}
				}
			}))
		ok(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { b.Start(ctx); close(ended) }()

		start := time.Now()
		time.Sleep(24 * time.Hour)
		for range 20 {
			got(t)(w.ada.Say(w.at(), "x"))
			time.Sleep(3 * time.Second)
		}
		synctest.Wait()
		if d := time.Since(start); d != 24*time.Hour+time.Minute {
			t.Errorf("%v have passed", d)
		}
		list := w.CallsTo(w.forum)
		if len(list) != 20 || len(w.Refusals()) != 0 || list[19].At.Sub(list[0].At) != 57*time.Second {
			t.Errorf("%d answers, refusals %+v", len(list), w.Refusals())
		}
		cancel()
		<-ended
		stop()
	})
}
