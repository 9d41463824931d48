package api

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

const (
	glanceLines = 10  // of a log's end are looked at for one that says something
	glanceRunes = 240 // of it are shown
)

// lastLines are the last lines of sessions that say something, without their secrets. A log is read when
// it has grown since it was read last, so that a list of many sessions that are silent costs nothing.
type lastLines struct {
	mu   sync.Mutex
	read map[sessions.ID]lastLine
}

type lastLine struct {
	n    int64 // number of the log's newest line then
	text string
}

// glances adds to sessions what people see of them in a list: what they're doing, and their last line.
func (a *api) glances(ctx context.Context, list []Session) {
	a.last.forgetAllBut(list)
	for i := range list {
		s := &list[i]
		if live := a.opts.Broker.Live(s.ID); live.Known && live.Status != "" {
			s.Doing = shortened(sgr.Plain(a.hidden([]string{live.Status})[0]))
		}
		s.LastLine = a.lastLine(ctx, s.ID, s.Lines)
	}
}

// lastLine is the last line of a session that says something, whose newest has number n. It's "" where there's
// none, or it can't be read.
func (a *api) lastLine(ctx context.Context, id sessions.ID, n int64) string {
	a.last.mu.Lock()
	was, known := a.last.read[id]
	a.last.mu.Unlock()
	if n == 0 || known && was.n == n {
		return was.text
	}
	out, err := a.opts.Output.Read(ctx, id, max(1, n-glanceLines+1), glanceLines)
	if err != nil {
		return was.text
	}
	now := lastLine{n: n, text: a.saying(ctx, id, out.Lines)}
	a.last.mu.Lock()
	defer a.last.mu.Unlock()
	a.last.read[id] = now
	return now.text
}

// saying is the last of some lines that has letters, without secrets: one in which a secret may have begun that
// isn't whole isn't shown.
func (a *api) saying(ctx context.Context, id sessions.ID, lines []sessions.Line) string {
	if len(lines) == 0 {
		return ""
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	if a.opts.Masker != nil {
		w, _ := adapters.WindowOf(ctx, a.opts.Output, id, lines) // what can be read of it
		masked := a.opts.Masker.Lines(w)
		texts = masked.Lines[:masked.Wait]
	}
	for i, line := range slices.Backward(texts) {
		if lines[i].Kind == sessions.KindThought {
			continue // seldom to be seen
		}
		text := strings.TrimSpace(sgr.Plain(line))
		if lines[i].Kind == sessions.KindAnswer {
			text = a.hiddenText(render.Words(text)) // marks may have parted a secret
		}
		if strings.Trim(text, "─━═╭╮╰╯│┃|+-=_ ") != "" {
			return shortened(text)
		}
	}
	return ""
}

// shortened is the beginning of a text.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > glanceRunes {
		return string(runes[:glanceRunes-1]) + "…"
	}
	return text
}

// forgetAllBut forgets the lines of sessions that aren't listed any more.
func (l *lastLines) forgetAllBut(list []Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.read) <= len(list) {
		return
	}
	kept := make(map[sessions.ID]lastLine, len(list))
	for _, s := range list {
		if was, known := l.read[s.ID]; known {
			kept[s.ID] = was
		}
	}
	l.read = kept
}

func newLastLines() *lastLines { return &lastLines{read: map[sessions.ID]lastLine{}} }
