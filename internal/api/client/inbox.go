package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/inbox"
)

// Announce has a recipient's waiting previews typed, as far as they can be now.
func (c *Client) Announce(ctx context.Context, to inbox.Address) error {
	return c.call(ctx, http.MethodPost, "/api/v1/inbox/announce", nil, api.Announce{To: to}, nil)
}

// AllowMailbox returns nil if this program may use the mail of a session or person. It
// waits while somebody is asked.
func (c *Client) AllowMailbox(ctx context.Context, who inbox.Address) error {
	path := "/api/v1/sessions/" + url.PathEscape(string(who.Session())) + "/mailbox"
	if name, ok := who.Person(); ok {
		path = "/api/v1/people/" + url.PathEscape(name) + "/mailbox"
	}
	return c.call(ctx, http.MethodGet, path, nil, nil, nil)
}

// AllowFleetChange returns nil if this program may change a fleet so. It waits while
// somebody is asked.
func (c *Client) AllowFleetChange(ctx context.Context, change api.FleetChange) error {
	return c.call(ctx, http.MethodPost, "/api/v1/fleets", nil, change, nil)
}
