package tmux

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// block is the reply to one command: what stood between %begin and its %end or
// %error.
type block struct {
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
	r *bufio.Reader
}

func newParser(r io.Reader) *parser {
	return &parser{r: bufio.NewReaderSize(r, 1<<16)}
}

// next reads up to the end of the next block, or one notification (block nil).
// rows is asked at the start of each block of ours; a negative answer means
// that the body ends at the guard line.
func (p *parser) next(rows func() int) (*block, string, error) {
	line, err := p.line()
	if err != nil {
		return nil, "", err
	}
	guard, ok := strings.CutPrefix(line, "%begin ")
	if !ok {
		if strings.HasPrefix(line, "%") {
			return nil, line, nil
		}
		return nil, "", fmt.Errorf("%w: %.80q outside a block", errProtocol, line)
	}
	b := &block{ours: strings.HasSuffix(guard, " 1")}
	want := -1
	if b.ours {
		want = rows()
	}
	err = p.body(b, guard, want)
	return b, "", err
}

// body reads a block's lines and its end.
func (p *parser) body(b *block, guard string, want int) error {
	if want > 0 {
		b.lines = make([]string, 0, want)
	}
	for {
		line, err := p.line()
		if err != nil {
			return err
		}
		if want < 0 || len(b.lines) >= want {
			if end, ok := strings.CutPrefix(line, "%end "); ok && end == guard {
				return nil
			}
			if end, ok := strings.CutPrefix(line, "%error "); ok && end == guard {
				b.failed = true
				return nil
			}
			if want >= 0 {
				return fmt.Errorf("%w: %.80q where the end of a block of %d lines belongs", errProtocol, line, want)
			}
		}
		b.lines = append(b.lines, line)
	}
}

// line reads one line without its end. tmux ends lines with LF alone; a CR
// before it belongs to the text.
func (p *parser) line() (string, error) {
	s, err := p.r.ReadString('\n')
	if err != nil {
		return "", err // a line without an end is of no use
	}
	return s[:len(s)-1], nil
}
