package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// Inquire puts a question to people in a session's name.
func (c *Client) Inquire(ctx context.Context, idOrName string, r api.InquiryRequest) (api.Inquiry, error) {
	var q api.Inquiry
	return q, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/inquiries"), nil, r, &q)
}

// Inquiry returns a question when there's an answer or none will come, or as it stands after that time.
func (c *Client) Inquiry(ctx context.Context, idOrName, id string, within time.Duration) (api.Inquiry, error) {
	var q api.Inquiry
	return q, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/inquiries/"+url.PathEscape(id)), waitFor(within), nil, &q)
}

// WithdrawInquiry takes a question back, and returns how it stands.
func (c *Client) WithdrawInquiry(ctx context.Context, idOrName, id string) (api.Inquiry, error) {
	var q api.Inquiry
	return q, c.call(ctx, http.MethodDelete, sessionPath(idOrName, "/inquiries/"+url.PathEscape(id)), nil, nil, &q)
}

// Show shows people a file in a session's name.
func (c *Client) Show(ctx context.Context, idOrName string, r api.ShowRequest) (api.Exhibit, error) {
	var e api.Exhibit
	return e, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/exhibits"), nil, r, &e)
}

// Exhibit returns a file that was shown when it's in all of its chats, or as it stands after that time.
func (c *Client) Exhibit(ctx context.Context, idOrName, id string, within time.Duration) (api.Exhibit, error) {
	var e api.Exhibit
	return e, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/exhibits/"+url.PathEscape(id)), waitFor(within), nil, &e)
}

// Exhibits lists what a session has shown, the newest first.
func (c *Client) Exhibits(ctx context.Context, idOrName string) ([]api.Exhibit, error) {
	var all []api.Exhibit
	return all, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/exhibits"), nil, nil, &all)
}

func waitFor(within time.Duration) url.Values {
	return url.Values{"wait_ms": {strconv.FormatInt(max(within, 0).Milliseconds(), 10)}}
}
