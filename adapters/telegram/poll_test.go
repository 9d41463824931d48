package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/faults"
)

// reader is the inbound side of a process: a poller, its queue, and the events that
// were handled.
type reader struct {
	*world
	*telegram.Poller
	queue *intake.Queue
	log   *bytes.Buffer
	end   func()

	mu     sync.Mutex
	events []intake.Event
}

// read starts a process that reads updates. What it keeps is in the journal.
func (w *world) read(journal intake.Journal, change func(*telegram.PollerOptions)) *reader {
	w.Helper()
	r := &reader{world: w, log: &bytes.Buffer{}}
	a := w.adapter(func(o *telegram.Options) { o.Logger = slog.New(slog.NewTextHandler(r.log, nil)) })
	r.queue = intake.NewQueue(intake.QueueOptions{
		Journal: journal, Decode: telegram.Decoder{Bot: w.Bot().ID, User: w.Bot().Username}.Decode,
		Handle: func(_ context.Context, e intake.Event) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
			return nil
		},
	})
	opt := telegram.PollerOptions{Keeper: r.queue}
	if change != nil {
		change(&opt)
	}
	r.Poller = a.Poller(opt)
	r.end = w.inBackground(r.queue.Run, r.Run)
	return r
}

// inBackground runs functions until the function it returns is called.
func (w *world) inBackground(run ...func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	for _, f := range run {
		go func() { ended <- f(ctx) }()
	}
	return func() {
		w.Helper()
		cancel()
		for range run {
			if err := <-ended; err != nil {
				w.Error(err)
			}
		}
	}
}

// texts are what people said, of the events so far.
func (r *reader) texts() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.events {
		if said, ok := e.Action.(intake.Said); ok {
			list = append(list, said.Text)
		}
	}
	return strings.Join(list, " ")
}

func (w *world) say(text string) {
	w.Helper()
	if _, err := w.ada.Say(w.ada.Private(), text); err != nil {
		w.Fatal(err)
	}
}

func (w *world) condition(of interface{ Health() intake.Health }, want intake.Condition, words string) {
	w.Helper()
	synctest.Wait()
	if h := of.Health(); h.Condition != want || !strings.Contains(h.Detail, words) {
		w.Errorf("health is %+v, want %s …%s…", h, want, words)
	}
}

// calls of a method, so far.
func (w *world) calls(method string) (list []telegramtest.Call) {
	for _, c := range w.Calls() {
		if strings.EqualFold(c.Method, method) {
			list = append(list, c)
		}
	}
	return list
}

func TestPollerReads(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		r := w.read(journaltest.NewMemory().Process(), nil)
		if got := r.texts(); got != "/start" {
			w.Errorf("got %q", got)
		}
		w.condition(r, intake.Well, "")
		for i := range 250 {
			w.say(fmt.Sprint(i))
		}
		after(10 * time.Hour)
		if got := strings.Fields(r.texts()); len(got) != 251 || got[1] != "0" || got[250] != "249" || len(w.Pending()) != 0 {
			w.Errorf("got %d texts, %d updates wait: %q", len(got), len(w.Pending()), got)
		}
		// 1029 polls of 35 s, and not many more.
		if n := len(w.calls("getUpdates")); n < 1020 || n > 1050 {
			w.Errorf("%d calls in ten hours", n)
		}
		if h := r.Health(); time.Since(h.LastOK) > time.Minute {
			w.Errorf("health is %+v", h)
		}
		r.end()
		w.noRefusals()
	})
}

// That a refusal is over is seen by the next call, which doesn't wait for updates: after one the
// health was red for another poll.
func TestPollerIsWellAtTheNextCall(t *testing.T) {
	for status, rest := range map[int]time.Duration{http.StatusUnauthorized: 6 * time.Second, http.StatusTooManyRequests: 12 * time.Second} {
		inBubble(t, telegramtest.Options{}, func(w *world) {
			r := w.read(journaltest.NewMemory().Process(), nil)
			after(time.Second)
			answer := refused(status, "Too Many Requests: retry after 10")
			w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Lost: true, Answer: answer} }))
			w.say("a") // ends the call that waits
			after(time.Second)
			w.fate.Store(nil)
			if h := r.Health(); h.Condition == intake.Well {
				w.Errorf("%d: health is %+v", status, h)
			}
			after(rest)
			w.condition(r, intake.Well, "")
			r.end()
		})
	}
}

