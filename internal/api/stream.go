package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// pageLines is how many lines are read from the log at once, and so bounds what
// a stream holds in memory.
const pageLines = 500

// stream carries events to one client.
type stream struct {
	api       *api
	sub       *subscription
	out       *sseWriter
	positions map[sessions.ID]logPosition
}

// events serves GET /api/v1/events?session=ID&from=N, or with last=N in its place, which
// begins so many lines before the end.
func (a *api) events(w http.ResponseWriter, r *http.Request) error {
	only, begin, err := a.eventsRequest(r)
	if err != nil {
		return err
	}
	ctx, done, err := a.streams.begin(r.Context())
	if err != nil {
		return err
	}
	defer done()
	if only != "" && a.opts.Follow != nil { // somebody looks at it
		defer a.opts.Follow(only)()
	}
	// Listening starts before the position is taken: what's printed in between
	// is found in the log, what's printed later is heard of.
	sub := a.opts.Broker.subscribe(only)
	defer a.opts.Broker.unsubscribe(sub)
	s := &stream{api: a, sub: sub, positions: map[sessions.ID]logPosition{}}
	list, err := s.start(ctx, begin)
	if err != nil {
		return err
	}
	if s.out, err = newSSEWriter(w, a.opts.Timeouts.Write); err != nil {
		return err
	}
	s.run(ctx, list)
	return nil
}

// beginning is where a stream begins in its session's log: at a position, so many lines before
// the end, or else now.
type beginning struct {
	from *logPosition
	last int64
}

// eventsRequest returns the session asked for ("" for all) and where to start.
func (a *api) eventsRequest(r *http.Request) (sessions.ID, beginning, error) {
	query := r.URL.Query()
	name, from, last := query.Get("session"), query.Get("from"), query.Get("last")
	if name == "" {
		if from != "" || last != "" {
			return "", beginning{}, badRequest("from and last are lines of one session: they go with session only")
		}
		return "", beginning{}, nil
	}
	s, err := a.opts.Sessions.Get(name)
	if err != nil {
		return "", beginning{}, err
	}
	if from != "" && last != "" {
		return "", beginning{}, badRequest("from and last say two beginnings: give one of them")
	}
	// A browser that reconnects by itself repeats the address and adds how far it got.
	if had := r.Header.Get("Last-Event-ID"); had != "" {
		from, last = had, ""
	}
	switch {
	case from != "":
		p, err := parsePosition(from)
		if err != nil {
			return "", beginning{}, err
		}
		return s.ID, beginning{from: &p}, nil
	case last != "":
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < 1 {
			return "", beginning{}, badRequest(fmt.Sprintf("last must be a number of lines, not %q", last))
		}
		return s.ID, beginning{last: n}, nil
	}
	return s.ID, beginning{}, nil
}

// start takes the position of every session that the stream starts with.
func (s *stream) start(ctx context.Context, begin beginning) ([]sessions.Session, error) {
	list := s.api.opts.Sessions.List()
	if s.sub.only != "" {
		one, err := s.api.opts.Sessions.Get(string(s.sub.only))
		if err != nil {
			return nil, err
		}
		list = []sessions.Session{one}
	}
	for _, one := range list {
		if begin.from != nil {
			s.positions[one.ID] = *begin.from
			continue
		}
		line, gap, err := s.api.opts.Output.Head(ctx, one.ID)
		if err != nil {
			return nil, err
		}
		s.positions[one.ID] = headPosition(line, gap)
		if begin.last > 0 {
			s.positions[one.ID] = lastPosition(line, begin.last)
		}
	}
	return list, nil
}

// run sends events until the client, the request or the server ends.
func (s *stream) run(ctx context.Context, list []sessions.Session) {
	if !s.greet(ctx, list) {
		return
	}
	heartbeat := time.NewTicker(s.api.opts.Timeouts.Heartbeat)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.api.quit:
			return
		case <-heartbeat.C:
			err = s.out.heartbeat()
		case <-s.sub.wake:
			err = s.drain(ctx)
		}
		if err != nil {
			return
		}
	}
}

