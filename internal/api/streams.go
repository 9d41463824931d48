package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/browsers"
)

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
	keeper     *browsers.Keeper // nil on the Unix socket

	mu    sync.Mutex
	count int
	open  map[string]map[*context.CancelFunc]struct{} // by browser
}

func newStreams(each, most int, keeper *browsers.Keeper) *streams {
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
