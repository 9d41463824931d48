package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

const testToken = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.a-secret-that-nobody-may-see-anywhere"

// canned answers as it's told.
type canned struct {
	status int
	header map[string]string
	body   string
	err    error
	never  bool // there was no connection

	asked []*http.Request
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked = append(c.asked, r)
	if trace := httptrace.ContextClientTrace(r.Context()); !c.never && trace != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if c.err != nil {
		return nil, c.err
	}
	h := http.Header{}
	for name, value := range c.header {
		h.Set(name, value)
	}
	return &http.Response{
		StatusCode: c.status, Status: http.StatusText(c.status), Header: h, Body: io.NopCloser(strings.NewReader(c.body)), Request: r,
	}, nil
}

// told is what an adapter has told the scheduler.
type told struct {
	scope   qos.Scope
	learned qos.Learned
}

// reply makes a client's world: what's answered next, and what was learned.
func answering(t *testing.T) (*client, *canned, *[]told) {
	t.Helper()
	next, all := &canned{status: http.StatusOK, body: "{}"}, &[]told{}
	a, err := New(Options{
		Token: testToken, APIURL: "http://stand.in/below", Transport: next,
		Learn: func(s qos.Scope, l qos.Learned) { *all = append(*all, told{s, l}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a.client, next, all
}

var slotOf1 = qos.Scope{Chat: "1", Family: qos.FamilyMessage}

func inSlot(ctx context.Context) context.Context {
	return withPurpose(ctx, callPurpose{scope: slotOf1})
}

// failureOf is the failure of a call that must have failed.
func failureOf(t *testing.T, err error) *failure {
	t.Helper()
	f, ok := errors.AsType[*failure](err)
	if !ok {
		t.Fatalf("the error is %v, a %T", err, err)
	}
	return f
}

func TestCallsGoWhereTheAPIIs(t *testing.T) {
	c, next, _ := answering(t)
	if err := c.callPath(t.Context(), http.MethodPut, "channels/1/messages/2/reactions/%F0%9F%91%80/@me?x=1", nil, nil); err != nil {
		t.Fatal(err)
	}
	r := next.asked[0]
	if got := r.URL.String(); got != "http://stand.in/below/v9/channels/1/messages/2/reactions/%F0%9F%91%80/@me?x=1" || r.Host != "" {
		t.Errorf("the call went to %s, host %q", got, r.Host)
	}
	if r.Header.Get("Authorization") != "Bot "+testToken || !strings.HasPrefix(r.UserAgent(), "DiscordBot (") || r.ContentLength > 0 {
		t.Errorf("its header is %v", r.Header)
	}
}

// What the library could sleep for never reaches it.
func TestLimitsAreReadAndStripped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, all := answering(t)
		next.header = map[string]string{
			headerLimit: "5", headerRemaining: "0", headerResetAfter: "4.5", headerBucket: "abc",
			"X-RateLimit-Reset": "1893456000.5", "Date": "Mon, 01 Jan 2029 00:00:00 GMT", "Retry-After": "4",
		}
		body, err := c.http.Get(discordgo.EndpointAPI + "channels/1/messages")
		if err != nil {
			t.Fatal(err)
		}
		body.Body.Close()
		for name := range body.Header {
			if strings.HasPrefix(name, headerLimits) || name == "Retry-After" {
				t.Errorf("the library reads %s", name)
			}
		}
		if len(*all) != 0 {
			t.Errorf("a call without a slot told the scheduler %+v", *all)
		}
		next.header[headerBucket] = "def"
		err = c.callPath(inSlot(t.Context()), http.MethodPost, "channels/1/messages", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := told{slotOf1, qos.Learned{Limit: 5, Reset: time.Now().Add(4500 * time.Millisecond)}}
		if len(*all) != 1 || (*all)[0] != want {
			t.Errorf("the scheduler was told %+v, want %+v", *all, want)
		}
	})
}

// Several buckets stand behind one slot: sends, edits. The tightest counts.
func TestTheTightestBucketIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, all := answering(t)
		say := func(method, bucket, remaining, after string) qos.Learned {
			t.Helper()
			next.header = map[string]string{headerLimit: "5", headerRemaining: remaining, headerResetAfter: after, headerBucket: bucket}
			if err := c.callPath(inSlot(t.Context()), method, "channels/1/messages", nil, nil); err != nil {
				t.Fatal(err)
			}
			return (*all)[len(*all)-1].learned
		}
		if l := say(http.MethodPost, "send", "1", "5"); l.Remaining != 1 {
			t.Errorf("after a send: %+v", l)
		}
		if l := say(http.MethodPatch, "edit", "4", "2"); l.Remaining != 1 || time.Until(l.Reset) != 5*time.Second {
			t.Errorf("an edit hides that sends are rare: %+v", l)
		}
		time.Sleep(6 * time.Second)
		if l := say(http.MethodPatch, "edit", "3", "2"); l.Remaining != 3 {
			t.Errorf("a window that's over still counts: %+v", l)
		}
	})
}

func TestUsedUpIsRefusedHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, _ := answering(t)
		next.header = map[string]string{headerLimit: "1", headerRemaining: "0", headerResetAfter: "3", headerBucket: "b"}
		call := func(channel string) error {
			return c.callPath(t.Context(), http.MethodGet, "channels/"+channel+"/messages", nil, nil)
		}
		if err := call("1"); err != nil {
			t.Fatal(err)
		}
		f := failureOf(t, call("1"))
		if !f.local || f.Outcome != qos.NotSent || f.RetryAfter != 3*time.Second || len(next.asked) != 1 {
			t.Errorf("a call too many is %+v, and %d were made", f, len(next.asked))
		}
		if err := call("2"); err != nil { // the same bucket, another channel
			t.Error(err)
		}
		time.Sleep(3 * time.Second)
		if err := call("1"); err != nil {
			t.Error(err)
		}
	})
}

func TestOrdersOfSilence(t *testing.T) {
	const json429 = `{"message":"You are being rate limited.","retry_after":%s,"global":%t}`
	page := "<html>1015</html>"
	for name, tc := range map[string]struct {
		header map[string]string
		body   string
		want   time.Duration
		global bool
		others bool // may be called meanwhile
	}{
		"a bucket's":            {map[string]string{headerScope: "user", "Retry-After": "2"}, fmt.Sprintf(json429, "1.337", false), 2 * time.Second, false, true},
		"without headers":       {nil, fmt.Sprintf(json429, "64.57", false), 64570 * time.Millisecond, false, true},
		"shared, wrong header":  {map[string]string{headerScope: scopeShared, "Retry-After": "1"}, fmt.Sprintf(json429, "280", false), 280 * time.Second, false, true},
		"global":                {map[string]string{"X-RateLimit-Global": "true", "Retry-After": "7"}, fmt.Sprintf(json429, "6.5", true), 7 * time.Second, true, false},
		"the guard's":           {map[string]string{"Retry-After": "1500"}, page, 1500 * time.Second, true, false},
		"the guard's, no time":  {nil, page, time.Minute, true, false},
		"hours are hours":       {nil, fmt.Sprintf(json429, "7200", false), 2 * time.Hour, false, true},
		"no time, and no order": {nil, `{"message":"slow down"}`, 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, next, _ := answering(t)
				next.status, next.header, next.body = http.StatusTooManyRequests, tc.header, tc.body
				call := func(path string) error { return c.callPath(inSlot(t.Context()), http.MethodPost, path, nil, nil) }
				f := failureOf(t, call("channels/1/messages"))
				if f.Outcome != qos.Throttled || f.RetryAfter != tc.want || f.Global != tc.global || f.local {
					t.Fatalf("the answer means %+v", f)
				}
				if tc.want == 0 {
					return
				}
				next.status, next.body = http.StatusOK, "{}"
				f = failureOf(t, call("channels/1/messages"))
				if !f.local || f.Outcome != qos.Throttled || f.RetryAfter != tc.want {
					t.Errorf("a call into the silence is %+v", f)
				}
				if err := call("channels/2/messages"); (err == nil) != tc.others {
					t.Errorf("elsewhere: %v", err)
				}
				time.Sleep(tc.want)
				if err := call("channels/1/messages"); err != nil {
					t.Errorf("after the silence: %v", err)
				}
			})
		})
	}
}

