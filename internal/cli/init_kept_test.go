package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/store"
)

func (w *telegramWorld) stateDir() string { return filepath.Join(w.home, "st") }
func (w *telegramWorld) database() string { return filepath.Join(w.stateDir(), "panebridge.db") }

// openDatabase opens the database as the daemon does.
func (w *telegramWorld) openDatabase() *store.Store {
	w.Helper()
	if err := os.MkdirAll(w.stateDir(), 0o700); err != nil {
		w.Fatal(err)
	}
	db, err := store.Open(w.Context(), w.database(), store.Options{})
	if err != nil {
		w.Fatal(err)
	}
	return db
}

// hear has the daemon's reader of updates run until none waits any more. It returns how often each text and each
// button came that is to be handled.
func (w *telegramWorld) hear() map[string]int {
	w.Helper()
	db := w.openDatabase()
	a, err := telegram.New(telegram.Options{Token: exchange.Token(w.Token()), APIURL: w.api, Transport: http.DefaultTransport})
	if err != nil {
		w.Fatal(err)
	}
	var mu sync.Mutex
	times := map[string]int{}
	queue := intake.NewQueue(intake.QueueOptions{
		Journal: db.Journal(telegram.Name), Bot: strconv.FormatInt(w.Bot().ID, 10), Decode: telegram.Decoder{Bot: w.Bot().ID, User: w.Bot().Username}.Decode,
		Handle: func(_ context.Context, e intake.Event) error {
			mu.Lock()
			defer mu.Unlock()
			switch action := e.Action.(type) {
			case intake.Said:
				times[action.Text]++
			case intake.Edited:
				times[action.Text]++
			case intake.Pressed:
				times[action.Data]++
			}
			return nil
		},
	})
	ctx, cancel := context.WithCancel(w.Context())
	var both sync.WaitGroup
	both.Go(func() { _ = queue.Run(ctx) })
	both.Go(func() { _ = a.Poller(telegram.PollerOptions{Keeper: queue}).Run(ctx) })
	for len(w.Pending()) > 0 || len(w.journal(db)) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	both.Wait()
	if err := db.Close(); err != nil {
		w.Fatal(err)
	}
	return times
}

// journal has the updates that the daemon is to handle.
func (w *telegramWorld) journal(db *store.Store) []intake.Update {
	w.Helper()
	list, err := db.Journal(telegram.Name).Waiting(w.Context(), 0, 1000)
	if err != nil {
		w.Fatal(err)
	}
	return list
}

