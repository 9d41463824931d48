package app_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// onlyStatus are calls of which the status alone is compared, and why.
var onlyStatus = map[string]string{
	"/metrics":                        "counts since the start",
	"/api/v1/adapters":                "counts since the start; and bots are silent for a minute where nobody knows what they've sent",
	"/api/v1/qos/explain":             "the same, of one chat",
	"/api/v1/events":                  "a stream has no end",
	"/api/v1/sessions/{id}/terminal":  "a stream has no end",
	"/api/v1/sessions/{id}/recording": "a stream has no end",
	"/healthz":                        "says how things are at the moment",
}

// unasked are calls that aren't compared, and why.
var unasked = map[string]string{
	"/readyz": "it's whether tmux answers at the moment",
}

// refusedHere are calls that have nothing to answer with in the test, and why.
var refusedHere = map[string]string{
	"/api/v1/sessions/{id}/tools/{n}": "no agent runs",
}

// otherwise are what's different in an answer, by its key, and why.
var otherwise = map[string]string{
	"start":           "it's the name of a start",
	"age_s":           "a clock",
	"last_success_at": "a clock",
	"used_at":         "the test itself asks as the browser",
	"since":           "a start looks at panes anew",
	"delivered":       "a chat goes on behind what there is, and counts from there",
	"behind":          "the same; and the index of words is at work on what the loud session prints",
}

// questioner asks a daemon everything that can be read of two sessions. Of a third, which prints on all the time, it
// leaves out what's said in lists.
type questioner struct {
	*daemon
	signer *browserstest.Signer
	values map[string][]string // what stands for a path's variable parts, by the path
	loud   string
}

// ask returns all answers by their addresses.
func (q questioner) ask() map[string]string {
	q.Helper()
	answers := map[string]string{}
	for _, c := range api.Calls() {
		if c.Method != http.MethodGet || unasked[c.Path] != "" {
			continue
		}
		paths := q.values[c.Path]
		if len(paths) == 0 {
			paths = []string{c.Path}
		}
		for _, path := range paths {
			if strings.Contains(path, "{") {
				q.Fatalf("what does one ask by %s?", c.Path)
			}
			status, body := q.get(c, path)
			if _, refused := refusedHere[c.Path]; (status < http.StatusMultipleChoices) == refused {
				q.Errorf("%s: %d %.300s", path, status, body)
			}
			if onlyStatus[c.Path] != "" {
				body = ""
			}
			answers[path] = strconv.Itoa(status) + " " + q.lasting(body)
		}
	}
	return answers
}

