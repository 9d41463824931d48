package telegram_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

func (w *world) probe(change func(o *telegram.Options)) *telegram.Probe {
	w.Helper()
	opt := telegram.Options{Token: exchange.Token(w.Token()), APIURL: "http://api", Transport: w.client}
	if change != nil {
		change(&opt)
	}
	p, err := telegram.NewProbe(opt)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func (w *world) bot(p *telegram.Probe) telegram.BotAccount {
	w.Helper()
	b, err := p.Bot(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func TestProbeSeesWhoTheBotIs(t *testing.T) {
	for _, with := range []telegramtest.Options{{}, {Privacy: true, PrivateTopics: true}} {
		inBubble(t, with, func(w *world) {
			want := telegram.BotAccount{
				ID: w.Server.Bot().ID, Name: "panebridge", User: "panebridge_bot",
				HearsAll: !with.Privacy, PrivateTopics: with.PrivateTopics,
			}
			if got := w.bot(w.probe(nil)); got != want {
				t.Errorf("the bot is %+v, want %+v", got, want)
			}
		})
	}
}

func TestProbeTellsAWrongTokenFromAWrongAddress(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		const wrong = "7000000001:another-secret-that-nobody-knows"
		_, err := w.probe(func(o *telegram.Options) { o.Token = wrong }).Bot(w.Context())
		if !exchange.IsUnauthorized(err) || strings.Contains(fmt.Sprintf("%+v", err), "another-secret") {
			t.Errorf("a wrong token is %v", err)
		}
		_, err = w.probe(func(o *telegram.Options) { o.APIURL = "http://api/elsewhere" }).Bot(w.Context())
		if err == nil || exchange.IsUnauthorized(err) {
			t.Errorf("a wrong address is %v", err)
		}
		w.Inject(telegramtest.Fault{Method: "getMe", Times: 1, RetryAfter: time.Minute})
		_, err = w.probe(nil).Bot(w.Context())
		if exchange.RetryAfter(err) != time.Minute {
			t.Errorf("an ordered silence is %v", err)
		}
	})
}

func TestProbeSeesWhatTheBotMayDo(t *testing.T) {
	inBubble(t, telegramtest.Options{PrivateTopics: true}, func(w *world) {
		plain := w.AddChat(telegramtest.ChatSpec{Title: "plain", Forum: true}, w.ada)
		few := w.AddChat(telegramtest.ChatSpec{Title: "few", Forum: true, BotRights: &telegramtest.Rights{PinMessages: true}}, w.ada)
		mute := w.AddForum("mute", w.ada)
		gone := w.AddForum("gone", w.ada)
		without := w.AddChat(telegramtest.ChatSpec{Title: "without", WithoutBot: true}, w.ada)
		for _, err := range []error{w.ada.MuteBot(mute), w.ada.KickBot(gone)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := w.probe(nil)
		bot := w.bot(p)
		for id, want := range map[int64]telegram.ProbedChat{
			w.forum:  {Title: "agents", Topics: true, Admin: true, MayWrite: true, MayTopic: true},
			w.group:  {Title: "group", Basic: true, MayWrite: true},
			w.ada.ID: {Title: "Ada", Private: true, Topics: true, MayWrite: true, MayTopic: true},
			plain:    {Title: "plain", Topics: true, MayWrite: true},
			few:      {Title: "few", Topics: true, Admin: true, MayWrite: true},
			mute:     {Title: "mute", Topics: true},
		} {
			want.ID = id
			if got, err := p.Chat(w.Context(), bot, id); err != nil || got != want {
				t.Errorf("chat %d is %+v, %v, want %+v", id, got, err, want)
			}
		}
		for _, id := range []int64{gone, without, -12345} {
			if got, err := p.Chat(w.Context(), bot, id); err == nil {
				t.Errorf("chat %d, where the bot isn't, is %+v", id, got)
			}
		}
	})
}

// upgraded answers as Telegram does when a group that was upgraded is asked for its
// members: the group itself can still be read.
type upgraded struct {
	next     http.RoundTripper
	old, new int64
}

func (u upgraded) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(r.URL.Path, "/getChatMember") && strings.Contains(string(body), number(u.old)) {
		text := fmt.Sprintf(`{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":%d}}`, u.new)
		return &http.Response{StatusCode: http.StatusBadRequest, Request: r, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	return u.next.RoundTrip(out)
}

func TestProbeFollowsAnUpgrade(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		id, err := w.ada.Migrate(w.group, true)
		if err != nil {
			t.Fatal(err)
		}
		p := w.probe(func(o *telegram.Options) { o.Transport = upgraded{w.client, w.group, id} })
		want := telegram.ProbedChat{ID: id, Title: "group", Topics: true, MayWrite: true}
		if got, err := p.Chat(w.Context(), w.bot(p), w.group); err != nil || got != want {
			t.Errorf("the group is %+v, %v, want %+v", got, err, want)
		}
	})
}

// Whatever the probe looks at, the daemon gets.
func TestProbeAcknowledgesNothing(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		p := w.probe(nil)
		if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, "in the forum"); err != nil {
			t.Fatal(err)
		}
		before := len(w.Pending())
		for range 3 {
			seen, err := p.PendingUpdates(w.Context(), time.Second)
			if err != nil || len(seen.Heard) != 2 || seen.Full {
				t.Fatalf("looked: %+v, %v", seen, err)
			}
			want := telegram.HeardMessage{
				Update: seen.Last, Person: w.ada.ID, Name: "Ada", Chat: w.forum, Title: "agents", Text: "in the forum",
			}
			if seen.Heard[1] != want {
				t.Errorf("heard %+v, want %+v", seen.Heard[1], want)
			}
		}
		if rival, err := p.FindRival(w.Context(), time.Minute); rival || err != nil {
			t.Errorf("a rival: %t, %v", rival, err)
		}
		if after := len(w.Pending()); after != before || before == 0 {
			t.Errorf("%d updates wait, before it were %d", after, before)
		}
	})
}

