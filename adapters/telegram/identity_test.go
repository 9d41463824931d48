package telegram_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// The name is asked for until it's there, and the one from the last time counts when
// Telegram can't be reached.
func TestIdentity(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		kept := notes{}
		first := w.adapter(nil).Identity(kept)
		remove := w.Inject(telegramtest.Fault{Method: "getMe", Cut: telegramtest.CutBefore})
		asked := make(chan bool, 1)
		go func() { asked <- first.Ask(w.Context()) }()
		synctest.Wait()
		if h := first.Health(); h.Condition != inbound.Degraded || h.Detail == "" || first.Known() {
			w.Errorf("nobody answers, and health is %+v", h)
		}
		if _, _, err := first.Decode([]byte(`{"update_id":1}`)); err == nil {
			w.Error("an update was read before the bot's name was known")
		}
		time.Sleep(90 * time.Second)
		if h := first.Health(); h.Condition != inbound.Down {
			w.Errorf("nobody has answered for 90 s, and health is %+v", h)
		}
		remove()
		if !<-asked || !first.Known() || first.Health().Condition != inbound.Well {
			w.Errorf("Telegram has said who the bot is, and health is %+v", first.Health())
		}
		w.Inject(telegramtest.Fault{Method: "getMe", Cut: telegramtest.CutBefore})
		second := w.adapter(nil).Identity(kept)
		if began := time.Now(); !second.Ask(w.Context()) || time.Since(began) > time.Second {
			w.Errorf("the name from the last time didn't count: %+v", second.Health())
		}
	})
}

// A token that Telegram doesn't take is tried seldom, and health says so at once.
func TestIdentityWithAWrongToken(t *testing.T) {
	inBubble(t, telegramtest.Options{Token: "1:another"}, func(w *world) {
		a := w.adapter(func(o *telegram.Options) { o.Token = telegramtest.DefaultToken })
		i := a.Identity(notes{})
		go i.Ask(w.Context())
		time.Sleep(10 * time.Minute)
		if h := i.Health(); h.Condition != inbound.Down || h.Detail == "" {
			w.Errorf("health is %+v", h)
		}
		if n := len(w.Calls()); n < 12 || n > 25 {
			w.Errorf("Telegram was called %d times in ten minutes with a wrong token", n)
		}
	})
}
