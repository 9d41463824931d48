package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// backend is a store as the suites of the adapters see it.
type backend struct{ *store.Store }

func (b backend) AddSession(ctx context.Context, s sessions.Session) error {
	return b.PutSession(ctx, s)
}

func (b backend) Append(ctx context.Context, x adaptertest.Batch) (adaptertest.Appended, error) {
	done, err := b.Store.Append(ctx, polling.Batch{Session: x.Session, Lines: x.Lines, Gaps: x.Gaps, Turn: x.Turn})
	return adaptertest.Appended{Lines: done.Lines, Gaps: done.Gaps, Turn: done.Turn}, err
}

func open(t *testing.T, path string, maxLines int64) backend {
	t.Helper()
	s, err := store.Open(context.Background(), path, store.Options{LogMaxLines: maxLines})
	if err != nil {
		t.Fatal(err)
	}
	return backend{s}
}

func TestStoreConforms(t *testing.T) {
	adaptertest.Store(t, func(t *testing.T, maxLines int64) func() adaptertest.Backend {
		t.Helper()
		path := filepath.Join(t.TempDir(), "panebridge.db")
		var last backend
		t.Cleanup(func() { _ = last.Close() })
		return func() adaptertest.Backend {
			if last.Store != nil {
				_ = last.Close()
			}
			last = open(t, path, maxLines)
			return last
		}
	})
}

// Documents live random lives on the database in a file.
func TestDocumentsLiveOnTheDatabase(t *testing.T) {
	reference := adaptertest.InMemory(func(c *adaptertest.Conn) adapters.Adapter {
		return &adaptertest.Adapter{Conn: c, Form: adapters.Shape{MaxLen: 500, MaxFile: 20000, LiveRows: 2}}
	})
	dir, n := t.TempDir(), 0
	adaptertest.Histories(t, drawtest.Times(1000, 100, 20), reference, func(maxLines int64) (adaptertest.Backend, func()) {
		n++
		b := open(t, filepath.Join(dir, fmt.Sprint(n)+".db"), maxLines)
		return b, func() { _ = b.Close() }
	})
}

// ledgerOf is one process's access to the ledger in a store.
type ledgerOf struct {
	qos.Ledger
	killed atomic.Bool
}

func (l *ledgerOf) Write(ctx context.Context, entries []qos.LedgerEntry) error {
	if l.killed.Load() {
		return adaptertest.ErrKilled
	}
	return l.Ledger.Write(ctx, entries)
}

// Daemons live random lives on the database in a file.
func TestDaemonsLiveOnTheDatabase(t *testing.T) {
	dir, n := t.TempDir(), 0
	var now backend
	adaptertest.HubHistories(t, drawtest.Times(200, 15, 5), adaptertest.Daemon{
		New: adaptertest.InMemory(func(c *adaptertest.Conn) adapters.Adapter {
			return &adaptertest.Adapter{
				Conn: c, Form: adapters.Shape{MaxLen: 1000, MaxFile: 1 << 20, OwnThread: true, LiveRows: 2},
				QoS: qos.Options{FlushLimit: 24 * time.Hour, Seed: 1},
			}
		}),
		Backend: func(maxLines int64) (adaptertest.Backend, func()) {
			n++
			now = open(t, filepath.Join(dir, fmt.Sprint(n)+".db"), maxLines)
			return now, func() { _ = now.Close() }
		},
		Ledger: func() func() (qos.Ledger, func()) {
			return func() (qos.Ledger, func()) {
				l := &ledgerOf{Ledger: now.Ledger("mem")}
				return l, func() { l.killed.Store(true) }
			}
		},
	})
}