func TestProbeWaitsForAMessage(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		p := w.probe(nil)
		first, err := p.PendingUpdates(w.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.AcknowledgeUpdates(w.Context(), first.Last); err != nil || len(w.Pending()) > 0 {
			t.Fatalf("forgot: %v, %d wait", err, len(w.Pending()))
		}
		began := time.Now()
		if none, err := p.PendingUpdates(w.Context(), 30*time.Second); err != nil || len(none.Heard) > 0 || time.Since(began) < 30*time.Second {
			t.Errorf("looked at nothing: %+v, %v, after %s", none, err, time.Since(began))
		}
		go func() {
			time.Sleep(10 * time.Second)
			_, _ = w.ada.Say(w.ada.Private(), "here I am") // else nothing is heard
		}()
		began = time.Now()
		seen, err := p.PendingUpdates(w.Context(), 30*time.Second)
		if err != nil || len(seen.Heard) != 1 || !seen.Heard[0].Private || time.Since(began) >= 30*time.Second {
			t.Errorf("looked: %+v, %v, after %s", seen, err, time.Since(began))
		}
	})
}

func TestProbeSaysWhenMoreMayWait(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		for i := range 120 {
			if _, err := w.ada.Say(w.ada.Private(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		p := w.probe(nil)
		seen, err := p.PendingUpdates(w.Context(), 0)
		if err != nil || !seen.Full {
			t.Fatalf("looked: full %t, %v", seen.Full, err)
		}
		if err := p.AcknowledgeUpdates(w.Context(), seen.Last); err != nil {
			t.Fatal(err)
		}
		seen, err = p.PendingUpdates(w.Context(), 0)
		if err != nil || seen.Full || len(seen.Heard) != 21 || seen.Heard[20].Text != "119" {
			t.Errorf("looked again: %+v, %v", seen, err)
		}
	})
}

func TestProbeFindsAnotherReader(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		ctx, stop := context.WithCancel(w.Context())
		poller := w.adapter(nil).Poller(telegram.PollerOptions{Keeper: &kept{}})
		ended := make(chan error, 1)
		go func() { ended <- poller.Run(ctx) }()
		after(time.Second)
		p := w.probe(nil)
		if rival, err := p.FindRival(w.Context(), 4*time.Second); !rival || err != nil {
			t.Errorf("beside a poller, a rival: %t, %v", rival, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if rival, err := p.FindRival(w.Context(), 4*time.Second); rival || err != nil {
			t.Errorf("without one, a rival: %t, %v", rival, err)
		}
	})
}

func TestProbeSeesAWebhook(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		p := w.probe(nil)
		if h, err := p.Webhook(w.Context()); err != nil || h.Host != "" || h.Pending != 1 {
			t.Errorf("without a webhook: %+v, %v", h, err)
		}
		hook, err := w.adapter(nil).Webhook(telegram.WebhookOptions{Keeper: &kept{}, URL: "https://bot.example/secret-path"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(w.Context(), time.Second)
		defer stop()
		if err := hook.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if h, err := p.Webhook(w.Context()); err != nil || h.Host != "bot.example" {
			t.Errorf("with one: %+v, %v", h, err)
		}
		if _, err := p.PendingUpdates(w.Context(), 0); !telegram.IsConflict(err) {
			t.Errorf("looked: %v", err)
		}
		if err := p.DeleteWebhook(w.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.PendingUpdates(w.Context(), 0); err != nil {
			t.Errorf("looked when it was away: %v", err)
		}
	})
}

// What strangers write is shown on a terminal: it may hold nothing that moves the
// cursor, and nobody can be made up.
func TestProbeTrustsNobody(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		first, err := w.probe(nil).PendingUpdates(w.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		mallory := map[string]any{"id": 666, "first_name": "Mal\x1b[2J\u202elory\n\n", "username": "m\x07"}
		chat := map[string]any{"id": -5, "type": "supergroup", "title": "a\nb"}
		message := func(more map[string]any) map[string]any {
			m := map[string]any{"message_id": 1, "from": mallory, "chat": chat, "text": strings.Repeat("x\x1b]0;", 200)}
			maps.Copy(m, more)
			return map[string]any{"message": m}
		}
		for _, u := range []map[string]any{
			message(nil),
			message(map[string]any{"sender_chat": chat}),
			message(map[string]any{"from": map[string]any{"id": 1087968824, "is_bot": true, "first_name": "Group"}}),
			message(map[string]any{"chat": map[string]any{"id": "no number"}}),
			message(map[string]any{"chat": map[string]any{"id": -6, "type": "channel"}}),
			{"my_chat_member": map[string]any{"from": mallory, "chat": chat, "new_chat_member": map[string]any{"status": "kicked"}}},
			{"my_chat_member": map[string]any{"from": mallory, "chat": chat, "new_chat_member": map[string]any{"status": "member"}}},
			{"message": "a text"},
			{"something_new": map[string]any{}},
		} {
			w.Push(u)
		}
		seen, err := w.probe(nil).PendingUpdates(w.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := seen.Heard[len(first.Heard):]
		if len(got) != 4 || got[0].Person != 666 || got[1].Person != 0 || got[2].Person != 0 || got[3].Person != 666 {
			t.Fatalf("heard %+v", got)
		}
		for _, h := range got {
			all := h.Name + h.User + h.Title + h.Text
			if strings.ContainsAny(all, "\x1b\x07\n\u202e") || len(h.Text) > 100 {
				t.Errorf("heard %q", all)
			}
		}
		if seen.Last != first.Last+9 {
			t.Errorf("the last is %d, want %d", seen.Last, first.Last+9)
		}
	})
}

func TestProbeRefusesWhatIsNoToken(t *testing.T) {
	if telegram.ValidToken("hello") || !telegram.ValidToken(telegramtest.DefaultToken) {
		t.Error("a token is known by its form")
	}
	if _, err := telegram.NewProbe(telegram.Options{Token: "hello", Transport: http.DefaultTransport}); err == nil {
		t.Error("made a probe without a token")
	}
}
