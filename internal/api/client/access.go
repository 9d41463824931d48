package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/panebridge/panebridge/internal/api"
)

// Access lists who may do what in chats.
func (c *Client) Access(ctx context.Context) ([]api.AccessEntry, error) {
	var list []api.AccessEntry
	return list, c.call(ctx, http.MethodGet, "/api/v1/access", nil, nil, &list)
}

// GrantAccess gives a person a role.
func (c *Client) GrantAccess(ctx context.Context, person, role string) error {
	return c.call(ctx, http.MethodPost, "/api/v1/access", nil, api.AccessRequest{Person: person, Role: role}, nil)
}

// RevokeAccess takes back a role that a person was given; "": all.
func (c *Client) RevokeAccess(ctx context.Context, person, role string) (api.AccessRevoked, error) {
	var query url.Values
	if role != "" {
		query = url.Values{"role": {role}}
	}
	var out api.AccessRevoked
	return out, c.call(ctx, http.MethodDelete, "/api/v1/access/"+url.PathEscape(person), query, nil, &out)
}