// greet sends the present state, live region and open prompt of every session, and the
// lines that the client asked for.
func (s *stream) greet(ctx context.Context, list []sessions.Session) bool {
	for i := range list {
		id := list[i].ID
		m := &marks{state: true, last: &list[i], live: s.api.opts.Broker.Live(id)}
		if list[i].State == sessions.StateEnded && s.sub.only == "" {
			m.live = nil // the client lists it; nobody looks at it
		}
		if p, open := s.api.opts.Sessions.PromptOf(id); open {
			m.asked = []sessions.Prompt{p}
		}
		if s.state(id, m) != nil || s.live(ctx, id, m) != nil || s.asked(id, m) != nil {
			return false
		}
		if s.catchUp(ctx, id, &marks{}) != nil {
			return false
		}
	}
	return s.out.flush() == nil
}

// drain tells all there is to tell. When the log can't be read it tries again
// after a pause.
func (s *stream) drain(ctx context.Context) error {
	for !s.ending(ctx) {
		id, m := s.api.opts.Broker.next(s.sub)
		if m == nil {
			return s.out.flush()
		}
		if err := s.tell(ctx, id, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) ending(ctx context.Context) bool {
	select {
	case <-s.api.quit:
		return true
	default:
		return ctx.Err() != nil
	}
}

// tell sends one session's news: lines and gaps first, as what else happened
// follows from them.
func (s *stream) tell(ctx context.Context, id sessions.ID, m *marks) error {
	if err := s.catchUp(ctx, id, m); err != nil {
		return err
	}
	live := func(id sessions.ID, m *marks) error { return s.live(ctx, id, m) }
	for _, step := range []func(sessions.ID, *marks) error{s.turn, live, s.asked, s.exit, s.state} {
		if err := step(id, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) turn(id sessions.ID, m *marks) error {
	if m.turn == nil {
		return nil
	}
	return s.out.event(EventTurn, "", TurnEvent{Session: id, Turn: s.api.shownTurn(*m.turn)})
}

func (s *stream) live(ctx context.Context, id sessions.ID, m *marks) error {
	if m.live == nil {
		return nil
	}
	plain := func(rows []string) []string {
		out := make([]string, len(rows))
		for i, row := range rows {
			out[i] = sgr.Plain(row)
		}
		return out
	}
	rows, writing := plain(s.api.hiddenScreen(ctx, id, m.live.Rows)), plain(s.api.hidden(m.live.Writing))
	status := plain(s.api.hidden([]string{m.live.Status}))[0]
	return s.out.event(EventLive, "", LiveEvent{
		Session: id, Rows: rows, Alternate: m.live.Alternate, CursorX: m.live.CursorX, CursorY: m.live.CursorY,
		Known: m.live.Known, Writing: writing, Status: status,
	})
}

func (s *stream) asked(_ sessions.ID, m *marks) error {
	for _, p := range m.asked {
		if err := s.out.event(EventPrompt, "", s.api.newPrompt(p)); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) exit(id sessions.ID, m *marks) error {
	if m.exit == nil {
		return nil
	}
	return s.out.event(EventExit, "", ExitEvent{Session: id, Exit: *m.exit})
}

// state sends the session as it is now, or as it last was if it isn't kept any
// more.
func (s *stream) state(id sessions.ID, m *marks) error {
	if !m.state {
		return nil
	}
	now, err := s.api.opts.Sessions.Get(string(id))
	switch {
	case err == nil:
	case m.last != nil:
		now = *m.last
	default:
		return nil
	}
	shown := s.api.newSession(now)
	return s.out.event(EventState, "", StateEvent{Session: id, State: shown.State, Reason: shown.Reason, Summary: shown})
}

// How many answers that go on (event streams and waits) may be open. One takes some 70 KB.
// A page has one stream per tab, and browsers keep six connections to one server: sixteen
// is more than one needs, and 256 is sixteen of such browsers. The command line, whose
// tails and waits are the owner's agents', gets more.
const (
	maxStreamsEach = 16
	maxStreamsPage = 256
	maxStreamsUnix = 1024
)

// streams are the answers of one door that go on.
type streams struct {
	each, most int
	keeper     *browsers.Doorkeeper // nil on the Unix socket

	mu    sync.Mutex
	count int
	open  map[string]map[*context.CancelFunc]struct{} // by browser
}

func newStreams(each, most int, keeper *browsers.Doorkeeper) *streams {
	return &streams{each: each, most: most, keeper: keeper, open: map[string]map[*context.CancelFunc]struct{}{}}
}

// begin makes room for an answer that goes on. Its context ends when its browser is
// revoked or its time is over; done is to be called behind it.
func (s *streams) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	if isLent(ctx) {
		return nil, nil, errNoFiles
	}
	b := browserOf(ctx)
	var cancel context.CancelFunc
	if b.ID == "" {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, b.Expires)
	}
	if err := s.add(b.ID, &cancel); err != nil {
		cancel()
		return nil, nil, err
	}
	if b.ID != "" && !s.keeper.Knows(b.ID, time.Now()) {
		cancel() // revoked in this moment
	}
	return ctx, func() { s.remove(b.ID, &cancel); cancel() }, nil
}

func (s *streams) add(browser string, cancel *context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.count >= s.most:
		return &Error{
			Status: http.StatusServiceUnavailable, Code: codeTooMany,
			Message: fmt.Sprintf("%d event streams and waits are open, which is the most: end some, or close pages", s.most),
		}
	case len(s.open[browser]) >= s.each:
		return &Error{
			Status: http.StatusTooManyRequests, Code: codeTooMany,
			Message: fmt.Sprintf("this browser has %d event streams open, which is the most: close some of its tabs", s.each),
		}
	}
	if s.open[browser] == nil {
		s.open[browser] = map[*context.CancelFunc]struct{}{}
	}
	s.open[browser][cancel] = struct{}{}
	s.count++
	return nil
}

func (s *streams) remove(browser string, cancel *context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open[browser], cancel)
	if len(s.open[browser]) == 0 {
		delete(s.open, browser)
	}
	s.count--
}

// cut ends all that a browser has open.
func (s *streams) cut(browser string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.open[browser] {
		(*cancel)()
	}
}

// sseWriter writes server-sent events. Every write has a deadline, so that a
// client that takes nothing is dropped instead of holding its goroutine.
type sseWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buf     bytes.Buffer
}

