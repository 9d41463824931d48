package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"github.com/panebridge/panebridge/internal/host"
)

// Bounds of what's exchanged with Codex' app server. A message that's longer is passed
// over: what it's about is answered by keys.
const (
	maxServerMessage = MaxHookInput + 64<<10
	serverTakes      = 5 * time.Second // at most to connect, to answer a call, to take an answer
	maxServerThreads = 20              // pages of its list of conversations
)

// codexServer is a connection to the app server that Codex runs in its daemon mode: JSON-RPC
// in the messages of a WebSocket, on a Unix socket that's its owner's alone (seen with
// 0.169.0, where the protocol is called experimental). It's for one goroutine, but for
// answer.
type codexServer struct {
	conn   *websocket.Conn
	wrote  chan struct{} // holds one while nobody writes
	lastID int
	early  []serverMessage // came while the answer of a call was awaited
}

// serverMessage is one message: a call or notification of the server's has a method, an
// answer has none.
type serverMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// errUntriedServer says that the app server is of a version that nobody has tried.
var errUntriedServer = errors.New("its version wasn't tried with this panebridge")

// errNoThread says that the app server doesn't have a conversation.
var errNoThread = errors.New("it doesn't have the conversation")

// codexSocket is where the app server of a program with this environment listens.
func codexSocket(env map[string]string) string {
	home := env["CODEX_HOME"]
	if !filepath.IsAbs(home) {
		if !filepath.IsAbs(env["HOME"]) {
			return ""
		}
		home = filepath.Join(env["HOME"], ".codex")
	}
	return filepath.Join(home, "app-server-control", "app-server-control.sock")
}

// dialCodex connects to an app server of this very user's and of a version that was tried,
// and makes itself known.
func dialCodex(ctx context.Context, path string, tried []string) (*codexServer, error) {
	ctx, cancel := context.WithTimeout(ctx, serverTakes)
	defer cancel()
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialOwn(ctx, path) }, HandshakeTimeout: serverTakes}
	conn, answer, err := d.DialContext(ctx, "ws://localhost/", nil)
	if err != nil {
		return nil, fmt.Errorf("connect to Codex' app server: %w", err)
	}
	_ = answer.Body.Close()
	s := &codexServer{conn: conn, wrote: make(chan struct{}, 1)}
	var is struct {
		UserAgent string `json:"userAgent"`
	}
	err = s.makeCall(ctx, "initialize", map[string]any{
		"clientInfo":   map[string]any{"name": "panebridge", "title": "panebridge", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true, "optOutNotificationMethods": codexUnheard},
	}, &is)
	if err == nil {
		err = s.sendMessage(map[string]any{"method": "initialized"})
	}
	if m := agentVersion.FindStringSubmatch(is.UserAgent); err == nil && (m == nil || !slices.Contains(tried, m[1])) {
		err = fmt.Errorf("use Codex' app server (%.100q): %w", is.UserAgent, errUntriedServer)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// agentVersion finds the version in how an app server calls itself: "codex-tui/0.169.0 (…".
var agentVersion = regexp.MustCompile(`^[^/]+/(\d+\.\d+\.\d+\S*) `)

// codexUnheard are notifications that say nothing here, and that there are many of.
var codexUnheard = []string{ //nolint:gochecknoglobals // a constant table
	"configWarning", "warning", "remoteControl/status/changed", "thread/goal/cleared", "thread/tokenUsage/updated", "thread/readState/changed",
	"account/rateLimits/updated", "item/agentMessage/delta", "item/reasoning/textDelta", "item/reasoning/summaryTextDelta", "item/reasoning/summaryPartAdded",
	"item/commandExecution/outputDelta", "item/plan/delta", "turn/diff/updated",
}

// dialOwn connects to a Unix socket of this user's. Codex has a link stand for it.
func dialOwn(ctx context.Context, path string) (net.Conn, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s isn't a socket", path)
	case !ok || int(owner.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s is another user's", path)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if own, ok := conn.(*net.UnixConn); host.Knows(host.SocketUsers) && (!ok || !isOwn(own)) {
		_ = conn.Close()
		return nil, fmt.Errorf("who listens on %s is another user", path)
	}
	return conn, nil
}

// isOwn reports whether a process of this user's is at the other end of a connection.
func isOwn(conn *net.UnixConn) bool {
	uid, err := host.SocketUser(conn)
	return err == nil && uid == os.Geteuid()
}

func (s *codexServer) close() { _ = s.conn.Close() }

// sendMessage sends a message, in a time that a program which reads keeps easily.
func (s *codexServer) sendMessage(v any) error {
	s.wrote <- struct{}{}
	defer func() { <-s.wrote }()
	_ = s.conn.SetWriteDeadline(time.Now().Add(serverTakes))
	if err := s.conn.WriteJSON(v); err != nil {
		return fmt.Errorf("write to Codex' app server: %w", err)
	}
	return nil
}

// answerCall answers a call of the server's.
func (s *codexServer) answerCall(id json.RawMessage, result any) error {
	return s.sendMessage(struct {
		ID     json.RawMessage `json:"id"`
		Result any             `json:"result"`
	}{id, result})
}

// makeCall makes a call, and keeps what else comes meanwhile.
func (s *codexServer) makeCall(ctx context.Context, method string, params, result any) error {
	s.lastID++
	id := s.lastID
	if err := s.sendMessage(map[string]any{"id": id, "method": method, "params": params}); err != nil {
		return err
	}
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(serverTakes)
	}
	_ = s.conn.SetReadDeadline(until)
	defer func() { _ = s.conn.SetReadDeadline(time.Time{}) }()
	for {
		m, err := s.readMessage()
		switch {
		case err != nil:
			return fmt.Errorf("call %s of Codex' app server: %w", method, err)
		case m.Method != "" || string(m.ID) != fmt.Sprint(id):
			if s.early = append(s.early, m); len(s.early) > maxCalls {
				s.early = s.early[1:]
			}
		case m.Error != nil:
			return fmt.Errorf("call %s of Codex' app server: it says %.200q", method, m.Error.Message)
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fmt.Errorf("call %s of Codex' app server: %w", method, err)
			}
			return nil
		}
	}
}

