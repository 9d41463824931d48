package app_test

import (
	"database/sql"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// The daemon is upgraded ten times in a row, each time by a program with a migration more, while five sessions print; now
// and then it's killed meanwhile, also before the new one is up. Each chat shows each line once and nothing else: nobody is
// told of an upgrade, and of cards at most one stands there twice whose call a kill has interrupted.
func TestUpgradesInARowLoseNothing(t *testing.T) {
	slow(t)
	k := newKillRig(t)
	s := telegramStage{telegramtest.New(telegramtest.Options{
		Latency: func(method string, _ int64) (time.Duration, time.Duration) { return k.trap.latency(method) },
	})}
	person := s.AddUser(telegramtest.User{FirstName: "P"})
	var speakers []speaker
	var mirrors []mirror
	forum := s.AddForum("Agents", person)
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		speakers = append(speakers, speaker{name: name, lines: 1, rest: 200 * time.Millisecond})
		mirrors = append(mirrors,
			mirror{session: name, view: "stream", chat: strconv.FormatInt(forum, 10), threads: true},
			mirror{session: name, view: "stream", chat: strconv.FormatInt(s.AddChat(telegramtest.ChatSpec{Title: name}, person), 10)})
	}
	k.begin(s, speakers, mirrors)
	migrated := 0
	for i := range 10 {
		time.Sleep(time.Duration(k.random.Int64N(int64(time.Second)))) // this is the random instant
		if i%4 == 2 {
			k.killAfter(0, "before an upgrade")
		} else {
			k.end()
		}
		k.ageDatabase()
		k.run()
		if i%4 == 1 {
			k.killAfter(time.Duration(k.random.Int64N(int64(500*time.Millisecond))), "amid of an upgrade")
			k.run()
		}
		k.awaitTmux()
		if k.schema() == 45 {
			migrated++
		}
	}
	k.await("card of each session in its topic", func() bool {
		with := map[string]bool{}
		for _, topic := range s.Topics(forum) {
			with[topic.Name] = slices.ContainsFunc(s.See(topic.Place), func(m telegramtest.Message) bool { return m.From.IsBot && isCard(m.Text) })
		}
		return len(with) == len(speakers) && !slices.Contains(slices.Collect(maps.Values(with)), false)
	})
	k.end()
	k.finish()
	all := k.readAll()
	cards := 0
	for _, topic := range s.Topics(forum) {
		r := &reader{rig: k}
		for _, m := range s.See(topic.Place) {
			if !m.From.IsBot || m.Service != "" || !isCard(m.Text) {
				continue
			}
			if !r.newest.at.IsZero() && !r.interrupted(m.At) {
				t.Errorf("the topic %s has its card twice, of %s and %s, and no kill came while the first was under way: %s", topic.Name, r.newest.at.Format(clock), m.At.Format(clock), k.times())
			}
			r.newest = message{at: m.At}
			cards++
		}
	}
	if migrated != 10 || len(k.killed) != 5 {
		t.Errorf("it was migrated %d times, and killed %d times", migrated, len(k.killed))
	}
	t.Logf("10 upgrades, %d kills (%v): %v; %d cards; %d edits were made twice", len(k.killed), k.how, all, cards, s.refusals(t, len(k.killed)))
}

// end ends the program as a service manager does.
func (k *killRig) end() {
	k.Helper()
	if err := k.process.Process.Signal(syscall.SIGTERM); err != nil {
		k.Fatal(err)
	}
	if err := k.process.Wait(); err != nil {
		k.Errorf("its end: %v", err)
	}
	k.process = nil
}

func (k *killRig) openDatabase() *sql.DB {
	k.Helper()
	db, err := sql.Open("sqlite", filepath.Join(k.dir, "state", "panebridge.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		k.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// ageDatabase takes the last migration back, which adds a column: the next program is an upgrade for what's left. Nobody runs.
func (k *killRig) ageDatabase() {
	k.Helper()
	db := k.openDatabase()
	defer db.Close()
	if _, err := db.ExecContext(k.ctx(), "BEGIN IMMEDIATE; ALTER TABLE sessions DROP COLUMN real_cwd; PRAGMA user_version = 44; COMMIT"); err != nil {
		k.Fatal(err)
	}
}

func (k *killRig) schema() (is int) {
	k.Helper()
	db := k.openDatabase()
	defer db.Close()
	if err := db.QueryRowContext(k.ctx(), "PRAGMA user_version").Scan(&is); err != nil {
		k.Fatal(err)
	}
	return is
}
