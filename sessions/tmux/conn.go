package tmux

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// commandLine is one command line and its reply. A line has several commands and
// gets a block for each; it ends with its last block, or with the first that
// failed, because tmux drops the rest of a line then.
type commandLine struct {
	line   string
	blocks int                         // how many commands the line has; unused with a token
	token  string                      // the line ends with the block that starts with this word: for lines with if-shell, whose branches reply too
	rows   func(done []replyBlock) int // lines of the next block's body, -1: up to the guard; nil: all up to the guard
	done   chan struct{}               // closed when reply and err are set
	reply  []replyBlock
	err    error

	written   time.Time // zero: still in the queue. Guarded by serverConn.mu
	last      bool      // of its write. Guarded by serverConn.mu
	abandoned bool      // nobody waits any more. Guarded by serverConn.mu
}

// maxLinesPerWrite bounds how long the server is kept busy at a stretch.
const maxLinesPerWrite = 100

// serverConn is one connection to a tmux server. Its reader goroutine owns the
// stream; the queue is shared under mu.
type serverConn struct {
	stdin  *os.File
	parser *parser
	notify func(line string)

	mu       sync.Mutex
	queue    []*commandLine // not written yet
	pressing bool           // one in the queue must be written now
	inflight []*commandLine // written, in the order the replies come
	answered []*commandLine // in full, while others of the same write aren't
	err      error          // set once, when the connection has ended
	wake     chan struct{}
	ended    chan struct{}
	lastOK   time.Time // of the last reply
}

func newConn(stdin *os.File, stdout io.Reader, notify func(string)) *serverConn {
	return &serverConn{
		stdin: stdin, parser: newParser(stdout), notify: notify,
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

// run reads and writes until the stream ends. It returns what ended it.
func (c *serverConn) run() error {
	writerDone := make(chan struct{})
	go func() {
		defer close(writerDone)
		c.writeLines()
	}()
	err := c.readReplies()
	c.failAll(err)
	_ = c.stdin.Close() // frees a writer that's blocked on a stopped server
	<-writerDone
	return err
}

// failAll ends the connection: every request gets err.
func (c *serverConn) failAll(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.ended)
	c.handOut()
	for _, r := range c.inflight {
		r.err = fmt.Errorf("ask tmux: %w (%w): %w", sessions.ErrUnavailable, sessions.ErrUncertain, err)
		close(r.done)
	}
	for _, r := range c.queue {
		r.err = fmt.Errorf("%w: %w", errNotSent, err)
		close(r.done)
	}
	c.inflight, c.queue = nil, nil
}

// runCommand sends a request and waits for its reply. When ctx ends first, a request
// that is still in the queue is withdrawn (errNotSent); one that was written
// runs all the same, and its reply is thrown away.
func (c *serverConn) runCommand(ctx context.Context, r *commandLine) ([]replyBlock, error) {
	r.done = make(chan struct{})
	if err := c.enqueue(r); err != nil {
		return nil, err
	}
	return c.awaitReply(ctx, r)
}

// awaitReply is the second half of runCommand.
func (c *serverConn) awaitReply(ctx context.Context, r *commandLine) ([]replyBlock, error) {
	select {
	case <-r.done:
		return r.reply, r.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-r.done:
		return r.reply, r.err
	default:
	}
	if slices.Contains(c.answered, r) {
		return r.reply, r.err
	}
	r.abandoned = true
	if r.written.IsZero() {
		return nil, fmt.Errorf("%w: %w", errNotSent, ctx.Err())
	}
	return nil, fmt.Errorf("wait for tmux: %w: %w", sessions.ErrUncertain, ctx.Err())
}

// errNotSent: the command line never reached tmux.
var errNotSent = fmt.Errorf("%w: tmux takes no commands at the moment; nothing was sent", sessions.ErrUnavailable)

// enqueue adds a request and has it written.
func (c *serverConn) enqueue(r *commandLine) error {
	if err := c.addCommand(r, true); err != nil {
		return err
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// addQuietly adds a request that's written together with the next.
func (c *serverConn) addQuietly(r *commandLine) error { return c.addCommand(r, false) }

func (c *serverConn) addCommand(r *commandLine, pressing bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("%w: %w", errNotSent, c.err)
	}
	c.queue = append(c.queue, r)
	c.pressing = c.pressing || pressing
	return nil
}

// writeLines sends what is queued, many lines in one write. It lets others run first:
// who was woken by the same look asks in the same moment. One write is answered
// in one burst, and each wake-up saved, here and of the tmux server, which walks
// all its windows then, is worth more than a capture.
func (c *serverConn) writeLines() {
	for {
		select {
		case <-c.wake:
		case <-c.ended:
			return
		}
		runtime.Gosched()
		for batch := c.takeQueued(); batch != ""; batch = c.takeQueued() {
			if _, err := io.WriteString(c.stdin, batch); err != nil {
				c.failAll(fmt.Errorf("write to tmux: %w", err))
				return
			}
		}
	}
}

// takeQueued moves queued requests to those in flight and returns their lines.
func (c *serverConn) takeQueued() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.pressing {
		return ""
	}
	var b strings.Builder
	now := time.Now()
	n := 0
	for _, r := range c.queue {
		if n == maxLinesPerWrite {
			break
		}
		c.queue = c.queue[1:]
		if r.abandoned {
			continue
		}
		r.written = now
		c.inflight = append(c.inflight, r)
		b.WriteString(r.line)
		b.WriteByte('\n')
		n++
	}
	c.pressing = len(c.queue) > 0
	if n > 0 {
		c.inflight[len(c.inflight)-1].last = true
	}
	return b.String()
}

// readReplies hands replies to their requests until the stream ends.
func (c *serverConn) readReplies() error {
	for {
		b, note, err := c.parser.nextBlock(c.expectedRows)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return errServerGone
			}
			return err
		}
		switch {
		case b == nil:
			if note == "%exit" || strings.HasPrefix(note, "%exit ") {
				return errServerGone
			}
			c.notify(note)
		case b.ours:
			if err := c.deliverBlock(*b); err != nil {
				return err
			}
		}
	}
}

