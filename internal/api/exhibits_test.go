package api_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// exhibitsOfNobody are those methods of api.Exhibits that aren't called.
type exhibitsOfNobody interface {
	Exhibit(ctx context.Context, id string) (sessions.Exhibit, error)
	Exhibits(ctx context.Context, id sessions.ID) ([]sessions.Exhibit, error)
	Await(ctx context.Context, id string, within time.Duration) (sessions.Exhibit, error)
	Content(ctx context.Context, e sessions.Exhibit) (name string, data []byte, err error)
}

// crowdedShelf counts how many files are in memory at a time: read, and not stored yet.
type crowdedShelf struct {
	exhibitsOfNobody

	within, most atomic.Int64
	asked        chan struct{} // for each call
	store        chan struct{} // closed: files may be stored
}

func (s *crowdedShelf) Known(context.Context, sessions.ID, sessions.ExhibitRequest) (sessions.Exhibit, error) {
	s.asked <- struct{}{}
	return sessions.Exhibit{}, sessions.ErrUnknown
}

func (s *crowdedShelf) Newest(sessions.ID) string { return "" }

func (s *crowdedShelf) Read(sessions.Session, string) (sessions.ExhibitFile, error) {
	now := s.within.Add(1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); {
		most = s.most.Load()
	}
	return sessions.ExhibitFile{Path: "f", Data: []byte("x")}, nil
}

func (s *crowdedShelf) Show(context.Context, sessions.Session, sessions.ExhibitRequest, sessions.ExhibitFile) (sessions.Exhibit, error) {
	<-s.store
	s.within.Add(-1)
	return sessions.Exhibit{ID: "ex_1"}, nil
}

// However many programs show files at once, few of them are in memory, and all have their turn.
func TestFewFilesAreInMemoryAtATime(t *testing.T) {
	const calls, few = 60, 4
	s := &crowdedShelf{asked: make(chan struct{}, calls), store: make(chan struct{})}
	b := setup(t, func(o *api.Options) { o.Exhibits = s })
	path := "/api/v1/sessions/" + string(b.daemon.Add("one", "")) + "/exhibits"
	var all sync.WaitGroup
	var shown atomic.Int64
	for n := range calls {
		all.Go(func() {
			got, text := b.send(t, http.MethodPost, path, fmt.Sprintf(`{"key":"key%016d","path":"f"}`, n), func(r *http.Request) {
				r.Header.Set("Content-Type", "application/json")
				b.sign(r)
			})
			if got.status == http.StatusOK {
				shown.Add(1)
			} else {
				t.Errorf("call %d: %d %s", n, got.status, text)
			}
		})
	}
	for range calls {
		<-s.asked
	}
	close(s.store)
	all.Wait()
	if most := s.most.Load(); most > few || shown.Load() != calls {
		t.Errorf("%d of %d files are shown, %d at a time", shown.Load(), calls, most)
	}
}
