package telegram

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// client makes calls of the Bot API: no retries, no sleeping, no redirects, and no
// secret in what it returns. Its methods may be called at the same time, and end
// with their context. Their errors are, or wrap, a *failure.
type client struct {
	exchange *exchange.Exchange
	options  []bot.Option // of the library
	token    exchange.Token
	address  string // of methods: "https://api.telegram.org/bot…/"
	files    string // of files: "https://api.telegram.org/file/bot…/"
}

// newClient returns a client. The options are valid.
func newClient(opt Options) *client {
	base := strings.TrimRight(opt.APIURL, "/")
	_, secret, _ := strings.Cut(string(opt.Token), ":") // what's before it is the bot's id, which everybody may know
	return &client{
		exchange: exchange.New("Telegram", deeds, secret, opt.Proxy, opt.Transport),
		token:    opt.Token, address: base + "/bot" + string(opt.Token) + "/", files: base + "/file/bot" + string(opt.Token) + "/",
		options: []bot.Option{
			bot.WithSkipGetMe(), bot.WithServerURL(base), bot.WithUpdatesChannelCap(0),
			bot.WithErrorsHandler(func(error) {}), // its methods return theirs
		},
	}
}

// callLibrary makes a call of the library's, and decodes its result into `into`; nil: it must be
// true. What the library makes of the answer isn't used: an answer with
// something it doesn't know is an error to it, though the call was done. So each call
// has the library to itself, and its result is that of the one request.
func callLibrary[P, R any](ctx context.Context, c *client, into any, method func(*bot.Bot, context.Context, P) (R, error), params P) error {
	ctx, cancel := exchange.WithTimeout(ctx)
	defer cancel()
	one := &libraryCall{exchange: c.exchange}
	b, err := bot.New(string(c.token), slices.Concat(c.options, []bot.Option{bot.WithHTTPClient(0, one)})...)
	if err == nil {
		_, err = method(b, ctx, params)
	}
	if one.result != nil {
		return c.decodeResult(one.method, one.result, into)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if err == nil {
		err = errors.New("it has no result")
	}
	return &failure{CallFailure: c.exchange.Unreadable(one.method, err)}
}

// callWithoutParams makes a call of the library's that takes nothing.
func callWithoutParams[R any](ctx context.Context, c *client, into any, method func(*bot.Bot, context.Context) (R, error)) error {
	return callLibrary(ctx, c, into, func(b *bot.Bot, ctx context.Context, _ struct{}) (R, error) { return method(b, ctx) }, struct{}{})
}

// callMethod makes a call that the library doesn't offer. params become a JSON object. into is as callLibrary's.
func (c *client) callMethod(ctx context.Context, method string, params, into any) error {
	ctx, cancel := exchange.WithTimeout(ctx)
	defer cancel()
	body, err := json.Marshal(params)
	if err != nil {
		return &failure{CallFailure: c.exchange.Failed(method, qos.Rejected, fmt.Errorf("encode the request: %w", err))}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+method, bytes.NewReader(body))
	if err != nil {
		return &failure{CallFailure: c.exchange.Failed(method, qos.NotSent, err)}
	}
	r.Header.Set("Content-Type", "application/json")
	got, f := c.exchange.Do(method, r)
	if f != nil {
		return &failure{CallFailure: *f}
	}
	result, err := readAnswer(c.exchange, method, got)
	if err != nil {
		return err
	}
	return c.decodeResult(method, result, into)
}

// decodeResult reads a result. nil wants the plain true of calls that return nothing.
func (c *client) decodeResult(method string, result json.RawMessage, into any) error {
	if into == nil {
		into = new(done)
	}
	if f := c.exchange.Decode(method, result, into); f != nil {
		return &failure{CallFailure: *f}
	}
	return nil
}

// done is the result of calls that return nothing.
type done bool

// Check implements exchange.CheckedResult.
func (d done) Check() error {
	if !d {
		return errors.New("it isn't true")
	}
	return nil
}

// apiAnswer is what the Bot API answers (core.telegram.org/bots/api#making-requests).
type apiAnswer struct {
	OK          *bool           `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter silenceOrder `json:"retry_after"`
		MigratedTo int64        `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// libraryCall is what the library makes one call through (bot.HttpClient), and keeps what came of it.
type libraryCall struct {
	exchange *exchange.Exchange
	method   string          // once it's known
	result   json.RawMessage // nil: it wasn't accepted
}

// Do makes a request. The error is a *failure: whatever isn't an accepted call is one.
func (c *libraryCall) Do(r *http.Request) (*http.Response, error) {
	c.method = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	got, f := c.exchange.Do(c.method, r)
	if f != nil {
		return nil, &failure{CallFailure: *f}
	}
	result, err := readAnswer(c.exchange, c.method, got)
	if err != nil {
		return nil, err
	}
	c.result = result
	return &http.Response{StatusCode: got.Status, Header: got.Header, Body: io.NopCloser(bytes.NewReader(got.Body))}, nil
}

// readAnswer takes an answer in, and returns the result of an accepted call.
func readAnswer(x *exchange.Exchange, method string, got exchange.Response) (json.RawMessage, error) {
	if got.Err != nil {
		return nil, &failure{CallFailure: x.Unreadable(method, got.Err)}
	}
	var a apiAnswer
	if err := json.Unmarshal(got.Body, &a); err != nil || a.OK == nil {
		return nil, foreign(x, method, got)
	}
	if !*a.OK {
		return nil, refusal(x, method, got, a)
	}
	return a.Result, nil
}

// foreign is the failure of an answer that isn't Telegram's.
func foreign(x *exchange.Exchange, method string, got exchange.Response) *failure {
	f := &failure{CallFailure: x.Foreign(method, got)}
	f.Text = fmt.Sprintf("status %d, and %s", got.Status, f.Text)
	if f.Outcome == qos.Throttled {
		f.RetryAfter = orderOf(got.Header.Get("Retry-After"))
	}
	return f
}

// failure is a call that wasn't accepted, and what that means. Its Status is Telegram's error_code, or
// that of HTTP.
type failure struct {
	exchange.CallFailure
	missing    adapters.Missing
	content    bool // refused for what it's to show, and maybe for its formatting
	migratedTo int64
}

// deeds are what calls do that people see, in plain words.
var deeds = map[string]string{ //nolint:gochecknoglobals // a constant table
	"sendMessage": "post a message", "sendPhoto": "post a picture", "sendDocument": "post a file", "sendMessageDraft": "show what's being written",
	"editMessageText": "edit a message", "editMessageCaption": "edit a message", "setMessageReaction": "react to a message", "pinChatMessage": "pin a message",
	"createForumTopic": "make the topic", "editForumTopic": "rename the topic", "closeForumTopic": "close the topic", "reopenForumTopic": "reopen the topic",
}

// reply is the failure as package adapters reads it.
func (f *failure) reply() adapters.Reply {
	r := f.Reply()
	r.Missing, r.Content, r.Err = f.missing, f.content, f
	if f.migratedTo != 0 {
		r.Chat = strconv.FormatInt(f.migratedTo, 10)
	}
	return r
}

// silenceOrder is for how long a 429 orders silence, in whatever form. What can't be read is none.
type silenceOrder time.Duration

// UnmarshalJSON implements json.Unmarshaler: 3, 3.5 and "3" are seconds.
func (o *silenceOrder) UnmarshalJSON(raw []byte) error {
	*o = silenceOrder(orderOf(strings.Trim(string(raw), `"`)))
	return nil
}

// orderOf reads seconds, rounded up to whole ones. Orders beyond a year are a year: a
// time.Duration has no room for all that a platform may say.
func orderOf(text string) time.Duration {
	const year = 365 * 24 * 3600
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n > 0) { // also for what's not a number
		return 0
	}
	return time.Duration(math.Ceil(min(n, year))) * time.Second
}

// inWords finds an order in a description: "Too Many Requests: retry after 3".
var inWords = regexp.MustCompile(`retry after (\d+)`)

// refusal is the failure of a call that Telegram has answered with an error.
func refusal(x *exchange.Exchange, method string, got exchange.Response, a apiAnswer) *failure {
	f := &failure{CallFailure: x.Refused(method, got)}
	f.Status, f.Text = cmp.Or(a.Code, got.Status), x.Clean(harmless(a.Description))
	switch {
	case f.Status == http.StatusTooManyRequests:
		// The longest that it says: calling too early is worse than calling late.
		f.Outcome, f.RetryAfter = qos.Throttled, max(time.Duration(a.Parameters.RetryAfter), orderOf(got.Header.Get("Retry-After")))
		if said := inWords.FindStringSubmatch(strings.ToLower(a.Description)); said != nil {
			f.RetryAfter = max(f.RetryAfter, orderOf(said[1]))
		}
	case a.Parameters.MigratedTo != 0:
		f.Outcome, f.migratedTo = qos.Migrated, a.Parameters.MigratedTo
	case f.Status >= http.StatusInternalServerError:
		// The Bot API server says so too of calls that it had passed on when it was
		// stopped.
		f.Outcome, f.Over = qos.Uncertain, true
	default:
		f.explain(a.Description)
	}
	return f
}

// knownRefusal is a refusal that's known by its words: clients have nothing else to tell
// one 400 from another.
type knownRefusal struct {
	code    int    // 0: any
	words   string // part of the description, in small letters
	outcome qos.CallOutcome
	missing adapters.Missing
	advice  string // what to do; "": Telegram's own words
	content bool   // it's about what was to be shown
}

const (
	adviceChat = "the bot isn't in the chat, or the chat is gone: check its number, and add the bot to it"
	adviceKick = "the bot was removed from the chat: add it again"
	adviceMute = "the bot may not write in the chat: allow it to send messages there"
	adviceTell = "the bot may not manage topics: make it an administrator who may"
)

// knownRefusals are what Telegram says, from the Bot API server's source
// (github.com/tdlib/telegram-bot-api) and reports; the first that fits counts.
var knownRefusals = []knownRefusal{ //nolint:gochecknoglobals // a constant table
	{code: http.StatusBadRequest, words: "message is not modified", outcome: qos.Delivered},
	{code: http.StatusBadRequest, words: "topic_not_modified", outcome: qos.Delivered},

	// What's gone and can be repaired.
	{code: http.StatusBadRequest, words: "message to edit not found", outcome: qos.Rejected, missing: adapters.MissingMessage},
	{code: http.StatusBadRequest, words: "message can't be edited", outcome: qos.Rejected, missing: adapters.MissingMessage},
	{code: http.StatusBadRequest, words: "message_id_invalid", outcome: qos.Rejected, missing: adapters.MissingMessage},
	{code: http.StatusBadRequest, words: "there is no text in the message to edit", outcome: qos.Rejected, missing: adapters.MissingMessage},
	{code: http.StatusBadRequest, words: "message thread not found", outcome: qos.Rejected, missing: adapters.MissingThread},
	{code: http.StatusBadRequest, words: "topic_deleted", outcome: qos.Rejected, missing: adapters.MissingThread},
	{code: http.StatusBadRequest, words: "topic_id_invalid", outcome: qos.Rejected, missing: adapters.MissingThread},

	// What a person must repair, for the whole chat.
	{words: "chat not found", outcome: qos.ChatGone, advice: adviceChat},
	{words: "peer_id_invalid", outcome: qos.ChatGone, advice: adviceChat},
	{words: "group chat was deactivated", outcome: qos.ChatGone, advice: adviceChat},
	{words: "chat was deleted", outcome: qos.ChatGone, advice: adviceChat},
	{code: http.StatusForbidden, words: "bot was kicked", outcome: qos.ChatGone, advice: adviceKick},
	{code: http.StatusForbidden, words: "bot is not a member", outcome: qos.ChatGone, advice: adviceKick},
	{code: http.StatusForbidden, words: "blocked by the user", outcome: qos.ChatGone, advice: "the person has blocked the bot: unblock it, and send it /start"},
	{code: http.StatusForbidden, words: "can't initiate conversation", outcome: qos.ChatGone, advice: "a bot can't write first: send it /start"},
	{code: http.StatusForbidden, words: "user is deactivated", outcome: qos.ChatGone, advice: "the account was deleted"},
	{words: "have no rights to send", outcome: qos.ChatGone, advice: adviceMute},
	{words: "not enough rights to send", outcome: qos.ChatGone, advice: adviceMute},
	{words: "chat_write_forbidden", outcome: qos.ChatGone, advice: adviceMute},

	// And for one topic.
	{words: "not enough rights to manage topics", outcome: qos.Rejected, advice: adviceTell},
	{words: "not enough rights to create a topic", outcome: qos.Rejected, advice: adviceTell},
	{words: "chat is not a forum", outcome: qos.Rejected, advice: "the chat has no topics: switch them on in its settings, or say topics: false"},
	{words: "topic_closed", outcome: qos.Rejected, advice: "the topic is closed: reopen it, or let the bot manage topics"},

	// The token, for all calls. They aren't done, and will be when it's right.
	{code: http.StatusUnauthorized, outcome: qos.Failed, advice: "Telegram doesn't know the token: take the present one from @BotFather, and put it into token_file"},
	{code: http.StatusNotFound, outcome: qos.Failed, advice: "Telegram doesn't know the address: check token_file and api_url"},

	{code: http.StatusRequestEntityTooLarge, outcome: qos.Rejected, advice: "the file is too large for Telegram", content: true},
	{code: http.StatusForbidden, outcome: qos.ChatGone},
}

// explain says what a refusal means, by its words. What nobody knows is taken to be about what's
// shown: entities that can't be parsed are refused in many words.
func (f *failure) explain(description string) {
	said := strings.ToLower(description)
	for _, k := range knownRefusals {
		if (k.code == 0 || k.code == f.Status) && strings.Contains(said, k.words) {
			f.Outcome, f.missing, f.content = k.outcome, k.missing, k.content
			if k.advice != "" {
				f.Text = k.advice
			}
			return
		}
	}
	f.content = f.Status == http.StatusBadRequest
}

// quoted is what Telegram repeats of a call.
var quoted = regexp.MustCompile(`(?s)(["']).*["']`)

// harmless is a description without what it repeats of the call.
func harmless(description string) string {
	_, said, ok := strings.Cut(description, ": ")
	if !ok {
		said = description
	}
	return exchange.Harmless(quoted.ReplaceAllString(said, "…"))
}
