package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/sessions/agent"
)

// Programs lists what's known of the programs of all sessions that live.
func (c *Client) Programs(ctx context.Context) ([]agent.Insight, error) {
	var list []agent.Insight
	return list, c.call(ctx, http.MethodGet, "/api/v1/programs", nil, nil, &list)
}

// Record calls tell for what happens in a session, for so long, or until ctx ends. The
// last item has an End, unless the daemon ended or ctx did: then it returns an error.
func (c *Client) Record(ctx context.Context, idOrName string, length time.Duration, private bool, tell func(format.Item) error) error {
	resp, err := c.do(ctx, http.MethodGet, sessionPath(idOrName, "/recording"), url.Values{"for": {length.String()}, "private": {strconv.FormatBool(private)}}, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	in := json.NewDecoder(resp.Body)
	for {
		var it format.Item
		switch err := in.Decode(&it); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return fmt.Errorf("read the recording: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return fmt.Errorf("read the recording: %w", err)
		}
		if err := tell(it); err != nil || it.End != nil {
			return err
		}
	}
}
