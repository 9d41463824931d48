package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
)

// console is what a browser's console says: exceptions, errors, and what the content
// security policy refused.
type console struct {
	mu       sync.Mutex
	list     []string
	failures []failure // requests that got no answer, or that a server refused which is about to end
	absences []absence
	ignored  []string
}

type failure struct {
	at   time.Time
	text string
}

// absence is a time in which the server can't be reached.
type absence struct{ from, to time.Time }

// listen is called by the browser's reader.
func (c *console) listen(ev any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		c.list = append(c.list, fmt.Sprintf("exception: %+v", ev.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError {
			c.list = append(c.list, fmt.Sprintf("console: %v", ev.Args))
		}
	case *log.EventEntryAdded:
		text := ev.Entry.Text + " " + ev.Entry.URL
		switch {
		case ev.Entry.Level != log.EntryLevelError:
		case strings.Contains(ev.Entry.Text, "net::ERR_"), strings.Contains(ev.Entry.Text, "status of 503"):
			c.failures = append(c.failures, failure{time.UnixMicro(int64(ev.Entry.Timestamp.Float64() * 1000)), text})
		default:
			c.list = append(c.list, "log: "+text)
		}
	}
}

// Away notes that the server was away: requests may fail then, or be refused by a server that's
// about to end, but not at any other time.
func (b *Browser) Away(from, to time.Time) {
	b.said.mu.Lock()
	defer b.said.mu.Unlock()
	b.said.absences = append(b.said.absences, absence{from, to})
}

// AwayAtTimes says that the server is stopped and started again by the test.
func (b *Browser) AwayAtTimes() { b.Away(time.Time{}, time.Now().Add(patience)) }

// Ignore has errors pass that have a text in them.
func (b *Browser) Ignore(text string) {
	b.said.mu.Lock()
	defer b.said.mu.Unlock()
	b.said.ignored = append(b.said.ignored, text)
}

func (c *console) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.list {
		if !c.isIgnored(text) {
			t.Error(text)
		}
	}
	for _, f := range c.failures {
		expected := c.isIgnored(f.text)
		for _, a := range c.absences {
			expected = expected || f.at.After(a.from) && f.at.Before(a.to)
		}
		if !expected {
			t.Errorf("at %v: %s", f.at, f.text)
		}
	}
}

func (c *console) isIgnored(text string) bool {
	return slices.ContainsFunc(c.ignored, func(part string) bool { return strings.Contains(text, part) })
}