// errServerGone: the tmux server ended, or threw this client out.
var errServerGone = errors.New("the tmux server has ended the connection")

func (c *serverConn) firstInFlight() *commandLine {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.inflight) == 0 {
		return nil
	}
	return c.inflight[0]
}

func (c *serverConn) expectedRows() int {
	r := c.firstInFlight()
	if r == nil || r.rows == nil {
		return -1
	}
	return r.rows(r.reply)
}

// deliverBlock adds a block to the request at the head and closes it if that was its
// last.
func (c *serverConn) deliverBlock(b replyBlock) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if len(c.inflight) == 0 {
		return fmt.Errorf("%w: a reply nobody asked for", errProtocol)
	}
	r := c.inflight[0]
	r.reply = append(r.reply, b)
	if b.failed {
		r.err = &CommandError{Message: strings.Join(b.lines, " ")}
	}
	if b.failed || r.isComplete(b) {
		c.inflight = c.inflight[1:]
		c.lastOK = time.Now()
		if c.answered = append(c.answered, r); r.last {
			c.handOut()
		}
	}
	return nil
}

// handOut hands out the replies to one write, all at once: what their pollers do
// next they do together too, and what they bring becomes one commit.
func (c *serverConn) handOut() {
	for _, r := range c.answered {
		close(r.done)
	}
	clear(c.answered)
	c.answered = c.answered[:0]
}

func (r *commandLine) isComplete(b replyBlock) bool {
	if r.token != "" {
		return len(b.lines) > 0 && strings.HasPrefix(b.lines[0], r.token)
	}
	return len(r.reply) >= r.blocks
}

// waitingSince returns since when the oldest written request has been unanswered.
func (c *serverConn) waitingSince() (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.inflight) == 0 {
		return time.Time{}, false
	}
	return c.inflight[0].written, true
}

// CommandError is tmux's own refusal of a command.
type CommandError struct{ Message string }

func (e *CommandError) Error() string { return "tmux: " + e.Message }

// bufferPrefix begins the names of all buffers of ours.
const bufferPrefix = "_panebridge_"

// A buffer's number begins with the id of the process whose it is, so that several may use
// one server, and goes on with 16 random bits for each connection.
const (
	bufferPIDShift  = 40
	bufferConnShift = 24
)

// replyBlock is the reply to one command: what stood between %begin and its %end or
// %error.
type replyBlock struct {
	lines  []string
	failed bool // ended by %error
	ours   bool // a reply to a command of this client; false: of a hook or of the attach itself
}

// errProtocol: the stream isn't what tmux sends; the connection is to be given up.
var errProtocol = errors.New("tmux control mode: unexpected line")

// parser splits a control-mode stream into blocks and notifications. tmux does
// not escape the body of a block, so a pane that prints "%end 1 2 1" could end
// its own capture. Therefore the caller says how many lines a body has wherever
// text of a pane is in it, and the parser counts lines instead of looking for
// the end.
type parser struct {
	r       *bufio.Reader
	long    []byte // a line that didn't fit in r's buffer
	pending []byte // lines of the body that's being read, not handed out yet
	ends    []int  // where they end in pending
}

// chunkBytes is how much text of a body becomes one string: the lines are parts
// of it, which saves an allocation each, and who keeps one keeps little else.
const chunkBytes = 4096

func newParser(r io.Reader) *parser {
	return &parser{r: bufio.NewReaderSize(r, 1<<16)}
}

// nextBlock reads up to the end of the next block, or one notification (block nil).
// rows is asked at the start of each block of ours; a negative answer means
// that the body ends at the guard line.
func (p *parser) nextBlock(rows func() int) (*replyBlock, string, error) {
	first, err := p.readLine()
	if err != nil {
		return nil, "", err
	}
	line := string(first)
	guard, ok := strings.CutPrefix(line, "%begin ")
	if !ok {
		if strings.HasPrefix(line, "%") {
			return nil, line, nil
		}
		return nil, "", fmt.Errorf("%w: %.80q outside a block", errProtocol, line)
	}
	b := &replyBlock{ours: strings.HasSuffix(guard, " 1")}
	want := -1
	if b.ours {
		want = rows()
	}
	err = p.readBody(b, guard, want)
	return b, "", err
}

