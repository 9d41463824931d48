package telegram_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/faults"
)

// The name is asked for until it's there, and the one from the last time counts when
// Telegram can't be reached.
func TestIdentity(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		kept := notes{}
		first := w.noting(kept).Identity()
		remove := w.Inject(telegramtest.Fault{Method: "getMe", Cut: telegramtest.CutBefore})
		asked := make(chan bool, 1)
		go func() { asked <- first.AskUntilKnown(w.Context()) }()
		synctest.Wait()
		if h := first.Health(); h.Condition != intake.Degraded || h.Detail == "" || first.Known() {
			w.Errorf("nobody answers, and health is %+v", h)
		}
		if _, _, err := first.Decode([]byte(`{"update_id":1}`)); err == nil {
			w.Error("an update was read before the bot's name was known")
		}
		time.Sleep(90 * time.Second)
		if h := first.Health(); h.Condition != intake.Down {
			w.Errorf("nobody has answered for 90 s, and health is %+v", h)
		}
		remove()
		if !<-asked || !first.Known() || first.Health().Condition != intake.Well {
			w.Errorf("Telegram has said who the bot is, and health is %+v", first.Health())
		}
		w.Inject(telegramtest.Fault{Method: "getMe", Cut: telegramtest.CutBefore})
		second := w.noting(kept).Identity()
		if began := time.Now(); !second.AskUntilKnown(w.Context()) || time.Since(began) > time.Second {
			w.Errorf("the name from the last time didn't count: %+v", second.Health())
		}
	})
}

// A token that Telegram doesn't take is tried seldom, and health says so at once.
func TestIdentityWithAWrongToken(t *testing.T) {
	inBubble(t, telegramtest.Options{Token: "1:another"}, func(w *world) {
		i := w.adapter(func(o *telegram.Options) { o.Token, o.Notes = telegramtest.DefaultToken, notes{} }).Identity()
		go i.AskUntilKnown(w.Context())
		time.Sleep(10 * time.Minute)
		if h := i.Health(); h.Condition != intake.Down || h.Detail == "" {
			w.Errorf("health is %+v", h)
		}
		if n := len(w.Calls()); n < 12 || n > 25 {
			w.Errorf("Telegram was called %d times in ten minutes with a wrong token", n)
		}
	})
}

// Whatever is answered instead of who the bot is, it's asked again, more and more seldom, and
// health says what's wrong; once Telegram says it, it's known within half a minute.
func TestIdentityIsAskedAgainAfterOddAnswers(t *testing.T) {
	results := rapid.OneOf(
		rapid.SampledFrom([]string{
			`null`, `{}`, `[]`, `[null]`, `true`, `7`, `"panebridge_bot"`, `{"id":0,"username":"panebridge_bot"}`, `{"id":null,"username":null}`,
			`{"id":"7","username":"panebridge_bot"}`, `{"id":7e300,"username":"panebridge_bot"}`, `{"id":7}`, `{"username":"panebridge_bot"}`,
			`{"id":7,"username":["panebridge_bot"]}`, `{"id":7,"username":"another_bot"}`, `{"message_id":7,"date":1}`,
			`{"id":7000000001}`, `{"id":7000000001,"username":""}`, `{"id":7000000001,"username":7}`, // the bot's own number
		}),
		rapid.Custom(func(t *rapid.T) string {
			value, err := json.Marshal(map[string]any{
				rapid.SampledFrom([]string{"id", "user_id", ""}).Draw(t, "key"):             rapid.SampledFrom([]any{nil, 0, -7, 7.5, "", []int{7}, false, 7000000001}).Draw(t, "id"),
				rapid.SampledFrom([]string{"username", "first_name", "u"}).Draw(t, "other"): rapid.SampledFrom([]any{nil, "", 7, []string{"a"}}).Draw(t, "name"),
			})
			if err != nil {
				t.Fatal(err)
			}
			return string(value)
		}),
	)
	bodies := rapid.OneOf(
		rapid.SampledFrom([]string{``, `null`, `{}`, `[]`, `7`, `<!doctype html><title>Free Wi-Fi</title>`, `{"ok":null}`, `{"ok":true}`, `{"ok":"true","result":true}`, `{"ok":true,"resu`}),
		rapid.Map(results, func(result string) string { return `{"ok":true,"result":` + result + `}` }),
	)
	drawtest.Check(t, func(rt *rapid.T) {
		odd := rapid.SliceOfN(bodies, 1, 5).Draw(rt, "bodies")
		lasts := time.Duration(rapid.IntRange(1, 600).Draw(rt, "seconds")) * time.Second
		inBubble(t, telegramtest.Options{}, func(w *world) {
			var well atomic.Bool
			var calls atomic.Int64
			w.fate.Store(new(func(string, []byte) faults.Fate {
				if well.Load() {
					return faults.Fate{}
				}
				body := odd[int(calls.Add(1))%len(odd)]
				return faults.Fate{Lost: true, Answer: &faults.Answer{Status: http.StatusOK, Body: body}}
			}))
			i, asked := w.noting(notes{}).Identity(), make(chan bool, 1)
			ctx, stop := context.WithCancel(w.Context())
			defer stop()
			go func() { asked <- i.AskUntilKnown(ctx) }()
			time.Sleep(lasts)
			synctest.Wait()
			want := intake.Degraded
			if lasts >= 10*time.Second {
				want = intake.Down
			}
			if h := i.Health(); i.Known() || h.Condition != want || h.Detail == "" {
				rt.Errorf("after %s of odd answers it's known who the bot is: %t, and health is %+v", lasts, i.Known(), h)
			}
			if n, most := calls.Load(), 6+int64(lasts/(20*time.Second)); n > most {
				rt.Errorf("%d calls in %s, at most %d are right", n, lasts, most)
			}
			well.Store(true)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			if h := i.Health(); !i.Known() || h.Condition != intake.Well {
				rt.Errorf("Telegram says who the bot is, and it's known: %t; health is %+v", i.Known(), h)
				return
			}
			<-asked
		})
	})
}