// nextMessage returns what comes next from the server, however long that takes.
func (s *codexServer) nextMessage() (serverMessage, error) {
	if len(s.early) > 0 {
		m := s.early[0]
		s.early = s.early[1:]
		return m, nil
	}
	return s.readMessage()
}

// readMessage reads the next message that isn't too long, and is one.
func (s *codexServer) readMessage() (serverMessage, error) {
	for {
		_, r, err := s.conn.NextReader()
		if err != nil {
			return serverMessage{}, err
		}
		text, err := io.ReadAll(io.LimitReader(r, maxServerMessage+1))
		if err != nil {
			return serverMessage{}, err
		}
		var m serverMessage
		if len(text) <= maxServerMessage && json.Unmarshal(text, &m) == nil {
			return m, nil
		}
	}
}

// joinConversation has the server tell of a conversation that it has, and of what it asks now. It
// never has one loaded that isn't.
func (s *codexServer) joinConversation(ctx context.Context, thread string) error {
	ctx, cancel := context.WithTimeout(ctx, serverTakes)
	defer cancel()
	cursor, has := "", false
	for page := 0; !has; page++ {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var list struct {
			Data []string `json:"data"`
			Next string   `json:"nextCursor"`
		}
		if err := s.makeCall(ctx, "thread/loaded/list", params, &list); err != nil {
			return err
		}
		has, cursor = slices.Contains(list.Data, thread), list.Next
		if !has && (cursor == "" || page == maxServerThreads) {
			return errNoThread
		}
	}
	var joined struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := s.makeCall(ctx, "thread/resume", map[string]any{"threadId": thread, "excludeTurns": true}, &joined); err != nil {
		return err
	}
	if joined.Thread.ID != thread {
		return fmt.Errorf("join a conversation of Codex: it gave another, %.100q", joined.Thread.ID)
	}
	return nil
}
