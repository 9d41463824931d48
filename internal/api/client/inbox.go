package client

import (
	"context"
	"net/http"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/inbox"
)

// Announce has a recipient's waiting previews typed, as far as they can be now.
func (c *Client) Announce(ctx context.Context, to inbox.Address) error {
	return c.call(ctx, http.MethodPost, "/api/v1/inbox/announce", nil, api.Announce{To: to}, nil)
}

// Ping types the poll command into a session's pane; why says what speaks against it.
func (c *Client) Ping(ctx context.Context, to inbox.Address) (why string, err error) {
	var out api.Pinged
	err = c.call(ctx, http.MethodPost, "/api/v1/inbox/ping", nil, api.Announce{To: to}, &out)
	return out.Reason, err
}
