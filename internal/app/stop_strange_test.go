package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// strangeFiles are what may be where an agent's hook names its transcript. Whoever waits for the first
// ones waits for ever; the last grows for as long as the test runs.
var strangeFiles = map[string]func(path string) error{
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
	alone(t)
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
	random := drawtest.Rand(t, 0)
	for name, id := range ids {
		if random.IntN(2) == 0 { // it's open when the daemon ends
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

// Whatever stands where a chat names a file or a folder, or where a session's folder was and one that a
// button is about, it's answered, and the daemon ends within ten seconds.
func TestNothingStrangeThatAChatNamesHoldsUpTheEnd(t *testing.T) {
	slow(t)
	home := filepath.Join(shortTemp(t), "home") // in which folders are chosen
	if !inProcessWith(t, "HOME="+home) {
		return
	}
	x := strangeFolder{}
	x.telegram = telegramtest.New(telegramtest.Options{})
	x.ann = x.telegram.AddUser(telegramtest.User{FirstName: "A"})
	group := x.telegram.AddForum("Agents", x.ann)
	if _, err := x.ann.Say(x.ann.Private(), "/start"); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t)
	d.stop()
	d.useForum(x.telegram, group)
	private := "telegram:" + strconv.FormatInt(x.ann.ID, 10)
	d.cfg.Access.Admins = []string{private}
	for _, to := range []string{"telegram:" + strconv.FormatInt(group, 10), private} { // two places have more room for answers than one
		d.cfg.Mirrors = append(d.cfg.Mirrors, config.Mirror{Session: "work", To: to, View: "stream", Input: true})
	}
	d.start()
	x.daemon, x.path = d, filepath.Join(os.Getenv("HOME"), "at")
	files, done := filepath.Join(x.path, "files"), make(chan struct{})
	if err := errors.Join(os.MkdirAll(files, 0o700), os.WriteFile(filepath.Join(x.path, "note.txt"), []byte("a note"), 0o600)); err != nil {
		t.Fatal(err)
	}
	defer close(done)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "work", Cwd: x.path, Command: []string{"sh", "-c", "echo begun; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	x.session = s.ID
	d.await("topic", func() bool {
		for _, one := range x.telegram.Topics(group) {
			x.place = one.Place
		}
		return x.place.Thread != 0
	})
	asked := 0
	for name, put := range strangeFiles {
		path := filepath.Join(files, name)
		if err := put(path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "growing" {
			go grow(path, done)
		}
		x.say("/send files/" + name)
		asked = x.say("/new sh " + path)
	}
	x.answer(asked)
	x.place = x.ann.Private()
	for _, name := range []string{"device", "terminal", "loop", "link", "socket", "long", "pipe"} {
		x.becomes(name)
	}
	began := time.Now()
	d.stop()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the daemon took %.1f s to end", took.Seconds())
	}
}

// inProcessWith plays a test in a process of its own, which has variables in its environment
// that others here don't have. It says whether this is that process.
func inProcessWith(t *testing.T, env ...string) bool {
	t.Helper()
	const own = "PANEBRIDGE_TEST_IN_OWN_PROCESS"
	if os.Getenv(own) == t.Name() {
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = slices.Concat(os.Environ(), env, []string{own + "=" + t.Name()})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
	return false
}

// strangeFolder is a session's folder that becomes something else, and what's said in its topic.
type strangeFolder struct {
	*daemon
	telegram *telegramtest.Server
	ann      *telegramtest.Person
	place    telegramtest.Place
	path     string
	session  sessions.ID
}

// becomes puts something in the folder's place, for as long as everything that a chat can do with the
// folder takes to be answered.
func (x strangeFolder) becomes(what string) {
	x.Helper()
	look, begin := x.browse(), x.browse()
	here := x.press(begin, filepath.Base(x.path), "✓ ~/")
	if err := errors.Join(os.Rename(x.path, x.path+".away"), strangeFiles[what](x.path)); err != nil {
		x.Fatal(err)
	}
	sent, named := x.say("/send note.txt"), x.say("/new sh "+x.path)
	saved, err := x.ann.SendFile(x.place, "new.txt", []byte("a file"), "look at "+what)
	if err != nil {
		x.Fatal(err)
	}
	x.press(look, filepath.Base(x.path), "")
	x.press(begin, here, "")
	for asked, want := range map[int]string{sent: "no folder ~/at", named: "There's no folder ~/at"} {
		if got := x.answer(asked); !strings.Contains(got, want) || strings.Contains(got, "begins") {
			x.Errorf("a %s: it's answered %q, want it with %q", what, got, want)
		}
	}
	x.await("that the file is typed from elsewhere", func() bool {
		return slices.ContainsFunc(x.lines(x.session), func(line string) bool { return strings.Contains(line, "look at "+what) })
	})
	if m, ok := x.telegram.Message(x.place.Chat, saved); !ok || !m.There() {
		x.Errorf("a %s: the file's message is %+v", what, m)
	}
	if err := errors.Join(os.RemoveAll(x.path), os.RemoveAll(x.path+".to"), os.Rename(x.path+".away", x.path)); err != nil {
		x.Fatal(err)
	}
}

func (x strangeFolder) say(text string) (message int) {
	x.Helper()
	id, err := x.ann.Say(x.place, text)
	if err != nil {
		x.Fatal(err)
	}
	return id
}

// answer waits for what's answered to a message.
func (x strangeFolder) answer(to int) (text string) {
	x.Helper()
	x.reply(to, func(m telegramtest.Message) bool { text = m.Text; return true })
	return text
}

// reply waits until the answer to a message is one that's wanted, and returns its number.
func (x strangeFolder) reply(to int, want func(telegramtest.Message) bool) (id int) {
	x.Helper()
	x.await("answer", func() bool {
		return slices.ContainsFunc(x.telegram.See(x.place), func(m telegramtest.Message) bool {
			id = m.ID
			return m.From.IsBot && m.ReplyTo == to && want(m)
		})
	})
	return id
}

// browse has the folders at home shown, and returns what was asked.
func (x strangeFolder) browse() (asked int) {
	x.Helper()
	asked = x.say("/new sh")
	x.press(asked, "Other folders …", filepath.Base(x.path))
	return asked
}

// press presses a button below the answer to a message, and waits until there's one that begins in some
// way, or until it's told what's wrong.
func (x strangeFolder) press(asked int, label, then string) (found string) {
	x.Helper()
	has := func(begin string) func(telegramtest.Message) bool {
		return func(m telegramtest.Message) bool {
			for _, b := range slices.Concat(m.Buttons...) {
				if found = b.Text; strings.HasPrefix(found, begin) {
					return true
				}
			}
			return false
		}
	}
	id := x.reply(asked, has(label))
	pressed, err := x.ann.Press(x.place.Chat, id, label)
	if err != nil {
		x.Fatal(err)
	}
	if then != "" {
		x.reply(asked, has(then))
		return found
	}
	x.await("answer to "+label, func() bool {
		p, ok := x.telegram.Press(pressed)
		if ok && !p.Answered.IsZero() {
			x.Logf("%s: %q", label, p.Text)
		}
		return ok && !p.Answered.IsZero()
	})
	return ""
}