// newSSEWriter sends the header.
func newSSEWriter(w http.ResponseWriter, timeout time.Duration) (*sseWriter, error) {
	s := &sseWriter{w: w, control: http.NewResponseController(w), timeout: timeout}
	// The server's read timeout would end the stream: it also runs while the
	// server waits for the client to go away.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("prepare the event stream: %w", err)
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between mustn't collect
	w.WriteHeader(http.StatusOK)
	return s, s.flush()
}

// event writes one event; id may be "".
func (s *sseWriter) event(name, id string, data any) error {
	s.buf.Reset()
	fmt.Fprintf(&s.buf, "event: %s\n", name)
	if id != "" {
		fmt.Fprintf(&s.buf, "id: %s\n", id)
	}
	s.buf.WriteString("data: ")
	enc := json.NewEncoder(&s.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil { // ends with a newline and has no other
		return fmt.Errorf("encode a %s event: %w", name, err)
	}
	s.buf.WriteByte('\n')
	return s.write()
}

// heartbeat writes a comment.
func (s *sseWriter) heartbeat() error {
	s.buf.Reset()
	s.buf.WriteString(":\n\n")
	if err := s.write(); err != nil {
		return err
	}
	return s.flush()
}

func (s *sseWriter) write() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return fmt.Errorf("set the deadline of an event: %w", err)
	}
	_, err := s.w.Write(s.buf.Bytes()) //nolint:gosec // it's an event stream of JSON, no page
	return err
}

// flush sends what was written.
func (s *sseWriter) flush() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return fmt.Errorf("set the deadline of an event: %w", err)
	}
	return s.control.Flush()
}

// catchUp sends all that is in a session's log behind the stream's position,
// one page after the other, with the ends of turns where they belong. A session
// that the stream didn't start with is new: it's sent from its first line.
func (s *stream) catchUp(ctx context.Context, id sessions.ID, m *marks) error {
	pos := s.positions[id]
	defer func() { s.positions[id] = pos }()
	for {
		out, line, gap, err := s.read(ctx, id, pos)
		if err != nil {
			return err
		}
		// Only now, as a turn's end is marked after its lines are in the log and
		// before the lines that follow are: whatever the page holds behind an
		// end, the end is marked.
		if end := s.api.opts.Broker.takeEnd(s.sub, id); end != nil {
			m.ended, m.turn = end, nil
		}
		p := page{stream: s, id: id, pos: &pos, ctx: ctx, marks: m, gaps: out.Gaps}
		if err := p.send(out.Lines); err != nil {
			return err
		}
		pos.line, pos.gap, pos.skip = max(pos.line, line), gap, 0
		if len(out.Lines) < pageLines {
			break
		}
		if err := s.out.flush(); err != nil {
			return err
		}
	}
	return s.turnEnded(id, m)
}

