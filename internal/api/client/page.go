package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/panebridge/panebridge/internal/api"
)

// Page says where the page is, and which browsers may use it.
func (c *Client) Page(ctx context.Context) (api.Page, error) {
	var p api.Page
	return p, c.call(ctx, http.MethodGet, "/api/v1/page", nil, nil, &p)
}

// NewAddress makes an address of the page that lets one browser in.
func (c *Client) NewAddress(ctx context.Context) (api.PageAddress, error) {
	var a api.PageAddress
	return a, c.call(ctx, http.MethodPost, "/api/v1/page/addresses", nil, nil, &a)
}

// RevokeBrowser takes a browser's right to use the page away.
func (c *Client) RevokeBrowser(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/api/v1/page/browsers/"+url.PathEscape(id), nil, nil, nil)
}

// RotatePage takes it from all browsers, and voids all addresses that weren't opened yet.
func (c *Client) RotatePage(ctx context.Context) (api.Rotated, error) {
	var r api.Rotated
	return r, c.call(ctx, http.MethodPost, "/api/v1/page/rotate", nil, nil, &r)
}

// SharePage makes an address of the page for a device elsewhere, which has it ask to be let in.
func (c *Client) SharePage(ctx context.Context, r api.ShareRequest) (api.PageAddress, error) {
	var a api.PageAddress
	return a, c.call(ctx, http.MethodPost, "/api/v1/page/shares", nil, r, &a)
}

// ConfirmDevice lets a device in that asks to be.
func (c *Client) ConfirmDevice(ctx context.Context, id string) (api.Browser, error) {
	var b api.Browser
	return b, c.call(ctx, http.MethodPost, "/api/v1/page/browsers/"+url.PathEscape(id)+"/confirm", nil, nil, &b)
}
