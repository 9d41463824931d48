package telegram

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// Name is what the adapter is called in targets: "telegram:-1001234567890".
const Name = "telegram"

// Options are an Adapter's. The zero value of a field means its default.
type Options struct {
	// Token is the bot's, as @BotFather gives it: NUMBER:SECRET.
	Token Token
	// APIURL is where the Bot API is. "https://api.telegram.org"
	APIURL string
	// Proxy is the address of a proxy for all calls: http, https or socks5. "": as the
	// environment says (HTTPS_PROXY, NO_PROXY)
	Proxy string
	// Chats are those the bot may write to by configuration.
	Chats []Chat
	// Knows says whether it may write to a chat that isn't among them: one that was
	// paired. Nil: to none.
	Knows func(t adapters.Target) bool
	// QoS are the knobs of the scheduler. Its limits are Telegram's, whatever stands there.
	QoS qos.Options
	// Transport carries the calls. Nil: one of its own, with Proxy.
	Transport http.RoundTripper
	Logger    *slog.Logger
}

// Chat is a chat that the bot may write to.
type Chat struct {
	// ID is Telegram's number: negative for groups, a person's for private chats.
	ID int64
	// Topics says that each session gets a topic of its own there: in a forum, or in
	// a private chat of a bot with topics.
	Topics bool
}

// Token is a bot's token. However it's printed, it's ***.
type Token string

const masked = "***"

// String implements fmt.Stringer.
func (Token) String() string { return masked }

// Format implements fmt.Formatter, for verbs that would pass String by.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText implements encoding.TextMarshaler.
func (Token) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Bot is the number of its bot, which stands before the secret; "": it's no token.
func (t Token) Bot() string {
	number, _, is := strings.Cut(string(t), ":")
	if !is {
		return ""
	}
	return number
}

// tokenForm is what tokens look like.
var tokenForm = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{20,}$`)

// check returns all that's wrong with the options, joined.
func (o Options) check() error {
	var errs []error
	if !tokenForm.MatchString(string(o.Token)) {
		errs = append(errs, errors.New("the token is not one: @BotFather gives it as NUMBER:SECRET"))
	}
	_, err := exchange.ParseProxy(o.Proxy)
	errs = append(errs, exchange.CheckAPI(o.APIURL, "https://api.telegram.org"), err)
	seen := map[int64]bool{}
	for _, c := range o.Chats {
		switch {
		case c.ID == 0:
			errs = append(errs, errors.New("a chat has no number; groups have negative ones"))
		case seen[c.ID]:
			errs = append(errs, fmt.Errorf("chat %d is there twice", c.ID))
		}
		seen[c.ID] = true
	}
	return errors.Join(errs...)
}

// proxy is Proxy, which is valid; nil: none.
func (o Options) proxy() *url.URL {
	u, _ := exchange.ParseProxy(o.Proxy)
	return u
}