// read reads a page; it tries until it can, or the stream ends.
func (s *stream) read(ctx context.Context, id sessions.ID, pos logPosition) (sessions.Output, int64, int64, error) {
	for {
		out, line, gap, err := s.api.opts.Output.ReadSince(ctx, id, pos.line, pos.gap, pageLines)
		switch {
		case err == nil:
			return out, line, gap, nil
		case errors.Is(err, sessions.ErrUnknown): // its log is deleted: nothing will come
			return sessions.Output{}, pos.line, pos.gap, nil
		case ctx.Err() != nil:
			return sessions.Output{}, 0, 0, err
		}
		s.api.opts.Log.Warn("reading the output log for an event stream", "session", string(id), "err", err)
		if err := s.out.flush(); err != nil {
			return sessions.Output{}, 0, 0, err
		}
		if err := s.pause(ctx); err != nil {
			return sessions.Output{}, 0, 0, err
		}
	}
}

// pause waits before the log is read again.
func (s *stream) pause(ctx context.Context) error {
	t := time.NewTimer(s.api.opts.Timeouts.Retry)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.api.quit:
		return context.Canceled
	case <-t.C:
		return nil
	}
}

func (s *stream) turnEnded(id sessions.ID, m *marks) error {
	if m.ended == nil {
		return nil
	}
	turn := m.ended.turn
	m.ended = nil
	return s.out.event(EventTurn, "", TurnEvent{Session: id, Turn: s.api.shownTurn(turn), Complete: true})
}

// logPosition is a place in a session's output log, between what a client has and
// what it hasn't. Gaps stand behind a line, several of them behind one perhaps,
// so the number of that line isn't always enough.
type logPosition struct {
	line int64 // number of the newest line that was sent; -1: none, and what was dropped isn't wanted
	gap  int64 // newest gap row read, as Log.ReadSince wants it

	base int64 // gap row from which on sent counts; 0: the first behind line
	sent int   // gaps behind line, beginning after base, that the client has
	skip int   // of sent, those that the next read will return again
}

// headPosition is a position behind all that's in a log.
func headPosition(line, gap int64) logPosition { return logPosition{line: line, gap: gap, base: gap} }

// lastPosition is the position before the last lines of a log, of which the newest has that number:
// before the oldest that's kept, if there are no more.
func lastPosition(newest, last int64) logPosition {
	if newest <= last {
		return logPosition{line: -1}
	}
	return logPosition{line: newest - last}
}

// parsePosition reads what an event's id or the parameter from says: N, N.G or
// N.G.S, where N is the number of the next line (0: the oldest kept), and S the
// number of gaps right before it that the client has, not counting those of
// rows up to G.
func parsePosition(text string) (logPosition, error) {
	parts := strings.Split(text, ".")
	var n [3]int64
	if len(parts) > len(n) {
		return logPosition{}, positionError(text)
	}
	for i, part := range parts {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || v < 0 {
			return logPosition{}, positionError(text)
		}
		n[i] = v
	}
	sent := int(min(n[2], 1<<20))
	return logPosition{line: n[0] - 1, gap: n[1], base: n[1], sent: sent, skip: sent}, nil
}

func positionError(text string) error {
	return badRequest(fmt.Sprintf("from must be a line number or the id of an event, not %q", text))
}

// id returns the position as an event's id. Behind a line it is the next line's
// number alone.
func (p logPosition) id() string {
	id := strconv.FormatInt(p.line+1, 10)
	if p.base == 0 && p.sent == 0 {
		return id
	}
	id += "." + strconv.FormatInt(p.base, 10)
	if p.sent > 0 {
		id += "." + strconv.Itoa(p.sent)
	}
	return id
}

// behind moves the position behind a line.
func (p *logPosition) behind(line int64) { p.line, p.base, p.sent, p.skip = line, 0, 0, 0 }