// readBody reads a block's lines and its end.
func (p *parser) readBody(b *replyBlock, guard string, want int) error {
	if want > 0 {
		b.lines = make([]string, 0, want)
	}
	for n := 0; ; n++ {
		line, err := p.readLine()
		if err != nil {
			return err
		}
		if want < 0 || n >= want {
			if isGuard(line, "%end ", guard) {
				p.flushLines(b)
				return nil
			}
			if isGuard(line, "%error ", guard) {
				p.flushLines(b)
				b.failed = true
				return nil
			}
			if want >= 0 {
				return fmt.Errorf("%w: %.80q where the end of a block of %d lines belongs", errProtocol, line, want)
			}
		}
		p.pending = append(p.pending, line...)
		p.ends = append(p.ends, len(p.pending))
		if len(p.pending) >= chunkBytes {
			p.flushLines(b)
		}
	}
}

func isGuard(line []byte, word, guard string) bool {
	return len(line) == len(word)+len(guard) && string(line[:len(word)]) == word && string(line[len(word):]) == guard
}

// flushLines hands the pending lines out.
func (p *parser) flushLines(b *replyBlock) {
	text := string(p.pending)
	from := 0
	for _, end := range p.ends {
		b.lines = append(b.lines, text[from:end])
		from = end
	}
	p.pending, p.ends = p.pending[:0], p.ends[:0]
}

// readLine reads one line without its end, valid until the next call. tmux ends
// lines with LF alone; a CR before it belongs to the text.
func (p *parser) readLine() ([]byte, error) {
	line, err := p.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		p.long = append(p.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = p.r.ReadSlice('\n')
			p.long = append(p.long, line...)
		}
		line = p.long
	}
	if err != nil {
		return nil, err // a line without an end is of no use
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// encoding is how this tmux server shows a buffer to a control client. It
// differs between versions (3.3a escapes like vis(3) and appends an empty
// line), so it's learned at each connect by showing a buffer of known content.
type encoding struct {
	vis   bool // backslashes doubled, tabs and control characters escaped, "$NAME" as "\$NAME"
	extra int  // lines behind the content
}

// probeText is set as a buffer to learn the encoding from.
const probeText = "a\\b\t$HOME\nend\n"

// learnEncoding finds out the encoding from what show-buffer printed of
// probeText; ok is false where it's none of the known ones.
func learnEncoding(lines []string) (enc encoding, ok bool) {
	content := strings.Split(strings.TrimSuffix(probeText, "\n"), "\n")
	if len(lines) < len(content) {
		return enc, false
	}
	enc.extra = len(lines) - len(content)
	body := lines[:len(content)]
	if slices.Equal(body, content) {
		return enc, true
	}
	for i := range body {
		if decodeVis(body[i]) != content[i] {
			return enc, false
		}
	}
	enc.vis = true
	return enc, true
}

// decode turns shown lines back into the buffer's.
func (e encoding) decode(lines []string) []string {
	lines = lines[:max(0, len(lines)-e.extra)]
	if !e.vis {
		return lines
	}
	for i, l := range lines {
		lines[i] = decodeVis(l)
	}
	return lines
}

// decodeVis undoes vis(3) in the style VIS_OCTAL|VIS_CSTYLE|VIS_TAB as tmux uses
// it. What isn't an escape stays as it is.
func decodeVis(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if v, ok := readOctal(s[i+1:]); ok {
			b.WriteByte(v)
			i += 3
			continue
		}
		i++
		if j := strings.IndexByte(`\$"tnrbavfs0`, s[i]); j >= 0 {
			b.WriteByte("\\$\"\t\n\r\b\a\v\f \x00"[j])
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}

// readOctal reads three octal digits.
func readOctal(s string) (byte, bool) {
	if len(s) < 3 || s[0] > '3' {
		return 0, false
	}
	var v byte
	for i := range 3 {
		if s[i] < '0' || s[i] > '7' {
			return 0, false
		}
		v = v<<3 | (s[i] - '0')
	}
	return v, true
}

// liveConn is what belongs to one connection.
type liveConn struct {
	*serverConn
	identity sessions.ServerIdentity
	version  Version
	enc      encoding
	leakFree bool   // capture-pane -p may be used without the server growing
	exact    string // capture-pane's flags for rows as they were written; see exactFlags
	buffers  atomic.Uint64
}

// current returns the connection, or why there's none.
func (c *Client) current() (*liveConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		return nil, fmt.Errorf("tmux server %s is %w: %w", c.Name(), sessions.ErrUnavailable, c.status.Err)
	}
	return c.live, nil
}

// runCommand sends one request over the current connection.
func (c *Client) runCommand(ctx context.Context, r *commandLine) ([]replyBlock, error) {
	l, err := c.current()
	if err != nil {
		return nil, err
	}
	return l.runCommand(ctx, r)
}
