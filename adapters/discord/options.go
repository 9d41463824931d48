package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// Name is what the adapter is called in targets: "discord:123456789012345678".
const Name = "discord"

// DefaultAPIURL is where Discord is.
const DefaultAPIURL = "https://discord.com/api"

// Options are an Adapter's. The zero value of a field means its default.
type Options struct {
	// Token is the bot's, as the developer portal gives it, without "Bot ".
	Token Token
	// APIURL is where the API is, without its version. DefaultAPIURL
	APIURL string
	// Proxy is the address of a proxy for all calls: http, https or socks5. "": as the
	// environment says (HTTPS_PROXY, NO_PROXY)
	Proxy string
	// Guild is the id of the server that the channels are in. It's part of the addresses
	// of messages, and where threads are looked for whose making wasn't answered; "":
	// there are no addresses, and such threads are made once more.
	Guild string
	// Channels are those the bot may write to by configuration.
	Channels []Channel
	// Knows says whether it may write to a channel that isn't among them: one that was
	// paired; or a private chat, for which Chat is the person's id. Nil: to none.
	Knows func(t adapters.Target) bool
	// QoS are the knobs of the scheduler. Its limits are Discord's, whatever stands there.
	QoS qos.Options
	// Learn is told what answers say about limits: qos.OutputQoSScheduler.Learn. It
	// returns at once. Nil: nobody is told.
	Learn func(qos.Scope, qos.Learned)
	// Transport carries the calls. Nil: one of its own, with Proxy.
	Transport http.RoundTripper
	// Dial makes the connection of the gateway's WebSocket. Nil: as Proxy says.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Logger *slog.Logger
}

// Channel is a text or forum channel that the bot may write to.
type Channel struct {
	// ID is Discord's number of it, a snowflake.
	ID string
	// Threads says that each session gets a thread of its own there, or a post of its
	// own in a forum channel.
	Threads bool
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

// tokenForm is what tokens look like: the bot's id in base64, a time, and a signature.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{15,}$`)

// Valid says whether a token looks like one. Whether there's such a bot only Discord
// knows.
func (t Token) Valid() bool { return tokenForm.MatchString(string(t)) }

// check returns all that's wrong with the options, joined.
func (o Options) check() error {
	var errs []error
	if !o.Token.Valid() {
		errs = append(errs, errors.New(`the token is not one: the developer portal gives it on the page "Bot", as three parts with dots between`))
	}
	_, err := exchange.ParseProxy(o.Proxy)
	errs = append(errs, exchange.CheckAPI(o.APIURL, DefaultAPIURL), err)
	if o.Guild != "" && !isID(o.Guild) {
		errs = append(errs, fmt.Errorf("guild %q is not a server's id: %s", o.Guild, copyID))
	}
	seen := map[string]bool{}
	for _, c := range o.Channels {
		switch {
		case !isID(c.ID):
			errs = append(errs, fmt.Errorf("%q is not a channel's id: %s", c.ID, copyID))
		case seen[c.ID]:
			errs = append(errs, fmt.Errorf("channel %s is there twice", c.ID))
		}
		seen[c.ID] = true
	}
	return errors.Join(errs...)
}

// copyID is where ids come from.
const copyID = `switch on "Developer Mode" in Discord's settings, and copy it from the menu of its name`

// proxy is Proxy, which is valid; nil: none.
func (o Options) proxy() *url.URL {
	u, _ := exchange.ParseProxy(o.Proxy)
	return u
}

// isID says whether a text is a snowflake (docs.discord.com/developers/reference).
func isID(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}
