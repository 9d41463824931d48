package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// Usage returns what agents used since a day ("2026-11-30"; "": from the beginning), summed by session, agent or day.
func (c *Client) Usage(ctx context.Context, by sessions.UsageBy, since string) ([]api.UsageSum, error) {
	var list []api.UsageSum
	return list, c.call(ctx, http.MethodGet, "/api/v1/usage", url.Values{"by": {string(by)}, "since": {since}}, nil, &list)
}

// Schedule has a session go on by itself when its limit is over.
func (c *Client) Schedule(ctx context.Context, idOrName string) (api.Continuation, error) {
	var one api.Continuation
	return one, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/continuation"), nil, nil, &one)
}

// Unschedule has it not go on by itself.
func (c *Client) Unschedule(ctx context.Context, idOrName string) error {
	return c.call(ctx, http.MethodDelete, sessionPath(idOrName, "/continuation"), nil, nil, nil)
}