// get asks on the socket, or as a browser what only browsers are answered.
func (q questioner) get(c api.Call, path string) (status int, body string) {
	q.Helper()
	door := socketDoor(filepath.Join(q.dir, "state", "panebridge.sock"))
	if strings.HasPrefix(c.Path, "/api/v1/page/") {
		page, err := q.api.Page(q.ctx())
		if err != nil {
			q.Fatal(err)
		}
		q.signer.Start = page.Start
		door = callDoor{base: strings.TrimSuffix(page.URL, "/"), sign: q.signer.Sign, client: &http.Client{}}
	}
	defer door.client.CloseIdleConnections()
	ctx, cancel := context.WithCancel(q.ctx())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, door.base+path, http.NoBody)
	if err != nil {
		q.Fatal(err)
	}
	if door.sign != nil {
		door.sign(r)
	}
	resp, err := door.client.Do(r)
	if err != nil {
		q.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if onlyStatus[c.Path] != "" {
		return resp.StatusCode, ""
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		q.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// lasting is what doesn't change of an answer.
func (q questioner) lasting(body string) string {
	q.Helper()
	var doc any
	if json.Unmarshal([]byte(body), &doc) != nil {
		return body // a file, or a screen
	}
	text, err := json.MarshalIndent(q.without(doc), "", " ")
	if err != nil {
		q.Fatal(err)
	}
	return string(text)
}

func (q questioner) without(doc any) any {
	switch doc := doc.(type) {
	case map[string]any:
		for key, value := range doc {
			if otherwise[key] != "" {
				delete(doc, key)
			} else {
				doc[key] = q.without(value)
			}
		}
		return doc
	case []any:
		doc = slices.DeleteFunc(doc, func(one any) bool {
			m, is := one.(map[string]any)
			return is && (m["id"] == q.loud || m["session"] == q.loud)
		})
		for i := range doc {
			doc[i] = q.without(doc[i])
		}
		return doc
	}
	return doc
}

// compare tells of answers that aren't the same.
func (q questioner) compare(when string, before, after map[string]string) {
	q.Helper()
	for path, was := range before {
		if is := after[path]; is != was {
			q.Errorf("%s: %s was\n%s\nand is\n%s", when, path, was, is)
		}
	}
}

// A backup that's made while a session prints on, restored into a fresh folder, gives the same answers to
// everything that can be asked about the others.
func TestARestoredDaemonGivesTheSameAnswers(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	ann := telegram.AddUser(telegramtest.User{FirstName: "Ann"})
	group := telegram.AddForum("Agents", ann)
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	d.cfg.Access.Operators = []string{"telegram:" + strconv.FormatInt(ann.ID, 10)}
	d.cfg.People = map[string][]string{"ann": d.cfg.Access.Operators}
	d.cfg.Adapters.Web.Listen = freeAddress(t) // a browser's key is for one address
	d.cfg.Agents = map[string]config.Agent{"echo": {Command: []string{"cat"}}}
	d.cfg.Mirrors = []config.Mirror{{Session: "quiet", To: "telegram:" + strconv.FormatInt(group, 10), View: "stream", Input: true}}
	d.start()
	d.awaitTmux()
	q := newQuestioner(d, group)

	d.stop() // for what's said since a start alone, it's compared with one that was started anew, too
	d.start()
	q.awaitStill()
	before := q.ask()
	d.awaitMore(q.loud)
	into := filepath.Join(shortTemp(t), "backup")
	if _, err := store.Backup(d.ctx(), filepath.Join(d.dir, "state", "panebridge.db"), into, store.BackupOptions{Version: "v1"}); err != nil {
		t.Fatal(err)
	}
	d.awaitMore(q.loud)
	q.compare("asked again", before, q.ask())
	d.stop()
	state := filepath.Join(d.dir, "state")
	if err := os.Rename(state, state+"-was"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Stage(d.ctx(), filepath.Join(state, "panebridge.db"), into); err != nil {
		t.Fatal(err)
	}
	d.start()
	q.awaitStill()
	q.compare("restored", before, q.ask())
}

// awaitStill waits until nothing changes of what's compared.
func (q questioner) awaitStill() {
	q.Helper()
	q.awaitTmux()
	since := time.Now()
	q.await("a quiet session", func() bool { // whose pane was read: before, it's as it was, and then it works until it has been quiet for 3 s
		if s, err := q.api.Session(q.ctx(), "quiet"); err != nil || s.State != sessions.StateIdle {
			since = time.Now()
		}
		return time.Since(since) > 5*time.Second
	})
	q.await("that the file was shown", func() bool {
		all, err := q.api.Exhibits(q.ctx(), "quiet")
		return err == nil && len(all) == 1 && all[0].Done
	})
	q.await("an index of words", func() bool {
		found, err := q.api.Search(q.ctx(), "words", "", 10, 0)
		return err == nil && len(found.Hits) > 1
	})
}

// newQuestioner begins sessions, and has what there is to be asked about.
func newQuestioner(d *daemon, group int64) questioner {
	d.Helper()
	folder := shortTemp(d.T)
	q := questioner{daemon: d}
	q.signer, _ = d.letIn()
	begin := func(name, script string) string {
		d.Helper()
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", script}, Cwd: folder})
		if err != nil {
			d.Fatal(err)
		}
		return string(s.ID)
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "a"}} {
		if out, err := exec.Command("git", append([]string{"-C", folder}, args...)...).CombinedOutput(); err != nil {
			d.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "shown.txt"), []byte("shown\n"), 0o600); err != nil {
		d.Fatal(err)
	}
	quiet, ended := begin("quiet", `echo words; while read -r x; do echo "got $x"; done`), begin("ended", `echo words; exit 3`)
	r, err := d.api.Input(d.ctx(), "quiet", "hello", true)
	if err != nil {
		d.Fatal(err)
	}
	d.final(r)
	d.await("an answer", d.has(sessions.ID(quiet), "got hello"))
	d.await("an end", func() bool {
		s, err := d.api.Session(d.ctx(), ended)
		return err == nil && s.State == sessions.StateEnded
	})
	inquiry, err := d.api.Inquire(d.ctx(), quiet, api.InquiryRequest{Key: strings.Repeat("i", 20), Text: "which?", Options: []string{"a", "b"}, Stays: true, TimeoutMS: 80_000_000})
	if err != nil {
		d.Fatal(err)
	}
	exhibit, err := d.api.Show(d.ctx(), quiet, api.ShowRequest{Key: strings.Repeat("e", 20), Path: "shown.txt", Caption: "see"})
	if err != nil {
		d.Fatal(err)
	}
	if err := d.api.GrantAccess(d.ctx(), "telegram:4242", "viewer"); err != nil {
		d.Fatal(err)
	}
	db, box := mailOf(d)
	all, err := db.Parties(d.ctx())
	if err != nil {
		d.Fatal(err)
	}
	if _, err := box.Send(d.ctx(), all, inbox.Address(quiet), inbox.Person("ann"), "may I?"); err != nil {
		d.Fatal(err)
	}
	q.loud = begin("loud", `n=0; while :; do n=$((n+1)); echo "loud $n"; sleep 0.02; done`)
	prompts, err := d.api.Prompts(d.ctx())
	if err != nil || len(prompts) == 0 {
		d.Fatalf("%v, %v", prompts, err)
	}
	q.values = map[string][]string{
		"/api/v1/qos/explain":                        {"/api/v1/qos/explain?chat=" + url.QueryEscape("telegram:"+strconv.FormatInt(group, 10))},
		"/api/v1/agents/{name}/conversations":        {"/api/v1/agents/echo/conversations?folder=" + url.QueryEscape(folder)},
		"/api/v1/receipts/{id}":                      {"/api/v1/receipts/" + r.ID},
		"/api/v1/prompts/{id}":                       {"/api/v1/prompts/" + prompts[0].ID},
		"/api/v1/people/{name}/mailbox":              {"/api/v1/people/ann/mailbox"},
		"/api/v1/search":                             {"/api/v1/search?q=words", "/api/v1/search?q=hello"},
		"/api/v1/sessions/{id}/files":                {"/api/v1/sessions/" + quiet + "/files?path=shown.txt"},
		"/api/v1/sessions/{id}/inquiries/{n}":        {"/api/v1/sessions/" + quiet + "/inquiries/" + inquiry.ID},
		"/api/v1/sessions/{id}/exhibits/{n}":         {"/api/v1/sessions/" + quiet + "/exhibits/" + exhibit.ID},
		"/api/v1/sessions/{id}/exhibits/{n}/content": {"/api/v1/sessions/" + quiet + "/exhibits/" + exhibit.ID + "/content"},
		"/api/v1/sessions/{id}/tools/{n}":            {"/api/v1/sessions/" + quiet + "/tools/1"},
		"/api/v1/sessions/{id}/recording":            {"/api/v1/sessions/" + quiet + "/recording?for=1s"},
		"/api/v1/sessions/{id}/screen":               {"/api/v1/sessions/" + quiet + "/screen?format=text"},
		"/api/v1/sessions/{id}/terminal":             {"/api/v1/sessions/" + quiet + "/terminal"},
		"/api/v1/sessions/{id}/progress":             {"/api/v1/sessions/" + quiet + "/progress?lines=1"},
	}
	for _, c := range api.Calls() {
		if _, known := q.values[c.Path]; !known && strings.HasPrefix(c.Path, "/api/v1/sessions/{id}") && !strings.Contains(c.Path, "{n}") {
			for _, id := range []string{quiet, ended} {
				q.values[c.Path] = append(q.values[c.Path], strings.ReplaceAll(c.Path, "{id}", id))
			}
		}
	}
	return q
}

// awaitMore waits until a session has printed more than it has now.
func (d *daemon) awaitMore(id string) {
	d.Helper()
	head := func() int64 {
		e, err := d.api.Session(d.ctx(), id)
		if err != nil {
			d.Fatal(err)
		}
		return e.Lines
	}
	was := head()
	d.await("more of "+id, func() bool { return head() > was })
}
