package telegram_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// The one who may do everything, and the chat that's known. No stranger's update has
// these numbers by chance.
const (
	boss      = 987654321012
	knownChat = -1009876543210
)

// desk is what a person's wishes would change: sessions and chats. What isn't
// expected of updates that aim at nothing has no method, and panics.
type desk struct {
	inbound.Sessions
	inbound.Hub

	session sessions.Session
	fetched atomic.Int64

	mu    sync.Mutex
	typed []string
	posts int
}

func (d *desk) List() []sessions.Session { return []sessions.Session{d.session} }

func (d *desk) Get(name string) (sessions.Session, error) {
	if name == string(d.session.ID) || name == d.session.Name {
		return d.session, nil
	}
	return sessions.Session{}, sessions.ErrUnknown
}

func (d *desk) Input(_ context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.typed = append(d.typed, req.Text)
	return sessions.Receipt{ID: fmt.Sprintf("in_%012x", len(d.typed)), Session: id, Text: req.Text, Key: req.Key, Submit: true, State: sessions.ReceiptSubmitted}, nil
}

func (d *desk) Receipt(context.Context, string) (sessions.Receipt, error) {
	return sessions.Receipt{}, sessions.ErrUnknown
}

func (d *desk) Post(p adapters.Post) error {
	d.mu.Lock()
	d.posts++
	d.mu.Unlock()
	if p.Sent != nil {
		p.Sent("1", nil)
	}
	return nil
}

func (d *desk) Focus(sessions.ID) {}

func (d *desk) At(place adapters.Target) []adapters.Binding {
	if place.Chat != fmt.Sprint(knownChat) {
		return nil
	}
	return []adapters.Binding{{ID: "bd_000000000001", Session: d.session.ID, Target: place, Input: true}}
}

func (d *desk) Uses(_, chat string) bool { return chat == fmt.Sprint(knownChat) }

func (d *desk) Rest(context.Context, adapters.BindingID, bool) error    { return nil }
func (d *desk) ChatMoved(context.Context, string, string, string) error { return nil }
func (d *desk) ChatLost(context.Context, string, string, string) error  { return nil }
func (d *desk) Status(sessions.ID) []adapters.BindingStatus             { return nil }
func (d *desk) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/getFile") {
		return answering(200, `{"ok":true,"result":{"file_path":"documents/file_1"}}`)(r)
	}
	if strings.Contains(r.URL.Path, "/file/") {
		d.fetched.Add(1)
		return answering(200, "content")(r)
	}
	return answering(200, `{"ok":true,"result":true}`)(r)
}

// attacker makes updates that should change nothing, and now and then one of the
// boss's, which should.
type attacker struct {
	*rand.Rand
	seeds [][]byte
	next  int64
	// What the boss has written, in order, and how many files the boss sent.
	honest []string
	files  int64
}

func (a *attacker) pick(list ...any) any { return list[a.IntN(len(list))] }

func (a *attacker) text() any {
	return a.pick(
		"rm -rf /", "/new claude", "/pair 000000", "/close", "/keys C-c", "//x", "", strings.Repeat("A", 4096), "\x00\x1b[31m\u202e", strings.Repeat("😀", 2000),
		"/pair@panebridge_bot "+fmt.Sprint(a.IntN(1e6)), "/send ../../etc/passwd", "/start "+strings.Repeat("x", 64),
	)
}

func (a *attacker) fileName() any {
	return a.pick("../../../../tmp/x", "..", "/etc/passwd", "C:\\x", ".bashrc", "\x00", strings.Repeat("x", 5000), "a/../../b", "-rf", "$(reboot)", "con\u202etxt.exe")
}

func (a *attacker) size() any { return a.pick(0, 1, 1<<30, int64(1)<<52, -1) }

func person(id int64) map[string]any {
	return map[string]any{"id": id, "is_bot": false, "first_name": "Ada"}
}

func (a *attacker) stranger() map[string]any { return person(1 + a.Int64N(1<<33)) }

func (a *attacker) chat() map[string]any {
	if a.IntN(2) == 0 {
		return map[string]any{"id": knownChat, "type": "supergroup", "is_forum": true}
	}
	id := 1 + a.Int64N(1<<33)
	return map[string]any{"id": id, "type": "private"}
}