// What wasn't stored isn't acknowledged, and what was isn't taken twice.
// A call whose answer never comes is given up soon enough that a minute later what people write
// is read again.
func TestPollerOutlivesALostAnswer(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		r := w.read(journaltest.NewMemory().Process(), nil)
		after(time.Second)
		w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Back: time.Hour} }))
		w.say("a") // ends the call that waits, whose answer comes
		after(time.Second)
		w.fate.Store(nil)
		w.say("b")
		after(55 * time.Second)
		if got := r.texts(); got != "/start a b" {
			w.Errorf("after 56 s it has %q", got)
		}
		r.end()
	})
}

func TestPollerAcknowledgesWhatIsStored(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		m := journaltest.NewMemory()
		p := m.Process()
		var broken atomic.Bool
		broken.Store(true)
		p.Hook = func(method string, _ bool) error {
			if broken.Load() && method == "keep" {
				return errors.New("the disk is full")
			}
			return nil
		}
		r := w.read(p, nil)
		w.say("one")
		after(5 * time.Second)
		w.condition(r, intake.Degraded, "the disk is full")
		after(2 * time.Minute)
		w.condition(r, intake.Down, "the disk is full")
		if len(w.Pending()) != 2 || r.texts() != "" {
			w.Errorf("%d updates wait at Telegram, handled are %q", len(w.Pending()), r.texts())
		}
		broken.Store(false)
		after(time.Minute)
		w.condition(r, intake.Well, "")
		if len(w.Pending()) != 0 || r.texts() != "/start one" {
			w.Errorf("%d updates wait at Telegram, handled are %q", len(w.Pending()), r.texts())
		}
		r.end()
	})
}

func TestPollerForgetsNothingOverRestarts(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		m := journaltest.NewMemory()
		r := w.read(m.Process(), nil)
		w.say("one")
		last := w.Pending()
		after(time.Second)
		r.end()
		w.say("two")
		if err := w.Redeliver(last...); err != nil { // the acknowledgement was lost
			w.Fatal(err)
		}
		again := w.read(m.Process(), nil)
		after(time.Second)
		if first, second := r.texts(), again.texts(); first != "/start one" || second != "two" {
			w.Errorf("handled %q, then %q", first, second)
		}
		again.end()
	})
}

func TestPollerWaitsAsLongAsItMust(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.Inject(telegramtest.Fault{Method: "getUpdates", Times: 1, RetryAfter: 700 * time.Second})
		r := w.read(journaltest.NewMemory().Process(), nil)
		after(700 * time.Second)
		if n := len(w.calls("getUpdates")); n != 1 {
			w.Errorf("%d calls within the penalty", n)
		}
		after(2 * time.Second)
		if got := r.texts(); got != "/start" {
			w.Errorf("afterwards it has %q", got)
		}
		for _, c := range w.Calls() {
			if c.InPenalty {
				w.Errorf("%s was called within a penalty", c.Method)
			}
		}
		r.end()
	})
}

func TestPollerBacksOff(t *testing.T) {
	for name, fault := range map[string]telegramtest.Fault{
		"dropped connections": {Method: "getUpdates", Cut: telegramtest.CutBefore},
		"lost answers":        {Method: "getUpdates", Cut: telegramtest.CutAfter},
		"a proxy's page":      {Method: "getUpdates", Body: "<html>bad gateway</html>"},
		"an error of its own": {Method: "getUpdates", Code: 500, Description: "Internal Server Error"},
		"not JSON":            {Method: "getUpdates", Code: 200, Body: `{"ok":true,"result":[{`, ContentType: "application/json"},
		"another shape":       {Method: "getUpdates", Code: 200, Body: `{"ok":true,"result":{}}`, ContentType: "application/json"},
		"updates of nobody":   {Method: "getUpdates", Code: 200, Body: `{"ok":true,"result":[1,null,{"update_id":-3}]}`, ContentType: "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				remove := w.Inject(fault)
				r := w.read(journaltest.NewMemory().Process(), nil)
				after(5 * time.Second)
				w.condition(r, intake.Degraded, "")
				after(10 * time.Second)
				w.condition(r, intake.Down, "")
				after(time.Hour)
				w.condition(r, intake.Down, "")
				if n := len(w.calls("getUpdates")); n < 100 || n > 200 {
					w.Errorf("%d calls in an hour", n)
				}
				remove()
				after(30 * time.Second)
				w.condition(r, intake.Well, "")
				if got := r.texts(); got != "/start" {
					w.Errorf("afterwards it has %q", got)
				}
				if n := strings.Count(r.log.String(), "\n"); n > 10 {
					w.Errorf("%d lines in the log:\n%s", n, r.log)
				}
				r.end()
			})
		})
	}
}