// The guard in front of Discord doesn't say for how long, or not truly: who calls again
// too early prolongs it.
func TestTheGuardsSilenceGrows(t *testing.T) {
	for status, outcome := range map[int]qos.CallOutcome{http.StatusTooManyRequests: qos.Throttled, http.StatusForbidden: qos.Failed} {
		synctest.Test(t, func(t *testing.T) {
			c, next, _ := answering(t)
			next.status, next.body = status, "error code: 1015"
			for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
				for _, local := range []bool{false, true} {
					f := failureOf(t, c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil))
					if f.local != local || f.Outcome != outcome || f.RetryAfter != want*time.Minute {
						t.Fatalf("%d: it's %+v, want %d min", status, f, want)
					}
				}
				time.Sleep(want * time.Minute)
			}
			next.status, next.body = http.StatusOK, "{}"
			if err := c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// A proxy's refusal passes sooner: nothing prolongs it.
func TestAProxysRefusalIsTriedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, _ := answering(t)
		next.status, next.body = http.StatusForbidden, "<html>no</html>"
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 40, 40} {
			f := failureOf(t, c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil))
			if f.local || f.Outcome != qos.Failed || f.RetryAfter != want*time.Second {
				t.Fatalf("it's %+v, want %d s", f, want)
			}
			f = failureOf(t, c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil))
			if !f.local || f.Outcome != qos.NotSent || f.RetryAfter != want*time.Second {
				t.Fatalf("a call meanwhile is %+v, want to wait for %d s", f, want)
			}
			time.Sleep(want * time.Second)
		}
	})
}

// A proxy's refusals don't make the silence of the guard longer, nor do calls that were under way
// when it was ordered.
func TestTheGuardsFirstSilenceIsAMinute(t *testing.T) {
	l, c := newLimits(), limitedCall{}
	now := time.Unix(0, 0)
	refuse := func(f failure) time.Duration {
		f.guard = true
		l.noteRefused(now, c, &f, http.Header{})
		return f.RetryAfter
	}
	for _, want := range []time.Duration{1, 2, 4} {
		if d := refuse(failure{CallFailure: exchange.CallFailure{Status: http.StatusForbidden, Outcome: qos.Failed}, proxy: true}); d != want*time.Second {
			t.Errorf("a proxy's refusal holds for %s, want %d s", d, want)
		}
		now = now.Add(want * time.Second)
	}
	for range 3 {
		if d := refuse(failure{CallFailure: exchange.CallFailure{Status: http.StatusTooManyRequests, Outcome: qos.Throttled}}); d != time.Minute {
			t.Errorf("the guard's first silence is %s, want a minute", d)
		}
	}
}

// Interactions are no part of the bot's own limit; the guard's silence is for all.
func TestInteractionsGoOnWhenTheBotIsSilenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, _ := answering(t)
		next.status, next.body = http.StatusTooManyRequests, `{"message":"x","retry_after":30,"global":true}`
		if f := failureOf(t, c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil)); !f.Global {
			t.Fatalf("the order is %+v", f)
		}
		next.status, next.body = http.StatusNoContent, ""
		if err := c.callPath(t.Context(), http.MethodPost, "interactions/1/a-token-of-one/callback", nil, nil); err != nil {
			t.Error(err)
		}
		if err := c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil); err == nil {
			t.Error("the bot called")
		}
	})
}

