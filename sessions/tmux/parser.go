package tmux

import (
	"bufio"
	"bytes"
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

// next reads up to the end of the next block, or one notification (block nil).
// rows is asked at the start of each block of ours; a negative answer means
// that the body ends at the guard line.
func (p *parser) next(rows func() int) (*block, string, error) {
	first, err := p.line()
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
	for n := 0; ; n++ {
		line, err := p.line()
		if err != nil {
			return err
		}
		if want < 0 || n >= want {
			if isGuard(line, "%end ", guard) {
				p.flush(b)
				return nil
			}
			if isGuard(line, "%error ", guard) {
				p.flush(b)
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
			p.flush(b)
		}
	}
}

func isGuard(line []byte, word, guard string) bool {
	return len(line) == len(word)+len(guard) && string(line[:len(word)]) == word && string(line[len(word):]) == guard
}

// flush hands the pending lines out.
func (p *parser) flush(b *block) {
	text := string(p.pending)
	from := 0
	for _, end := range p.ends {
		b.lines = append(b.lines, text[from:end])
		from = end
	}
	p.pending, p.ends = p.pending[:0], p.ends[:0]
}

// line reads one line without its end, valid until the next call. tmux ends
// lines with LF alone; a CR before it belongs to the text.
func (p *parser) line() ([]byte, error) {
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