// Of two readers one stands back: what people write comes to the other, each once and in order,
// and who doesn't read is red, and says what to do. When the other has gone it reads again.
func TestOfTwoReadersOneReads(t *testing.T) {
	for seed := range 10 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				readers := []*reader{w.read(journaltest.NewMemory().Process(), nil)}
				after(time.Duration(seed) * 700 * time.Millisecond)
				readers = append(readers, w.read(journaltest.NewMemory().Process(), nil))
				after(10 * time.Second)
				if !slices.ContainsFunc(readers, func(r *reader) bool { return r.Health().Condition == intake.Down }) {
					w.Error("neither is red ten seconds later")
				}
				texts, random := 400, drawtest.Rand(t, uint64(seed))
				for n := range texts {
					w.say(fmt.Sprint("text-", n))
					after(time.Duration(random.IntN(1500)) * time.Millisecond)
				}
				after(time.Minute)
				got, one := map[string]int{}, 0
				for _, r := range readers {
					words := strings.Fields(r.texts())
					one = max(one, len(words))
					for _, text := range words {
						got[text]++
					}
				}
				for n := range texts {
					if text := fmt.Sprint("text-", n); got[text] != 1 {
						w.Errorf("%q came %d times", text, got[text])
					}
				}
				if one < texts*3/4 {
					w.Errorf("the one that reads got %d of %d", one, texts)
				}
				down := slices.IndexFunc(readers, func(r *reader) bool { return r.Health().Condition == intake.Down })
				if down < 0 {
					w.Fatal("neither is red")
				}
				w.condition(readers[down], intake.Down, "so this one stands back")
				w.condition(readers[1-down], intake.Well, "")
				if !readers[0].Shared() || !readers[1].Shared() {
					w.Error("one doesn't know of the other")
				}
				readers[1-down].end()
				after(16 * time.Minute) // it stands back for at most 15
				w.condition(readers[down], intake.Well, "")
				w.say("afterwards")
				after(time.Second)
				if !strings.HasSuffix(readers[down].texts(), "afterwards") {
					w.Errorf("it has %q", readers[down].texts())
				}
				readers[down].end()
			})
		})
	}
}

// A rival that ends is forgotten when a call wasn't ended for ten seconds.
func TestAReaderIsWellSoonAfterItsRivalHasGone(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		r := w.read(journaltest.NewMemory().Process(), nil)
		after(5 * time.Second)
		other := w.read(journaltest.NewMemory().Process(), nil)
		after(200 * time.Millisecond)
		other.end()
		after(15 * time.Second)
		w.condition(r, intake.Well, "")
		r.end()
	})
}

// Where others decide who reads, that one does, and what it's told is said by the others.
func TestAReaderYields(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		var why atomic.Value
		why.Store("another process reads")
		r := w.read(journaltest.NewMemory().Process(), func(o *telegram.PollerOptions) { o.Yields = func() string { return why.Load().(string) } })
		after(time.Minute)
		w.condition(r, intake.Down, "another process reads")
		if n := len(w.calls("getUpdates")); n > 0 {
			w.Errorf("%d calls", n)
		}
		why.Store("")
		after(5 * time.Second)
		w.condition(r, intake.Well, "")
		r.end()
	})
}

// One that's set again soon isn't taken away, and nobody sees the rest of its address.
func TestPollerLeavesAWebhook(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.set("setWebhook", `{"url":"https://other.example/secret-path","secret_token":"s"}`)
		r := w.read(journaltest.NewMemory().Process(), nil)
		after(time.Second)
		w.set("setWebhook", `{"url":"https://other.example/secret-path","secret_token":"s"}`)
		after(2 * time.Minute)
		w.condition(r, intake.Down, "a webhook at other.example takes this bot's updates")
		if len(w.calls("deleteWebhook")) != 1 || strings.Contains(r.log.String(), "secret-path") {
			w.Errorf("the webhook is gone, or its address is in the log:\n%s", r.log)
		}
		w.set("deleteWebhook", `{}`)
		after(3 * time.Minute)
		w.condition(r, intake.Well, "")
		if got := r.texts(); got != "/start" {
			w.Errorf("afterwards it has %q", got)
		}
		r.end()
	})
}