// Ten thousand refusals in ten minutes ban the address. From half of that on, what
// nobody misses much isn't called, and nothing is shortly before.
func TestInvalidRequestsHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, _ := answering(t)
		next.status, next.body = http.StatusForbidden, `{"message":"Missing Access","code":50001}`
		spare := withPurpose(t.Context(), callPurpose{spare: true})
		refused := func(ctx context.Context) bool {
			return failureOf(t, c.callPath(ctx, http.MethodGet, "channels/1", nil, nil)).local
		}
		first := 0
		for n := range 12_000 {
			if refused(spare) && first == 0 {
				first = n
			}
		}
		if first != invalidSpare || len(next.asked) != invalidSpare {
			t.Errorf("spare calls ended after %d, and %d were made", first, len(next.asked))
		}
		for range 10_000 {
			refused(t.Context())
			time.Sleep(time.Millisecond)
		}
		if n := len(next.asked); n != invalidAll {
			t.Errorf("%d calls were refused by Discord", n)
		}
		time.Sleep(11 * time.Minute)
		if refused(spare) {
			t.Error("it's never over")
		}
		// A limit that others use too counts for nobody.
		next.status, next.header = http.StatusTooManyRequests, map[string]string{headerScope: scopeShared}
		next.body = `{"message":"x","retry_after":0.001}`
		for range 20_000 {
			if f := failureOf(t, c.callPath(t.Context(), http.MethodGet, "channels/1", nil, nil)); f.local {
				t.Fatal("shared limits are counted")
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// With a wrong token each call would count as invalid, and a server in trouble refuses the
// right one, too: it's tried again after a second, then 5 s, and then up to 45 s apart.
func TestAWrongTokenIsTriedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, _ := answering(t)
		next.status, next.body = http.StatusUnauthorized, `{"message":"401: Unauthorized","code":0}`
		for range 600 {
			f := failureOf(t, c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil))
			if f.Outcome != map[bool]qos.CallOutcome{false: qos.Failed, true: qos.NotSent}[f.local] || f.Status != http.StatusUnauthorized || f.Text != adviceToken {
				t.Fatalf("it's %+v", f)
			}
			time.Sleep(time.Second)
		}
		if n := len(next.asked); n < 12 || n > 25 {
			t.Errorf("in ten minutes it was tried %d times", n)
		}
		next.status, next.body = http.StatusOK, "{}"
		time.Sleep(time.Minute)
		if err := c.callPath(t.Context(), http.MethodGet, "users/@me", nil, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, tc := range map[string]struct {
		answer canned
		want   qos.CallOutcome
	}{
		"no connection":       {canned{err: errors.New("dial: refused"), never: true}, qos.NotSent},
		"a lost connection":   {canned{err: errors.New("read: reset")}, qos.Uncertain},
		"a bad gateway":       {canned{status: http.StatusBadGateway, body: "<html>"}, qos.Uncertain},
		"Discord's own 500":   {canned{status: http.StatusInternalServerError, body: `{"message":"500: Internal Server Error","code":0}`}, qos.Uncertain},
		"a login page":        {canned{status: http.StatusFound, body: "<html>"}, qos.Failed},
		"a guard's page":      {canned{status: http.StatusForbidden, body: "<html>1020</html>"}, qos.Failed},
		"too large a file":    {canned{status: http.StatusRequestEntityTooLarge, body: "<html>"}, qos.Rejected},
		"a wrong address":     {canned{status: http.StatusNotFound, body: `{"message":"404: Not Found","code":0}`}, qos.Failed},
		"no way to Discord":   {canned{status: http.StatusForbidden, body: `{"message":"internal network error","code":40333}`}, qos.Failed},
		"half an answer":      {canned{status: http.StatusOK, body: `{"id":"1`}, qos.Uncertain},
		"an answer of others": {canned{status: http.StatusOK, body: "[]"}, qos.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			c, next, _ := answering(t)
			*next = tc.answer
			f := failureOf(t, c.callPath(t.Context(), http.MethodPost, "channels/1/messages", nil, &madeThing{}))
			if f.Outcome != tc.want || len(next.asked) != 1 {
				t.Errorf("it's %+v, after %d calls", f, len(next.asked))
			}
		})
	}
}

