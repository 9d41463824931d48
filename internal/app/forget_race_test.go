package app_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
)

// Sessions are forgotten the moment that they've ended, while texts, files, commands and mail are on their
// way to them and from them: soon nothing of that is in any file of the state folder.
func TestWhatIsOnItsWayIsForgottenToo(t *testing.T) {
	slow(t)
	random := drawtest.Rand(t, 0)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Admins = b.people()
	d.start()
	stays, err := d.api.NewSession(d.ctx(), api.Create{Name: "stays", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]api.Session, 2)
	for n := range all {
		folder := t.TempDir()
		if n == 0 { // which takes no files: they go into the state folder
			if err := os.WriteFile(filepath.Join(folder, ".panebridge"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		script := "i=0; while :; do echo " + mark + "-line-$i; i=$((i+1)); sleep 0.05; done"
		if all[n], err = d.api.NewSession(d.ctx(), api.Create{Name: fmt.Sprint(mark, "-", n), Command: []string{"sh", "-c", script}, Cwd: folder}); err != nil {
			t.Fatal(err)
		}
	}
	db, box := mailOf(d)
	for _, s := range all {
		topic, thread := b.awaitPlaces(d, s.Name)
		parties, err := db.Parties(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		mail := func(from, to api.Session) func(text string) error {
			return func(text string) error {
				_, err := box.Send(d.ctx(), parties, inbox.Address(from.ID), inbox.Address(to.ID), text)
				return err
			}
		}
		over := make(chan struct{})
		var work sync.WaitGroup
		for way, do := range map[string]func(text string) error{
			"mail from it": mail(s, stays),
			"mail to it":   mail(stays, s),
			"input": func(text string) error {
				_, err := d.api.Input(d.ctx(), string(s.ID), text, true)
				return err
			},
			"telegram": func(text string) error {
				_, err := b.ann.Say(topic, text)
				return err
			},
			"discord": func(text string) error {
				_, err := b.bob.Say(thread, text)
				return err
			},
			"search": func(text string) error {
				_, err := b.bob.Say(thread, "/search "+mark)
				return err
			},
			"file": func(text string) error {
				_, err := b.ann.SendFile(topic, text+".txt", []byte(text), text)
				return err
			},
		} {
			most := 100 * time.Millisecond
			if strings.HasPrefix(way, "mail") {
				most = 10 * time.Millisecond
			}
			pauses := rand.New(rand.NewPCG(random.Uint64(), 0))
			work.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-over:
						return
					case <-time.After(time.Duration(pauses.Int64N(int64(most)))):
						_ = do(fmt.Sprintf("%s-%s-%d", mark, strings.ReplaceAll(way, " ", "-"), n)) // it may have ended by now
					}
				}
			})
		}
		time.Sleep(time.Duration(300+random.IntN(700)) * time.Millisecond)
		remove := b.telegram.Inject(telegramtest.Fault{Method: "getFile", Before: time.Duration(1+random.IntN(3000)) * time.Millisecond})
		err = d.api.CloseSession(d.ctx(), string(s.ID))
		d.await("its end", func() bool { return d.api.ForgetSession(d.ctx(), string(s.ID)) == nil })
		close(over)
		work.Wait()
		if err != nil {
			t.Fatal(err)
		}
		defer remove()
	}
	state := filepath.Join(d.dir, "state")
	var left []string
	end := time.Now().Add(patience)
	for left = copies(t, state); len(left) > 0 && time.Now().Before(end); left = copies(t, state) {
		time.Sleep(time.Second)
	}
	if len(left) > 0 {
		t.Errorf("it's still there:\n%s", strings.Join(left, "\n"))
	}
	if _, err := d.api.Session(d.ctx(), string(stays.ID)); err != nil {
		t.Error(errors.Join(errors.New("the other session"), err))
	}
}
