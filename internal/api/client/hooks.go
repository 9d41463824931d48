package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions/agent"
)

// writeTime bounds writing to a socket whose buffer is full.
const writeTime = 10 * time.Millisecond

// inputTime bounds writing the input of a call that a person is asked about.
const inputTime = time.Second

// Hook tells the daemon that an agent's hook was called. The call is made at once and
// in one piece; what the context's deadline ends is the wait for the answer, so that a
// daemon that's held up still hears of it. tell is what the agent is to be told, if
// anything.
func (c *Client) Hook(ctx context.Context, h agent.Hook) (tell string, err error) {
	const path = "/api/v1/hooks"
	r, err := newRequest(ctx, http.MethodPost, path, nil, api.HookCall{Version: api.HookVersion, Hook: h})
	if err != nil {
		return "", fmt.Errorf("prepare the call of %s: %w", path, err)
	}
	r.Close = true
	var text bytes.Buffer
	if err := r.Write(&text); err != nil {
		return "", fmt.Errorf("prepare the call of %s: %w", path, err)
	}
	var d net.Dialer
	conn, err := d.DialContext(context.WithoutCancel(ctx), "unix", c.socket)
	if err != nil {
		return "", c.callError(path, err)
	}
	defer func() { _ = conn.Close() }()
	within := writeTime
	if len(h.Input) > 0 { // it may be more than a socket's buffer takes
		within = inputTime
	}
	_ = conn.SetWriteDeadline(time.Now().Add(within)) // fails only if it's closed
	if _, err := conn.Write(text.Bytes()); err != nil {
		return "", c.callError(path, err)
	}
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetReadDeadline(end)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return "", c.callError(path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", decode(resp, nil)
	}
	var answer api.HookAnswer
	err = decode(resp, &answer)
	return answer.Context, err
}

// Decision waits until the dialog that an agent's hook was called for is answered in a
// way that the hook can tell; nothing if it's answered otherwise, or not in time.
func (c *Client) Decision(ctx context.Context, h agent.Hook) (agent.Told, error) {
	resp, err := c.do(ctx, http.MethodPost, "/api/v1/hooks/decision", nil, api.HookCall{Version: api.HookVersion, Hook: h})
	if err != nil {
		return agent.Told{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer api.HookDecision
	err = decode(resp, &answer)
	return answer.Told, err
}
