package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/api"
)

// write writes a daemon's configuration file, of which only some things change.
func (d *daemon) write(rest string) {
	d.Helper()
	text := fmt.Sprintf(`
tmux: {servers: [{socket_path: %s}]}
%s`, d.socket, rest)
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}

func TestReloadAppliesWhatCanChangeAtRunTime(t *testing.T) {
	slow(t)
	platform := adaptertest.NewPlatform(adaptertest.Options{})
	platform.AddGroup("-100", false)
	platform.AddGroup("-200", false)
	d := newDaemon(t)
	d.stop()
	d.adapters = func() []adapters.Adapter {
		return []adapters.Adapter{&adaptertest.Adapter{Conn: platform.Connect(), Named: "telegram", Chats: []string{"-100", "-200"}}}
	}
	d.file = filepath.Join(d.dir, "config.yaml")
	const before = `
adapters: {web: {enabled: false}, telegram: {qos: {group_mpm: 15}}}
polling: {output_cadence_s: 0.1}
mirrors: [{session: "agent-*", to: "telegram:-100"}]
`
	d.write(before)
	var err error
	if d.cfg, err = all.Form().Load(d.file, os.LookupEnv); err != nil {
		t.Fatal(err)
	}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent-1", Command: []string{"sh", "-c", `echo one; read -r x; echo two; exec cat`}})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(chat, text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(platform.Seen(chat, ""), func(m adaptertest.Message) bool { return strings.Contains(m.Text, text) })
		}
	}
	d.await("the first line in the first chat", shows("-100", "one"))
	state := func() (limit int, bound []string) {
		t.Helper()
		now, err := d.api.Session(d.ctx(), string(s.ID))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range now.Bindings {
			bound = append(bound, b.To)
		}
		all, err := d.api.Adapters(d.ctx())
		if err != nil || len(all) != 1 || len(all[0].Chats) == 0 {
			t.Fatalf("adapters: %+v, %v", all, err)
		}
		return all[0].Chats[0].Windows[0].Calls, bound
	}
	if limit, bound := state(); limit != 15 || !slices.Equal(bound, []string{"telegram:-100"}) {
		t.Errorf("at the start: %d calls a minute, bound to %v", limit, bound)
	}

	d.write(`
adapters: {web: {enabled: false, listen: "127.0.0.1:7999"}, telegram: {qos: {group_mpm: 7}}}
polling: {output_cadence_s: 0.2}
mirrors: [{session: "agent-*", to: "telegram:-200"}]
agents: {cat: {command: [cat]}}
`)
	done, err := d.api.Reload(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(done.Applied), "[polling.output_cadence_s polling.focus_cadence_s mirrors adapters.telegram.qos.group_mpm agents.cat]"; got != want {
		t.Errorf("applied %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(done.NeedRestart), "[adapters.web.listen]"; got != want {
		t.Errorf("after a restart %s, want %s", got, want)
	}
	if limit, bound := state(); limit != 7 || !slices.Equal(bound, []string{"telegram:-200"}) {
		t.Errorf("after the reload: %d calls a minute, bound to %v", limit, bound)
	}
	if _, err := d.api.Input(d.ctx(), "agent-1", "go", true); err != nil {
		t.Fatal(err)
	}
	d.await("the second line in the second chat", shows("-200", "two"))
	if shows("-100", "two")() || shows("-200", "one")() {
		t.Error("a line is in the wrong chat")
	}

	again, err := d.api.Reload(d.ctx())
	if err != nil || len(again.Applied) > 0 || !slices.Equal(again.NeedRestart, done.NeedRestart) {
		t.Errorf("a second reload: %+v, %v; what waits for a restart still does", again, err)
	}

	// What the parts themselves refuse is said at its place in the file, too.
	for name, wrong := range map[string]struct {
		text string
		want []string
	}{
		"the file": {
			"adapters: {telegram: {qos: {group_mpm: 1, mode: fast}}}\nbogus: 1\n",
			[]string{"config.yaml:3:40: adapters.telegram.qos.group_mpm: must be at least 2", "config.yaml:3:49: adapters.telegram.qos.mode: must be one of", "config.yaml:4:1: bogus: unknown key"},
		},
		"a secret of ours for an agent": {
			"adapters: {telegram: {token: '7:planted-0123456789'}}\nagents: {x: {command: [x], env: {A: '/7:planted-0123456789'}}}\n",
			[]string{"config.yaml:4:37: agents.x.env.A: must not have panebridge's own Telegram token in it"},
		},
		"chats that aren't there": {
			"adapters: {telegram: {qos: {group_mpm: 5}}}\nmirrors:\n  - {session: a, to: 'telegram:-100'}\n  - {session: b, to: 'telegram:-300'}\n  - {session: c, to: 'discord:5'}\n",
			[]string{"config.yaml:6:5: mirrors[1]: mirror \"b\" to telegram:-300: chat -300 is not in the configuration", "config.yaml:7:5: mirrors[2]: mirror \"c\" to discord:5: unknown adapter \"discord\": what's enabled below `adapters` in the configuration is telegram"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d.write(wrong.text)
			_, err := d.api.Reload(d.ctx())
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, want := range wrong.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q isn't in: %v", want, err)
				}
			}
			if limit, bound := state(); limit != 7 || !slices.Equal(bound, []string{"telegram:-200"}) {
				t.Errorf("the old one didn't stay: %d calls a minute, bound to %v", limit, bound)
			}
		})
	}
}

// A daemon that was begun without a file takes the defaults where there's still none, and a file
// that has come since.
func TestReloadWithoutAFile(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.stop()
	d.file = filepath.Join(d.dir, "config.yaml")
	d.start()
	if done, err := d.api.Reload(d.ctx()); err != nil || done.File != d.file || slices.Contains(done.Applied, "log.level") {
		t.Errorf("without a file: %+v, %v", done, err)
	}
	d.write("log: {level: debug}\n")
	if done, err := d.api.Reload(d.ctx()); err != nil || !slices.Contains(done.Applied, "log.level") {
		t.Errorf("with a file: %+v, %v", done, err)
	}
}
