package telegram

import (
	"cmp"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// failure is a call that wasn't accepted, and what that means. Its Status is Telegram's error_code, or
// that of HTTP.
type failure struct {
	exchange.Failure
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

// order is for how long a 429 orders silence, in whatever form. What can't be read is none.
type order time.Duration

// UnmarshalJSON implements json.Unmarshaler: 3, 3.5 and "3" are seconds.
func (o *order) UnmarshalJSON(raw []byte) error {
	*o = order(orderOf(strings.Trim(string(raw), `"`)))
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
func refusal(x *exchange.Exchange, method string, got exchange.Answer, a answer) *failure {
	f := &failure{Failure: x.Refused(method, got)}
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

// known is a refusal that's known by its words: clients have nothing else to tell
// one 400 from another.
type known struct {
	code    int    // 0: any
	words   string // part of the description, in small letters
	outcome qos.Outcome
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

// refusals are what Telegram says, from the Bot API server's source
// (github.com/tdlib/telegram-bot-api) and reports; the first that fits counts.
var refusals = []known{ //nolint:gochecknoglobals // a constant table
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
	for _, k := range refusals {
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