func TestPollerTakesAWebhookAway(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.set("setWebhook", `{"url":"https://old.example/x"}`)
		r := w.read(journaltest.NewMemory().Process(), nil)
		after(time.Second)
		w.condition(r, intake.Well, "")
		if got := r.texts(); got != "/start" {
			w.Errorf("it has %q", got)
		}
		// Whoever sets it again isn't fought.
		for range 20 {
			w.set("setWebhook", `{"url":"https://stubborn.example/x"}`)
			after(time.Minute)
		}
		w.condition(r, intake.Down, "stubborn.example")
		if n := len(w.calls("deleteWebhook")); n > 4 {
			w.Errorf("%d times in 20 min", n)
		}
		r.end()
	})
}

// set calls a method as another program would.
func (w *world) set(method, body string) {
	w.Helper()
	resp, err := (&http.Client{Transport: w.client}).Post("http://api/bot"+w.Token()+"/"+method, "application/json", strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.Fatalf("%s: %s", method, resp.Status)
	}
}

// A token that isn't taken is said at once, and tried again seldom: a server in trouble
// refuses one, too.
func TestPollerWithAWrongToken(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		secret := "AAanother-token-that-is-nobodys-0123456"
		var log bytes.Buffer
		a := w.adapter(func(o *telegram.Options) {
			o.Token = exchange.Token("7000000001:" + secret)
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		p := a.Poller(telegram.PollerOptions{})
		end := w.inBackground(p.Run)
		after(24 * time.Hour)
		w.condition(p, intake.Down, "@BotFather")
		if n := len(w.calls("getUpdates")); n < 1900 || n > 2500 {
			w.Errorf("%d calls in a day", n)
		}
		if text := log.String() + p.Health().Detail; strings.Contains(text, secret) || strings.Count(log.String(), "\n") != 1 {
			w.Errorf("the log is %s", text)
		}
		end()
	})
	for _, times := range []int{1, 3} {
		inBubble(t, telegramtest.Options{}, func(w *world) {
			r := w.read(journaltest.NewMemory().Process(), nil)
			after(2 * time.Minute)
			w.Inject(telegramtest.Fault{Method: "getUpdates", Times: times, Code: http.StatusUnauthorized, Description: "Unauthorized"})
			for range 51 { // as long as a poll takes; the call after the refusals shows that it's well
				if after(time.Second); r.Health().Condition == intake.Down {
					break
				}
			}
			w.condition(r, intake.Down, "@BotFather")
			if _, err := w.ada.Say(telegramtest.Place{Chat: w.ada.ID}, "hello"); err != nil {
				w.Fatal(err)
			}
			after(time.Minute)
			w.condition(r, intake.Well, "")
			if got := r.texts(); got != "/start hello" {
				w.Errorf("refused %d times, and then it has %q", times, got)
			}
			r.end()
		})
	}
}

// No failure shows the token, whatever goes wrong.
func TestPollerKeepsTheToken(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		var log bytes.Buffer
		_, secret, _ := strings.Cut(w.Token(), ":")
		for i, transport := range []http.RoundTripper{
			answering(http.StatusBadGateway, "you asked for /bot"+w.Token()+"/getUpdates"),
			answering(http.StatusOK, `{"ok":false,"error_code":400,"description":"Bad Request: bot`+w.Token()+`"}`),
			answering(http.StatusFound, ""),
			courier(func(r *http.Request) (*http.Response, error) { return nil, errors.New("dial " + r.URL.String()) }),
		} {
			a := w.adapter(func(o *telegram.Options) {
				o.Transport = transport
				o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			p := a.Poller(telegram.PollerOptions{})
			end := w.inBackground(p.Run)
			after(time.Minute)
			end()
			if text := log.String() + p.Health().Detail; strings.Contains(text, secret) || p.Health().Detail == "" {
				w.Errorf("%d: the log is %s", i, text)
			}
		}
	})
}

// courier carries requests in place of a network.
type courier func(r *http.Request) (*http.Response, error)

