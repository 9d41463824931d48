package discord

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// ending is why a connection to the gateway ended, and what that means for the next.
type ending struct {
	text   string        // as a sentence, for people
	final  bool          // a person must change something, as far as is known
	early  bool          // of final: before the bot tried to log in
	again  time.Duration // of early: after how long calls are made again, since none is made now; 0: one was made
	forget bool          // the session can't be resumed
	asked  bool          // Discord wants it so; nothing is wrong
	// rest is the least time to rest before the next, to which up to four times as
	// much is added by chance; 0: as after any failure.
	rest time.Duration
}

func (e *ending) Error() string { return e.text }

// What ends connections, beside Discord's closing them. Reconnects are asked for
// several times a day. An invalid session takes 1 to 5 s until the next
// (docs.discord.com/developers/events/gateway#resuming).
var (
	errReconnect = &ending{text: "Discord asked to connect again", asked: true}
	errInvalid   = &ending{text: "Discord can't resume the session", asked: true, forget: true, rest: time.Second}
	errNotNow    = &ending{text: "Discord can't resume the session at the moment", asked: true, rest: time.Second}
	errCaughtUp  = &ending{text: "events waited too long to be stored; they're asked for again", asked: true}
	errDeaf      = &ending{text: "the gateway is silent: it answered no heartbeat"}
	errNoWelcome = &ending{text: "the gateway is silent: it didn't let the bot in, nor say why"}
	errFrames    = &ending{text: "what answers isn't Discord's gateway: check api_url, and the proxy if there's one"}
)

// portal is where a bot's settings are.
const portal = "https://discord.com/developers/applications"

// closing are the codes with which Discord closes connections
// (docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes).
// The others are passing.
func closing(code int) *ending {
	switch code {
	case 4004:
		return &ending{final: true, forget: true, text: "Discord doesn't know the token: take the present one from the page Bot of " + portal + ", put it into token_file, and restart panebridge"}
	case 4014:
		return &ending{final: true, forget: true, text: "the bot may not read messages: turn on the Message Content intent at " + portal + ", on the bot's page Bot"}
	case 4010, 4011:
		return &ending{final: true, forget: true, text: "the bot is on too many servers: Discord asks for shards, which panebridge doesn't use; give it a bot of its own"}
	case 4012, 4013:
		return &ending{final: true, forget: true, text: fmt.Sprintf("Discord doesn't take what panebridge asks for any more (code %d): install a newer version", code)}
	case 4003, 4007, 4009:
		return &ending{forget: true, text: fmt.Sprintf("Discord ended the session (code %d)", code)}
	default:
		return &ending{text: fmt.Sprintf("Discord closed the connection (code %d)", code)}
	}
}

// broken is why a connection couldn't be read from any more.
func broken(err error) error {
	if c, ok := errors.AsType[*websocket.CloseError](err); ok && c.Code != websocket.CloseAbnormalClosure {
		return closing(c.Code)
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return errDeaf
	}
	if errors.Is(err, websocket.ErrReadLimit) {
		return errFrames
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return &ending{text: "the connection to Discord broke"}
	}
	return &ending{text: "the connection to Discord broke: " + err.Error()}
}
