package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// strangeFiles are what may be where an agent's hook names its transcript. Whoever waits for the first
// ones waits for ever; the last grows for as long as the test runs.
var strangeFiles = map[string]func(path string) error{ //nolint:gochecknoglobals // a constant table
	"pipe":     func(path string) error { return unix.Mkfifo(path, 0o600) },
	"device":   func(path string) error { return os.Symlink("/dev/zero", path) },
	"terminal": func(path string) error { return os.Symlink("/dev/tty", path) },
	"folder":   func(path string) error { return os.Mkdir(path, 0o700) },
	"loop":     func(path string) error { return os.Symlink(path, path) },
	"link": func(path string) error {
		return errors.Join(unix.Mkfifo(path+".to", 0o600), os.Symlink(path+".to", path))
	},
	"socket": func(path string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		return l.Close()
	},
	"long": func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Truncate(path, 1<<40))
	},
	"growing": func(path string) error { return os.WriteFile(path, nil, 0o600) },
}

// Whatever stands where a program of a pane says that its transcript is, sessions are closed and
// the daemon ends within ten seconds, and what's closed can be forgotten.
func TestNothingStrangeHoldsUpTheEnd(t *testing.T) {
	slow(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t)
	d.awaitTmux()
	home, done := filepath.Join(d.dir, "home"), make(chan struct{})
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	defer close(done)
	program := filepath.Join(home, "claude") // a shell that's told apart by its name
	if err := os.Symlink("/bin/sh", program); err != nil {
		t.Fatal(err)
	}
	ids := map[string]sessions.ID{}
	for name, put := range strangeFiles {
		path := filepath.Join(home, name+".jsonl")
		if err := put(path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "growing" {
			go grow(path, done)
		}
		told := filepath.Join(home, name+".told")
		script := "sleep 1\n" // as agents take to begin
		for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"} {
			body, err := json.Marshal(map[string]any{"hook_event_name": event, "session_id": name, "transcript_path": path, "cwd": home, "prompt": "do it", "tool_name": "Bash", "tool_input": map[string]string{"command": "ls"}})
			if err != nil {
				t.Fatal(err)
			}
			script += fmt.Sprintf("echo '%s' | %s=1 %s hook --state-dir %s claude\n", body, playedCLI, exe, filepath.Join(d.dir, "state"))
		}
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Cwd: home, Command: []string{program, "-c", script + "touch " + told + "; read -r x"}})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = s.ID
		d.await(name+": its hooks", func() bool { _, err := os.Stat(told); return err == nil })
	}
	d.await("the transcript that is one", func() bool {
		s, err := d.api.Session(d.ctx(), "growing")
		return err == nil && s.Source.Transcript != ""
	})
	for name, id := range ids {
		if rand.IntN(2) == 0 { // it's open when the daemon ends
			continue
		}
		began := time.Now()
		if err := d.api.CloseSession(d.ctx(), string(id)); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: closing took %.1f s", name, took.Seconds())
		}
		d.await(name+": that it's forgotten", func() bool {
			err := d.api.ForgetSession(d.ctx(), string(id))
			if err != nil && !errors.Is(err, sessions.ErrUnknown) {
				t.Logf("%s: %v", name, err)
			}
			return err == nil
		})
	}
	began := time.Now()
	d.stop()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the daemon took %.1f s to end", took.Seconds())
	}
}

// grow writes lines into a file until done is closed, 64 MB at most.
func grow(path string, done <-chan struct{}) {
	line := append(make([]byte, 0, 1<<16), []byte(`{"type":"user","message":{"content":"`)...)
	for len(line) < 60_000 {
		line = append(line, 'x')
	}
	line = append(line, []byte(`"}}`+"\n")...)
	for range 1000 {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return
		}
		_, err = f.Write(line)
		if errors.Join(err, f.Close()) != nil {
			return
		}
		select {
		case <-done:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Whatever stands where a chat names a file or a folder, it's answered, and the daemon ends within
// ten seconds.
func TestNothingStrangeThatAChatNamesHoldsUpTheEnd(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	ann := telegram.AddUser(telegramtest.User{FirstName: "A"})
	group := telegram.AddForum("Agents", ann)
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	d.cfg.Mirrors = []config.Mirror{{Session: "*", To: "telegram:" + strconv.FormatInt(group, 10), View: "stream", Input: true}}
	d.cfg.Access.Admins = []string{"telegram:" + strconv.FormatInt(ann.ID, 10)}
	d.start()
	home, done := filepath.Join(d.dir, "home"), make(chan struct{})
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	defer close(done)
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "work", Cwd: home, Command: []string{"sh", "-c", "echo begun; exec cat"}}); err != nil {
		t.Fatal(err)
	}
	var topic telegramtest.Place
	d.await("topic", func() bool {
		for _, one := range telegram.Topics(group) {
			topic = one.Place
		}
		return topic.Thread != 0
	})
	asked := 0
	for name, put := range strangeFiles {
		path := filepath.Join(home, name)
		if err := put(path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "growing" {
			go grow(path, done)
		}
		for _, what := range []string{"/send " + name, "/new sh " + path} {
			id, err := ann.Say(topic, what)
			if err != nil {
				t.Fatal(err)
			}
			asked = id
		}
	}
	d.await("the last answer", func() bool {
		return slices.ContainsFunc(telegram.See(topic), func(m telegramtest.Message) bool { return m.From.IsBot && m.ReplyTo == asked })
	})
	began := time.Now()
	d.stop()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the daemon took %.1f s to end", took.Seconds())
	}
}