func (f courier) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string) courier {
	return func(r *http.Request) (*http.Response, error) {
		header := http.Header{"Location": []string{r.URL.String()}}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// A server that answers at once with nothing isn't asked all the time.
func TestPollerIsntHurried(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		var calls atomic.Int64
		a := w.adapter(func(o *telegram.Options) {
			o.Transport = courier(func(r *http.Request) (*http.Response, error) {
				calls.Add(1)
				return answering(http.StatusOK, `{"ok":true,"result":[]}`)(r)
			})
		})
		p := a.Poller(telegram.PollerOptions{})
		end := w.inBackground(p.Run)
		after(time.Minute)
		end()
		if n := calls.Load(); n < 55 || n > 65 {
			w.Errorf("%d calls in a minute", n)
		}
	})
}

// Whatever a server answers, it isn't asked more than three times a second, and what's new comes
// through when it answers well again, with a number below the last, too.
func TestPollerIsntHurriedByOddAnswers(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		odd := rapid.SliceOfN(rapid.SampledFrom([]string{
			`{"ok":true,"result":[]}`,
			`{"ok":true,"result":[{"update_id":7},{"update_id":9}]}`,
			`{"ok":true,"result":[{"update_id":9},{"update_id":9}]}`,
			`{"ok":true,"result":[{"update_id":900000},{}]}`,
			`{"ok":true,"result":[{},{"update_id":0},{"update_id":-3},{"update_id":1e300},{"update_id":"7"},null,3]}`,
			`{"ok":true,"result":{}}`, `{"ok":true}`, `{"ok":false}`, `[]`, ``, `<html>`,
			`{"ok":false,"error_code":429,"parameters":{"retry_after":-5}}`,
			`{"ok":false,"error_code":429,"parameters":{"retry_after":0}}`,
			`{"ok":false,"error_code":429,"parameters":{"retry_after":20}}`,
			`{"ok":false,"error_code":500,"description":"x"}`,
		}), 1, 5).Draw(rt, "answers")
		fresh := rapid.SampledFrom([]int64{3, 8, 10, 1_000_000}).Draw(rt, "number of what's new")
		var calls atomic.Int64
		var came atomic.Bool
		inBubble(t, telegramtest.Options{}, func(w *world) {
			var well atomic.Bool
			a := w.adapter(func(o *telegram.Options) {
				o.Transport = courier(func(r *http.Request) (*http.Response, error) {
					var asked struct{ Offset int64 }
					if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
						rt.Errorf("a request: %v", err)
					}
					n := calls.Add(1)
					if !well.Load() {
						return answering(http.StatusOK, odd[int(n)%len(odd)])(r)
					}
					if came.Load() && asked.Offset == fresh+1 { // it was acknowledged
						time.Sleep(50 * time.Second)
						return answering(http.StatusOK, `{"ok":true,"result":[]}`)(r)
					}
					return answering(http.StatusOK, fmt.Sprintf(`{"ok":true,"result":[{"update_id":%d}]}`, fresh))(r)
				})
			})
			p := a.Poller(telegram.PollerOptions{Keeper: keeperFunc(func(updates []intake.Update) {
				for _, u := range updates {
					if well.Load() && u.Key == fmt.Sprint(fresh) {
						came.Store(true)
					}
				}
			})})
			end := w.inBackground(p.Run)
			after(10 * time.Minute)
			if n := calls.Load(); n > 1800 {
				rt.Errorf("%d calls in ten minutes", n)
			}
			well.Store(true)
			calls.Store(0)
			after(5 * time.Minute)
			if n := calls.Load(); !came.Load() || n > 60 {
				rt.Errorf("what's new came: %t; %d calls in five minutes", came.Load(), n)
			}
			end()
		})
	})
}

type keeperFunc func(updates []intake.Update)

func (f keeperFunc) Keep(_ context.Context, updates []intake.Update) error {
	f(updates)
	return nil
}

func TestPollerAsksForWhatIsUsed(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		var asked struct {
			Allowed []string `json:"allowed_updates"`
			Limit   int      `json:"limit"`
		}
		a := w.adapter(func(o *telegram.Options) {
			o.Transport = courier(func(r *http.Request) (*http.Response, error) {
				if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
					w.Error(err)
				}
				return answering(http.StatusOK, `{"ok":true,"result":[]}`)(r)
			})
		})
		end := w.inBackground(a.Poller(telegram.PollerOptions{}).Run)
		after(time.Second)
		end()
		if !slices.Equal(asked.Allowed, []string{"message", "edited_message", "callback_query", "my_chat_member", "chat_member"}) || asked.Limit != 100 {
			w.Errorf("asked for %+v", asked)
		}
	})
}
