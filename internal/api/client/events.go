package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// ErrStreamEnded says that the server ended an event stream, or the connection broke.
// Events called again with the last event's ID goes on where it was.
var ErrStreamEnded = errors.New("the event stream ended")

// Event is one event of a stream.
type Event struct {
	Name string          // api.EventOutput and so on
	ID   string          // what to give to Events to go on behind it; "" on the stream of all sessions
	Data json.RawMessage // one JSON object: api.OutputEvent and so on
}

// Events calls fn for each event, in order, until the context ends (it then
// returns the context's error), fn returns an error (it returns that), or the
// stream ends (ErrStreamEnded). With session "" it's all sessions; from is ""
// for now, a line number, or the ID of an event, and goes with a session only.
func (c *Client) Events(ctx context.Context, session, from string, fn func(Event) error) error {
	query := url.Values{}
	if session != "" {
		query.Set("session", session)
	}
	if from != "" {
		query.Set("from", from)
	}
	return c.follow(ctx, "/api/v1/events", query, fn)
}

// Terminal calls fn for each frame of a session's screen, or where it can't be seen, until one of the ends of Events.
func (c *Client) Terminal(ctx context.Context, idOrName string, fn func(Event) error) error {
	return c.follow(ctx, sessionPath(idOrName, "/terminal"), nil, fn)
}

// follow calls fn for each event of a stream.
func (c *Client) follow(ctx context.Context, path string, query url.Values, fn func(Event) error) error {
	resp, err := c.do(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	err = readEvents(resp.Body, fn)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readEvents parses server-sent events, as far as the API writes them: one data
// line each.
func readEvents(r io.Reader, fn func(Event) error) error {
	in := bufio.NewReader(r)
	var now Event
	id := ""
	for {
		line, err := in.ReadBytes('\n') // no limit of length: an event's data is one line
		if err != nil {
			return fmt.Errorf("%w: %w", ErrStreamEnded, err)
		}
		field, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(": "))
		switch string(field) {
		case "event":
			now.Name = string(value)
		case "id":
			id = string(value)
		case "data":
			now.Data = bytes.Clone(value)
		case "":
			if now.Data == nil {
				continue // a comment
			}
			now.ID = id
			if err := fn(now); err != nil {
				return err
			}
			now = Event{}
		}
	}
}
