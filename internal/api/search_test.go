package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/sessions"
)

// laterLog is a log that isn't there yet, as an index reads it: masked.
type laterLog struct {
	api.Log

	masker *redact.Masker
}

func (l *laterLog) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	out, err := l.Log.Read(ctx, id, from, limit)
	out.Lines = slices.Clone(out.Lines)
	for i := range out.Lines {
		out.Lines[i].Text = l.masker.Line(out.Lines[i].Text)
	}
	return out, err
}

// countedLog counts what's read of a log.
type countedLog struct {
	api.Log

	reads atomic.Int64
}

func (l *countedLog) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	l.reads.Add(1)
	return l.Log.Read(ctx, id, from, limit)
}

// Whoever guesses a secret learns nothing by how long a search takes: as many lines are read for a right beginning as for a wrong one.
func TestAGuessReadsNoMoreLines(t *testing.T) {
	counted := &countedLog{}
	b := setupSearch(t, func(o *api.Options) {
		reaching(proxied)(o)
		counted.Log, o.Output = o.Output, counted
	})
	id := b.daemon.Add("one", "")
	for range 50 {
		b.daemon.Append(id, sessions.KindPane, "export TOKEN="+secret+" is here")
	}
	for range 1000 { // more than a search looks through before it asks the index
		b.daemon.Append(id, sessions.KindPane, "nothing")
	}
	viewer := b.device(t, publicHost, "Viewer", access.Viewer)
	find := func(q string) (found api.SearchResult, reads int64) {
		before := counted.reads.Load()
		got, text := b.send(t, http.MethodGet, "/api/v1/search?"+url.Values{"q": {q}}.Encode(), "", at(viewer, publicHost, "100.64.0.7"))
		if err := json.Unmarshal([]byte(text), &found); err != nil || got.status != http.StatusOK {
			t.Fatalf("%q: %d %s", q, got.status, text)
		}
		return found, counted.reads.Load() - before
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if found, _ := find("here"); len(found.Hits) == 50 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the lines aren't found")
		}
	}
	for n := len("ghp_") + 1; n <= len(secret); n++ { // what its kind begins with is left
		_, wrong := find(secret[:n-1] + strings.Map(func(c rune) rune { return c ^ 1 }, secret[n-1:n]))
		if found, right := find(secret[:n]); len(found.Hits) != 0 || right != wrong {
			t.Errorf("by the first %d letters %d lines are found, and the log is read %d times; %d times by others", n, len(found.Hits), right, wrong)
		}
	}
}

// setupSearch has the lines of a daemon be searched for.
func setupSearch(t *testing.T, change func(*api.Options)) *bench {
	t.Helper()
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := &laterLog{masker: masker}
	index, err := search.OpenIndex(t.Context(), filepath.Join(t.TempDir(), search.File), log)
	if err != nil {
		t.Fatal(err)
	}
	indexer := &search.Indexer{Index: index, Logger: slog.New(slog.DiscardHandler)}
	b := setup(t, func(o *api.Options) { o.Masker, o.Search = masker, indexer }, change)
	log.Log, indexer.List = b.daemon, b.daemon.List
	indexer.Follow(&b.daemon.Feed)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- indexer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = index.Close()
	})
	return b
}

// An admin's device finds what's in the log, with the places of secrets; any other what masking leaves, so that nobody can
// guess a secret by its beginning.
func TestASearchFindsWhatMaskingLeaves(t *testing.T) {
	b := setupSearch(t, reaching(proxied))
	one, two := b.daemon.Add("one", ""), b.daemon.Add("two", "")
	b.daemon.Append(one, sessions.KindPane, "first token="+secret+" is here", "second line")
	b.daemon.Append(two, sessions.KindPane, "a line of two")
	admin := b.device(t, publicHost, "Admin", access.Viewer, access.Admin)
	viewer := b.device(t, publicHost, "Viewer", access.Viewer)
	find := func(who *browserstest.Signer, query string, more ...string) (found api.SearchResult, status int) {
		t.Helper()
		values := url.Values{"q": {query}}
		for i := 0; i < len(more); i += 2 {
			values.Set(more[i], more[i+1])
		}
		got, text := b.send(t, http.MethodGet, "/api/v1/search?"+values.Encode(), "", at(who, publicHost, "100.64.0.7"))
		if got.status == http.StatusOK {
			if err := json.Unmarshal([]byte(text), &found); err != nil {
				t.Fatal(err)
			}
		}
		return found, got.status
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if found, _ := find(admin, "line"); len(found.Hits) == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the lines aren't found")
		}
	}
	found, _ := find(admin, "token first")
	if len(found.Hits) != 1 || !strings.Contains(found.Hits[0].Text, secret) || len(found.Hits[0].Secrets) == 0 || found.Hits[0].Name != "one" || found.Hits[0].N != 1 {
		t.Errorf("an admin finds %+v", found)
	}
	for n := len("ghp_") + 1; n <= len(secret); n++ { // what its kind begins with is left
		if found, _ := find(viewer, secret[:n]); len(found.Hits) > 0 {
			t.Errorf("a viewer finds %+v by %q", found, secret[:n])
		}
	}
	if found, _ := find(viewer, "first here"); len(found.Hits) != 1 || strings.Contains(found.Hits[0].Text, secret) || !strings.Contains(found.Hits[0].Text, "[masked") {
		t.Errorf("a viewer finds %+v", found)
	}
	if found, _ := find(viewer, "line", "session", "two"); len(found.Hits) != 1 || found.Hits[0].Session != two {
		t.Errorf("in one session: %+v", found)
	}
	if found, _ := find(viewer, "line", "limit", "1"); len(found.Hits) != 1 || !found.More || found.Hits[0].Session != two {
		t.Errorf("the newest: %+v", found)
	}
	if found, _ := find(viewer, "line", "limit", "1", "skip", "1"); len(found.Hits) != 1 || found.Hits[0].Session != one || found.Hits[0].N != 2 {
		t.Errorf("an older one: %+v", found)
	}
	if found, _ := find(viewer, "line", "skip", "2"); len(found.Hits) != 0 || found.More {
		t.Errorf("behind the last: %+v", found)
	}
	for _, bad := range [][]string{{"->"}, {"line", "skip", "-1"}, {"line", "skip", "951"}, {"line", "skip", "9223372036854775807"}, {""}, {"line", "limit", "0"}, {"line", "limit", "201"}, {"line", "limit", "x"}, {strings.Repeat("a", 401)}} {
		if _, status := find(viewer, bad[0], bad[1:]...); status != http.StatusBadRequest {
			t.Errorf("%q: %d", bad, status)
		}
	}
	if _, status := find(viewer, "line", "session", "none"); status != http.StatusNotFound {
		t.Errorf("an unknown session: %d", status)
	}
	if _, status := find(nil, "line"); status != http.StatusUnauthorized {
		t.Errorf("somebody: %d", status)
	}
	none := setup(t)
	if got, text := none.send(t, http.MethodGet, "/api/v1/search?q=line", "", none.sign); got.status != http.StatusServiceUnavailable {
		t.Errorf("without an index: %d %s", got.status, text)
	}
}