// The message by which init has recognised somebody is nobody's input, and nothing else that was written to the bot is
// lost or comes twice, wherever in the queue it stands, and when init is killed at any moment.
func TestInitsHelloIsNobodysInputAndNothingElseIsLost(t *testing.T) {
	t.Parallel()
	rounds := 12
	if drawtest.Stressed() {
		rounds = 300
	}
	for seed := range drawtest.Seeds(t, rounds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			playInit(newTelegramWorld(t, telegramtest.Options{}), rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// writings is what people write and press, drawn.
type writings struct {
	*telegramWorld
	random *rand.Rand
	eve    *telegramtest.Person
	want   map[string]int // what's to be handled, each once
}

// some has people write so many things; it returns how many of them init asks about.
func (ws *writings) some(n int) (asked int) {
	for range n {
		text := fmt.Sprint("text ", len(ws.want)+1)
		ws.want[text] = 1
		var err error
		switch ws.random.IntN(5) {
		case 0:
			ws.Push(map[string]any{"callback_query": map[string]any{
				"id": text, "from": map[string]any{"id": ws.ada.ID, "first_name": "Ada"}, "data": text,
				"message": map[string]any{"message_id": 7, "date": time.Now().Unix(), "chat": map[string]any{"id": ws.forum, "type": "supergroup"}},
			}})
			continue
		case 1:
			_, err = ws.eve.Say(ws.eve.Private(), text)
		case 2:
			_, err = ws.ada.Say(ws.ada.Private(), text)
		default:
			_, err = ws.ada.Say(telegramtest.Place{Chat: ws.forum}, text)
		}
		if asked++; err != nil {
			ws.Fatal(err)
		}
	}
	return asked
}

// kill ends init a drawn while after something has happened, or not at all.
func (ws *writings) kill(run func(name string) bool) {
	moment := ws.random.IntN(5)
	waiting, after := len(ws.Pending()), time.Duration(ws.random.IntN(15_000))*time.Microsecond
	_, config := os.Lstat(ws.file("config.yaml"))
	for {
		var is bool
		switch moment {
		case 0: // the folder is made
			_, err := os.Lstat(ws.database())
			is = err == nil
		case 1: // it's written to
			info, err := os.Lstat(ws.database() + "-wal")
			is = err == nil && info.Size() > 0
		case 2:
			_, err := os.Lstat(ws.file("config.yaml"))
			is = err == nil && config != nil
		case 3: // Telegram is told
			is = len(ws.Pending()) < waiting
		}
		if is {
			time.Sleep(after)
			_ = run("kill")
			return
		}
		if run("") {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func playInit(w *telegramWorld, random *rand.Rand) {
	w.Helper()
	ws := &writings{telegramWorld: w, random: random, eve: w.AddUser(telegramtest.User{FirstName: "Eve"}), want: map[string]int{}}
	there := random.IntN(3) == 0
	if there {
		w.put("config.yaml", "sessions: {adopt: []}\n")
	}
	beside := random.IntN(3) == 0 // a daemon runs on the state folder, with other platforms
	var db *store.Store
	if beside {
		db = w.openDatabase()
	}
	before := random.IntN(8)
	if random.IntN(3) == 0 {
		before = 90 + random.IntN(200) // more than Telegram shows at once
	}
	ws.some(before)
	hellos := []string{"hello 0"}
	say := func() {
		if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, hellos[len(hellos)-1]); err != nil {
			w.Fatal(err)
		}
	}
	say()
	asked := ws.some(random.IntN(4))
	for kills := random.IntN(3); ; kills-- {
		cmd := w.command("init", "--api-url", w.api)
		cmd.Stdin = strings.NewReader(w.Token() + "\n" + strings.Repeat("n\n", asked) + "y\ny\n")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			w.Fatal(err)
		}
		over := make(chan struct{})
		go func() { defer close(over); _ = cmd.Wait() }()
		if kills > 0 {
			ws.kill(func(what string) bool {
				if what == "kill" {
					_ = cmd.Process.Kill()
					<-over
				}
				select {
				case <-over:
					return true
				default:
					return false
				}
			})
		}
		<-over
		code := cmd.ProcessState.ExitCode()
		if code == 0 {
			break
		}
		if code != -1 {
			w.Fatalf("exit code %d:\n%s", code, out.String())
		}
		told := !strings.Contains(fmt.Sprintf("%s", w.Pending()), hellos[len(hellos)-1])
		_, err := os.Lstat(w.file("config.yaml"))
		if err == nil && !there && (told || random.IntN(2) == 0) {
			break // the daemon can be started with it
		}
		if told {
			hellos = append(hellos, fmt.Sprint("hello ", len(hellos)))
			say()
			asked = 0
		}
	}
	if beside {
		if err := db.Close(); err != nil {
			w.Fatal(err)
		}
	}
	ws.some(random.IntN(3))
	got := w.hear()
	for _, hello := range hellos {
		if got[hello] > 0 {
			w.Errorf("%q is a session's input", hello)
		}
	}
	if !maps.Equal(got, ws.want) {
		w.Errorf("there came %v, want %v", got, slices.Sorted(maps.Keys(ws.want)))
	}
}

// Where what waits can't be left to the daemon, init changes nothing, and says what to do.
func TestInitChangesNothingWhereItCannotKeepWhatWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(w *telegramWorld)
		want    string
	}{
		"others can write to its folder": {func(w *telegramWorld) {
			if err := errors.Join(os.Mkdir(w.stateDir(), 0o700), os.Chmod(w.stateDir(), 0o777)); err != nil {
				w.Fatal(err)
			}
		}, "chmod"},
		"a file stands there": {func(w *telegramWorld) {
			if err := os.WriteFile(w.stateDir(), nil, 0o600); err != nil {
				w.Fatal(err)
			}
		}, "not a directory"},
		"it's damaged": {func(w *telegramWorld) {
			if err := errors.Join(os.Mkdir(w.stateDir(), 0o700), os.WriteFile(w.database(), []byte(strings.Repeat("no database ", 100)), 0o600)); err != nil {
				w.Fatal(err)
			}
		}, "the database is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTelegramWorld(t, telegramtest.Options{})
			tt.prepare(w)
			for n := range []int{2, 130}[drawtest.Rand(t, 0).IntN(2)] { // or more than Telegram shows at once
				if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, fmt.Sprint("text ", n)); err != nil {
					t.Fatal(err)
				}
			}
			waiting := len(w.Pending())
			out, code := w.scripted(w.Token() + "\ny\ny\n")
			w.has(out, "leave to the daemon what waits", tt.want, "--chat and --admin")
			if code != 1 || len(w.Pending()) != waiting {
				t.Errorf("exit code %d, and %d of %d updates wait", code, len(w.Pending()), waiting)
			}
			if _, err := os.Lstat(filepath.Dir(w.file("config.yaml"))); err == nil {
				t.Error("there's a configuration")
			}
		})
	}
}

// Ctrl-C ends init while another process holds the database, and nothing has happened.
func TestInitDoesNotWaitForALockOnceItIsStopped(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, "hello"); err != nil {
		t.Fatal(err)
	}
	waiting := len(w.Pending())
	if err := w.openDatabase().Close(); err != nil {
		t.Fatal(err)
	}
	holder := exclusive(t, w.database())
	defer holder()
	term := w.terminal("--mirror", "*")
	term.await("it isn't shown", 1)
	term.write(w.Token() + "\n")
	term.await("[y/N]", 1)
	term.write("y\n")
	term.await("may make topics", 1)
	term.write("\x03")
	if code := term.end(); code != 1 {
		t.Errorf("exit code %d:\n%s", code, term.all())
	}
	w.has(term.all(), "nothing was written")
	if len(w.Pending()) != waiting {
		t.Errorf("%d of %d updates wait", len(w.Pending()), waiting)
	}
	if _, err := os.Lstat(w.file("config.yaml")); err == nil {
		t.Error("there's a configuration")
	}
}

// exclusive holds the database for itself, as another process would, until end is called.
func exclusive(t *testing.T, path string) (end func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	return func() { _ = db.Close() }
}