func (a *attacker) message(from map[string]any) map[string]any {
	m := map[string]any{"message_id": 1 + a.IntN(1000), "date": time.Now().Unix(), "chat": a.chat(), "from": from}
	if a.IntN(2) == 0 {
		m["is_topic_message"], m["message_thread_id"] = true, 1+a.IntN(50)
	}
	switch a.IntN(4) {
	case 0:
		m["document"] = map[string]any{"file_id": "f", "file_name": a.fileName(), "file_size": a.size()}
		m["caption"] = a.text()
	case 1:
		m["photo"] = []any{map[string]any{"file_id": "p", "width": 1 << 30, "height": 1 << 30, "file_size": a.size()}}
	default:
		m["text"] = a.text()
	}
	return m
}

// aimless is an update that nobody has a right to.
func (a *attacker) aimless() any {
	bossly := person(boss)
	switch a.IntN(8) {
	case 0, 1:
		return map[string]any{"message": a.message(a.stranger())}
	case 2:
		return map[string]any{"edited_message": a.message(a.stranger())}
	case 3: // a forged button, by whoever
		return map[string]any{"callback_query": map[string]any{
			"id": fmt.Sprint(a.Int64()), "from": a.pick(a.stranger(), bossly), "message": a.message(nil),
			"data": a.pick("o:0123456789abcdef", "o:"+fmt.Sprintf("%016x", a.Uint64()), "o:", "approve", strings.Repeat("x", 100_000), "o:' OR 1=1 --"),
		}}
	case 4: // the boss's number, on what isn't the boss
		m := a.message(bossly)
		m["sender_chat"] = map[string]any{"id": knownChat, "type": "supergroup"}
		return map[string]any{"message": m}
	case 5:
		m := a.message(map[string]any{"id": boss, "is_bot": true, "first_name": "Boss"})
		return map[string]any{"message": m}
	case 6: // a kind that isn't asked for
		return map[string]any{a.pick("channel_post", "business_message", "guest_message").(string): a.message(bossly)}
	default:
		return map[string]any{"my_chat_member": map[string]any{"chat": a.chat(), "from": a.stranger(), "date": 1, "new_chat_member": map[string]any{
			"status": a.pick("kicked", "left", "member", 7), "user": a.pick(person(7000000001), a.stranger()),
		}}}
	}
}

// update makes the next one.
func (a *attacker) update() inbound.Update {
	a.next++
	key := fmt.Sprint(a.next)
	switch a.IntN(10) {
	case 0: // any bytes, of what Telegram would send
		return inbound.Update{Key: key, Raw: a.mutated()}
	case 1: // known updates, with values of another kind
		return inbound.Update{Key: key, Raw: a.distorted()}
	case 2:
		if a.IntN(10) == 0 {
			return inbound.Update{Key: key, Raw: a.honestly()}
		}
	case 3: // again
		key = fmt.Sprint(1 + a.Int64N(a.next))
	}
	return inbound.Update{Key: key, Raw: a.numbered(a.aimless())}
}

func (a *attacker) numbered(update any) []byte {
	whole, ok := update.(map[string]any)
	if !ok {
		panic("an update is an object")
	}
	whole["update_id"] = a.next
	raw, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return raw
}

// honestly is an update of the boss's.
func (a *attacker) honestly() []byte {
	text := fmt.Sprintf("wish %d", a.next)
	m := map[string]any{
		"message_id": a.next, "date": time.Now().Unix(), "chat": map[string]any{"id": knownChat, "type": "supergroup"}, "from": person(boss),
		"message_thread_id": 5, "is_topic_message": true,
	}
	if a.IntN(4) == 0 {
		a.files++
		m["document"], m["caption"] = map[string]any{"file_id": "f", "file_name": a.fileName(), "file_size": 7}, text
	} else {
		m["text"] = text
	}
	a.honest = append(a.honest, text)
	return a.numbered(map[string]any{"message": m})
}

func (a *attacker) mutated() []byte {
	raw := slices.Clone(a.seeds[a.IntN(len(a.seeds))])
	for range 1 + a.IntN(8) {
		if len(raw) == 0 {
			break
		}
		i := a.IntN(len(raw))
		switch a.IntN(4) {
		case 0:
			raw[i] = byte(a.IntN(256))
		case 1:
			raw = raw[:i]
		case 2:
			raw = slices.Delete(raw, i, min(len(raw), i+a.IntN(20)))
		default:
			raw = slices.Insert(raw, i, raw[:a.IntN(min(len(raw), 200))]...)
		}
	}
	return raw
}

