package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// ErrCutOff says that the daemon has ended in the middle of a wait.
var ErrCutOff = errors.New("the daemon has ended in the middle of the wait")

// Wait waits for output of a session. note is told what the wait is doing. The wait ends with the
// context.
func (c *Client) Wait(ctx context.Context, idOrName string, r api.WaitRequest, note func(sessions.WaitNote)) (sessions.WaitResult, error) {
	var none sessions.WaitResult
	resp, err := c.do(ctx, http.MethodPost, sessionPath(idOrName, "/wait"), nil, r)
	if CutOff(err) && ctx.Err() == nil {
		return none, fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	if err != nil {
		return none, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return none, readError(resp)
	}
	in := json.NewDecoder(resp.Body)
	for {
		var e api.WaitEvent
		switch err := in.Decode(&e); {
		case ctx.Err() != nil:
			return none, context.Cause(ctx)
		case CutOff(err):
			return none, fmt.Errorf("%w: %w", ErrCutOff, err)
		case err != nil:
			return none, fmt.Errorf("read the answer: %w", err)
		}
		switch {
		case e.Result != nil:
			return *e.Result, nil
		case e.Error != nil:
			e.Error.Status = resp.StatusCode
			return none, e.Error
		default:
			note(e.WaitNote)
		}
	}
}

// CutOff reports whether a call failed because the daemon ended before its answer did.
func CutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