// Whatever goes wrong, no error shows the bot's token, or an interaction's.
func TestErrorsHoldNoSecret(t *testing.T) {
	const interaction = "aW50ZXJhY3Rpb246c2VjcmV0"
	for _, answer := range []canned{
		{err: errors.New("dial http://stand.in/" + testToken)},
		{status: http.StatusBadRequest, body: `{"message":"no ` + testToken + `","code":50035,"errors":{"content":"` + interaction + `"}}`},
		{status: http.StatusTooManyRequests, body: testToken + interaction},
		{status: http.StatusNotFound, body: `{"message":"Unknown Webhook","code":10015}`},
		{status: http.StatusOK, body: testToken + interaction},
	} {
		c, next, _ := answering(t)
		*next = answer
		err := c.callPath(t.Context(), http.MethodPost, "webhooks/1/"+interaction+"/messages/@original", nil, &madeThing{})
		for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
			if strings.Contains(text, interaction) || strings.Contains(text, "a-secret-that-nobody") {
				t.Errorf("the error is %s", text)
			}
		}
	}
	opt := Options{Token: testToken}
	if s := fmt.Sprintf("%v %+v %#v %s", opt.Token, opt, opt, opt.Token); strings.Contains(s, "secret") {
		t.Errorf("the options print as %s", s)
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]limitedCall{
		"channels/12/messages?limit=5":                 {route: "GET channels/{id}/messages", major: "channels/12"},
		"/channels/12/messages/34":                     {route: "GET channels/{id}/messages/{id}", major: "channels/12"},
		"channels/12/messages/34/reactions/%F0%9F/@me": {route: "GET channels/{id}/messages/{id}/reactions/{emoji}/@me", major: "channels/12"},
		"guilds/5/channels":                            {route: "GET guilds/{id}/channels", major: "guilds/5"},
		"users/@me":                                    {route: "GET users/@me"},
		"webhooks/5/tok/messages/@original":            {route: "GET webhooks/{id}/{token}/messages/@original", major: "webhooks/5/tok", outside: true},
		"interactions/5/tok/callback":                  {route: "GET interactions/{id}/{token}/callback", major: "interactions/5/tok", outside: true},
		"":                                             {route: "GET "},
	} {
		if got := callOf(http.MethodGet, path); got != want {
			t.Errorf("%q is %+v, want %+v", path, got, want)
		}
	}
}

// Buckets of channels that are quiet, and of interactions that are over, aren't kept.
func TestBucketsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, _ := answering(t)
		next.header = map[string]string{headerLimit: "5", headerRemaining: "4", headerResetAfter: "1", headerBucket: "b"}
		for i := range 5 * manyBuckets {
			ctx := withPurpose(t.Context(), callPurpose{scope: qos.Scope{Chat: qos.ChatKey(fmt.Sprint(i))}})
			if err := c.callPath(ctx, http.MethodPost, fmt.Sprintf("channels/%d/messages", i+1), nil, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		l := c.exchange.limits
		if len(l.buckets) > manyBuckets || len(l.scopes) > manyBuckets {
			t.Errorf("%d buckets and %d scopes are kept", len(l.buckets), len(l.scopes))
		}
	})
}

// Whatever is answered, by whomever, it's read as something, and no order of silence is
// forgotten or endless.
func FuzzAnswers(f *testing.F) {
	f.Add(429, `{"message":"x","retry_after":1e300,"global":true}`, "1", "NaN", "abc", "shared")
	f.Add(200, `{}`, "-1", "99999999999999999999", "", "")
	f.Add(429, "<html>", "x", "-5", "a", "global")
	f.Add(403, `{"code":50013,"message":null}`, "", "", "", "")
	f.Fuzz(func(t *testing.T, status int, body, remaining, after, hash, scope string) {
		c, next, all := answering(t)
		next.status, next.body = 200+(status%400+400)%400, body
		next.header = map[string]string{
			headerRemaining: remaining, headerLimit: remaining, headerResetAfter: after, headerBucket: hash, headerScope: scope, "Retry-After": after,
		}
		err := c.callPath(inSlot(t.Context()), http.MethodPost, "channels/1/messages", nil, nil)
		for _, l := range *all {
			if until := time.Until(l.learned.Reset); until > 2*366*24*time.Hour || l.scope != slotOf1 {
				t.Errorf("the scheduler was told %+v", l)
			}
		}
		if err == nil {
			return
		}
		failure := failureOf(t, err)
		if r := failure.reply(adapters.Target{Chat: "1"}); r.Outcome == qos.OutcomeUnknown || r.Outcome == qos.Delivered || r.RetryAfter < 0 || r.RetryAfter > 366*24*time.Hour {
			t.Errorf("%d %q means %+v", next.status, body, r)
		}
		if again := c.callPath(inSlot(t.Context()), http.MethodPost, "channels/1/messages", nil, nil); failure.RetryAfter > time.Minute && again == nil {
			t.Errorf("silence was ordered for %v, and it was called", failure.RetryAfter)
		}
	})
}