// distorted changes values in the tree of an update.
func (a *attacker) distorted() []byte {
	var tree any
	if err := json.Unmarshal(a.seeds[a.IntN(len(a.seeds))], &tree); err != nil {
		panic(err)
	}
	for range 1 + a.IntN(3) {
		tree = a.distort(tree)
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return raw
}

func (a *attacker) distort(v any) any {
	switch x := v.(type) {
	case map[string]any:
		if keys := slices.Sorted(mapKeys(x)); len(keys) > 0 && a.IntN(20) > 0 {
			k := keys[a.IntN(len(keys))]
			x[k] = a.distort(x[k])
			return x
		}
	case []any:
		if len(x) > 0 && a.IntN(20) > 0 {
			i := a.IntN(len(x))
			x[i] = a.distort(x[i])
			return x
		}
	}
	return a.pick(nil, true, -1, 0, 1e300, int64(1)<<62, "", strings.Repeat("[", 100_000), []any{}, map[string]any{}, nested(2000), "\x00", "../../x", a.text(), []any{nil, nil})
}

func mapKeys(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func nested(depth int) any {
	var v any
	for range depth {
		v = []any{v}
	}
	return v
}

// Nobody who isn't let in has anything typed, fetched or written, whatever they send;
// nothing panics, and memory doesn't grow with them. Those who are let in are served
// all the while, in order and once.
func TestHostileUpdates(t *testing.T) {
	count := 5000
	switch {
	case stress():
		count = 100_000
	case testing.Short():
		count = 1000
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	db := t.TempDir()
	seeds := seeds()
	synctest.Test(t, func(t *testing.T) { hostile(t, count, dir, home, db, seeds) })
}

func hostile(t *testing.T, count int, dir, home, dbDir string, seeds [][]byte) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	db, err := store.Open(ctx, filepath.Join(dbDir, "db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{session: sessions.Session{ID: "pb_1", Name: "agent", Cwd: home, State: sessions.StateWorking}}
	a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken, Transport: d})
	if err != nil {
		t.Fatal(err)
	}
	var log lineCounter
	in, err := inbound.New(inbound.Options{
		Platforms: []inbound.Platform{a.Platform(db.Notes("telegram"))}, Sessions: d, Hub: d, Store: db, StateDir: filepath.Join(dir, "state"),
		Access: inbound.Access{
			Roles: map[string]inbound.Roles{fmt.Sprintf("telegram:%d", boss): {inbound.Admin: true}},
			Chats: []adapters.Target{{Adapter: "telegram", Chat: fmt.Sprint(knownChat)}},
		},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err == nil {
		err = in.Load(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	q := inbound.NewQueue(inbound.QueueOptions{
		Journal: db.Journal("telegram"), Decode: telegram.Decoder{Bot: 7000000001, User: "panebridge_bot"}.Decode, Handle: in.Handle,
		GaveUp: func(e inbound.Event) { t.Errorf("gave %+v up", e) },
	})
	var children sync.WaitGroup
	children.Go(func() { _ = q.Run(ctx) })
	children.Go(func() { _ = in.Run(ctx) })

	x := &attacker{Rand: rand.New(rand.NewPCG(1, 2)), seeds: seeds}
	var early, late uint64
	for sent := 0; sent < count; sent += 100 {
		var batch []inbound.Update
		for range 100 {
			batch = append(batch, x.update())
		}
		if err := q.Keep(ctx, batch); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if sent == count/5 {
			early = heap()
		}
	}
	late = heap()
	s := q.Stats()
	t.Logf("%d updates: %+v, %d strangers, %d lines in the log, heap from %d to %d kB", count, s, in.Strangers(), log.lines.Load(), early>>10, late>>10)
	cancel()
	children.Wait()
	if err := db.Close(); err != nil {
		t.Error(err)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.typed) != len(x.honest) {
		t.Errorf("%d texts were typed, of %d", len(d.typed), len(x.honest))
	}
	for i, text := range d.typed {
		if i < len(x.honest) && !strings.Contains(text, x.honest[i]) {
			t.Errorf("typed %q, want %q", text, x.honest[i])
		}
	}
	if n := d.fetched.Load(); n != x.files {
		t.Errorf("%d files were fetched, of %d", n, x.files)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if !strings.HasPrefix(path, filepath.Join(home, ".panebridge")+"/") {
				t.Errorf("%s was written", path)
			}
			files++
		}
		return err
	})
	if err != nil || files != int(x.files)+1 && x.files > 0 { // and a .gitignore
		t.Errorf("%d files were written, of %d: %v", files, x.files, err)
	}
	if s.Waiting != 0 || s.Failing != 0 || s.Failures != 0 || in.Strangers() < uint64(count)/10 {
		t.Errorf("the figures are %+v, %d strangers", s, in.Strangers())
	}
	if late > early+(8<<20) {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type lineCounter struct{ lines atomic.Int64 }

func (l *lineCounter) Write(b []byte) (int, error) {
	l.lines.Add(1)
	return len(b), nil
}
