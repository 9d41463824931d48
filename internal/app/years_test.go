package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/storebench"
)

// A daemon that has run for years has ten thousand sessions that have ended: what a page asks
// for every two seconds stays below 100 KB, and what's older than is kept goes.
// PANEBRIDGE_YEARS is how many bytes of logs they have ("5000000000").
func TestYears(t *testing.T) {
	slow(t)
	const all, old = 10_000, 100
	logs := 20 << 20
	if text := os.Getenv("PANEBRIDGE_YEARS"); text != "" {
		var err error
		if logs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	d := newDaemon(t)
	d.stop()
	d.cfg.Sessions.KeepEnded = "365d"
	years := storebench.Years{Ended: all, Every: 10 * time.Minute, Old: old, Bytes: logs}
	if err := years.Fill(d.ctx(), filepath.Join(d.dir, "state", "panebridge.db")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	d.start()
	t.Logf("ready after %d ms, with %d sessions and %d MB of logs", time.Since(began).Milliseconds(), all, logs>>20)
	began = time.Now()
	d.await("that the oldest are forgotten", func() bool {
		list, err := d.api.Sessions(d.ctx())
		return err == nil && len(list) == all-old
	})
	t.Logf("%d were forgotten after %.1f s", old, time.Since(began).Seconds())
	whole, _, _ := pageList(d, "")
	t.Logf("the list of all has %d bytes", whole)
	for _, c := range []struct {
		query string
		most  int
	}{{"?ended=50&with=" + string(storebench.ID(old)), 100_000}, {"?ended=0", 10}} {
		size, ended, list := pageList(d, c.query)
		t.Logf("%s has %d bytes", c.query, size)
		if size > c.most || ended != all-old {
			t.Errorf("%s has %d bytes, and says that %d have ended", c.query, size, ended)
		}
		if strings.Contains(c.query, "with") && (len(list) != 51 || !strings.Contains(strings.Join(list, " "), string(storebench.ID(old))) || !strings.Contains(strings.Join(list, " "), string(storebench.ID(all-1)))) {
			t.Errorf("%s are %v", c.query, list)
		}
	}
}

// pageList is what the API answers a page that asks for the sessions: how many bytes, how many
// have ended, and which are in it.
func pageList(d *daemon, query string) (size, ended int, ids []string) {
	d.Helper()
	door := socketDoor(filepath.Join(d.dir, "state", "panebridge.sock"))
	defer door.client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(d.ctx(), http.MethodGet, door.base+"/api/v1/sessions"+query, http.NoBody)
	if err != nil {
		d.Fatal(err)
	}
	answer, err := door.client.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		d.Fatal(err)
	}
	var list []struct{ ID string }
	if err := json.Unmarshal(body, &list); err != nil {
		d.Fatal(err)
	}
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	ended, _ = strconv.Atoi(answer.Header.Get("Panebridge-Ended"))
	return len(body), ended, ids
}
