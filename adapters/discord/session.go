package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"sync/atomic"
)

// session is a login that's resumed over connections. Discord sends again what came
// after the event that we name, and we name the last one that's stored: what was lost
// on the way to the disk comes again.
type session struct {
	id  string
	url string // where it's resumed
	bot string // the bot's user id
	// stored is the number of the last event that's taken care of, as were all before.
	stored atomic.Int64
}

// readyJSON is what's read of the event that begins a session
// (docs.discord.com/developers/events/gateway-events#ready).
type readyJSON struct {
	Session string   `json:"session_id"`
	URL     string   `json:"resume_gateway_url"`
	User    userJSON `json:"user"`
	Guilds  []struct {
		ID string `json:"id"`
	} `json:"guilds"`
}

// newSession reads the event that begins one.
func newSession(raw json.RawMessage, secure bool) (*session, error) {
	var ready readyJSON
	if err := json.Unmarshal(raw, &ready); err != nil {
		return nil, unreadable(err)
	}
	if ready.Session == "" || !isID(ready.User.ID) {
		return nil, errors.New("read an event: READY without session_id or user.id")
	}
	s := &session{id: ready.Session, bot: ready.User.ID}
	if ready.URL != "" {
		var err error
		if s.url, err = gatewayURL(ready.URL, secure); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// gatewayURL is an address of the gateway with what's asked of it. The token goes
// there: if the API is reached by https, so must the gateway.
func gatewayURL(address string, secure bool) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "wss" && (secure || u.Scheme != "ws") {
		return "", errors.New("read the gateway's address: it isn't one; check api_url")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawQuery = fmt.Sprintf("v=%s&encoding=json", apiVersion)
	return u.String(), nil
}

// intents are the kinds of events that are asked for: servers with their channels and
// threads, messages there and in private chats, and what's in them
// (docs.discord.com/developers/events/gateway#gateway-intents).
const intents = 1<<0 | 1<<9 | 1<<12 | 1<<15

// apiVersion is the one that the library speaks.
const apiVersion = "9"

type identifyJSON struct {
	Token      Token             `json:"-"`
	Intents    int               `json:"intents"`
	Properties map[string]string `json:"properties"`
}

// MarshalJSON puts the token in, which prints as *** elsewhere.
func (i identifyJSON) MarshalJSON() ([]byte, error) {
	type plain identifyJSON
	return json.Marshal(struct {
		Token string `json:"token"`
		plain
	}{string(i.Token), plain(i)})
}

type resumeJSON struct {
	Token   Token  `json:"-"`
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
}

// MarshalJSON puts the token in, which prints as *** elsewhere.
func (r resumeJSON) MarshalJSON() ([]byte, error) {
	type plain resumeJSON
	return json.Marshal(struct {
		Token string `json:"token"`
		plain
	}{string(r.Token), plain(r)})
}

// identify is the login of a new session.
func identify(t Token) identifyJSON {
	return identifyJSON{Token: t, Intents: intents, Properties: map[string]string{"os": runtime.GOOS, "browser": "panebridge", "device": "panebridge"}}
}

func (s *session) resume(t Token) resumeJSON {
	return resumeJSON{Token: t, Session: s.id, Seq: s.stored.Load()}
}
