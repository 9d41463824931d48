package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
)

// setupHome is a home for the program, which sets something up there.
type setupHome struct {
	*testing.T
	home    string
	secret  string // nobody may see
	columns uint16 // of its terminals; 0: many
}

// telegramWorld is a stand-in for Telegram on loopback with a person, and a home for
// the program.
type telegramWorld struct {
	setupHome
	*telegramtest.Server
	ada   *telegramtest.Person
	forum int64
	api   string
}

func newTelegramWorld(t *testing.T, opts telegramtest.Options) *telegramWorld {
	t.Helper()
	w := &telegramWorld{Server: telegramtest.New(opts)}
	_, secret, _ := strings.Cut(w.Token(), ":")
	w.setupHome = setupHome{T: t, home: t.TempDir(), secret: secret}
	w.ada = w.AddUser(telegramtest.User{FirstName: "Ada", Username: "ada"})
	w.forum = w.AddForum("Agents", w.ada)
	server := httptest.NewServer(w.Server)
	t.Cleanup(server.Close)
	w.api = server.URL
	return w
}

func (w *setupHome) file(name string) string {
	return filepath.Join(w.home, ".config", "panebridge", name)
}

// put writes a file, in whose folder nothing was.
func (w *setupHome) put(name, text string) string {
	w.Helper()
	path := w.file(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// read returns a file's text, and checks that only its owner can read it.
func (w *setupHome) read(name string) string {
	w.Helper()
	text, err := os.ReadFile(w.file(name))
	if err != nil {
		w.Fatal(err)
	}
	if info, err := os.Stat(w.file(name)); err != nil || info.Mode().Perm() != 0o600 {
		w.Errorf("%s: mode %v, %v", name, info.Mode(), err)
	}
	return string(text)
}

// nothing checks that the program has left nothing.
func (w *setupHome) nothing() {
	w.Helper()
	_ = filepath.WalkDir(w.home, func(path string, _ fs.DirEntry, _ error) error {
		if path != w.home {
			w.Errorf("%s was left behind", path)
		}
		return nil
	})
}

func (w *setupHome) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute) // only a hung program takes so long
	w.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "panebridge", args...)
	cmd.Dir = w.home
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "NO_PROXY=*", "TMUX_TMPDIR=" + w.home, "PANEBRIDGE_STATE_DIR=" + filepath.Join(w.home, "st")}
	return cmd
}

// scripted runs `panebridge init` without a terminal.
func (w *telegramWorld) scripted(stdin string, args ...string) (out string, code int) {
	w.Helper()
	cmd := w.command(append([]string{"init", "--api-url", w.api}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	return w.output(cmd)
}

func (w *setupHome) output(cmd *exec.Cmd) (out string, code int) {
	w.Helper()
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		w.Fatal(err)
	}
	if strings.Contains(string(text), w.secret) {
		w.Errorf("the token is shown:\n%s", text)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (w *setupHome) load() *config.Config {
	w.Helper()
	cfg, err := all.Form().Load(w.file("config.yaml"), os.LookupEnv)
	if err != nil {
		w.Fatal(err)
	}
	return cfg
}

func (w *setupHome) has(text string, wants ...string) {
	w.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			w.Errorf("%q isn't in\n%s", want, text)
		}
	}
}

func id(n int64) string { return fmt.Sprint(n) }

func TestInitInAScriptWritesAConfiguration(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, "hello there"); err != nil {
		t.Fatal(err)
	}
	out, code := w.scripted(w.Token() + "\ny\ny\n")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "@panebridge_bot", "Ada (@ada), number "+id(w.ada.ID), "“hello there”", `group "Agents"`, "may make topics", "panebridge run")
	if got := strings.TrimSpace(w.read("telegram-token")); got != w.Token() {
		t.Errorf("the token's file has %d characters", len(got))
	}
	w.read("config.yaml")
	cfg := w.load()
	tg := telegram.ConfigOf(cfg)
	if !tg.Enabled || tg.TokenFile != w.file("telegram-token") || tg.APIURL != w.api || len(tg.Chats) != 1 || tg.Chats[0].ID != w.forum || !tg.Chats[0].Topics {
		t.Errorf("telegram is %+v", tg)
	}
	if len(cfg.Access.Admins) != 1 || cfg.Access.Admins[0] != "telegram:"+id(w.ada.ID) {
		t.Errorf("access is %+v", cfg.Access)
	}
	if len(cfg.Mirrors) != 1 || cfg.Mirrors[0] != (config.Mirror{Session: "*", To: "telegram:" + id(w.forum), View: "stream", Input: true}) {
		t.Errorf("mirrors are %+v", cfg.Mirrors)
	}
	if n := len(w.Pending()); n > 0 { // what it was written for is done: no session gets it later
		t.Errorf("%d updates wait for the daemon", n)
	}
	for _, c := range w.Calls() {
		if c.Code != 0 && c.Code != 200 {
			t.Errorf("%s was refused: %s", c.Method, c.Description)
		}
	}
}

// The message by which somebody was recognised is no session's input later. What came before it waits for
// the daemon in its database, and a command at Telegram.
func TestInitAcknowledgesTheMessageItAskedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		there bool // a configuration is
		texts []string
		wait  int // so many of them at Telegram
		kept  int // and in the database
	}{
		{"a first configuration", false, []string{"one", "two", "hello"}, 0, 2},
		{"a command", false, []string{"/help"}, 1, 0},
		{"with a configuration", true, []string{"hello"}, 0, 0},
		{"with a configuration, behind others", true, []string{"for a session", "hello"}, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTelegramWorld(t, telegramtest.Options{})
			if tt.there {
				w.put("config.yaml", "sessions: {adopt: []}\n")
			}
			others := len(w.Pending())
			for _, text := range tt.texts {
				if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, text); err != nil {
					t.Fatal(err)
				}
			}
			out, code := w.scripted(w.Token() + "\ny\ny\n") // the newest is asked about
			if code != 0 {
				t.Fatalf("exit code %d:\n%s", code, out)
			}
			want := tt.wait
			if want > 0 {
				want += others
			}
			if n := len(w.Pending()); n != want {
				t.Errorf("%d updates wait at Telegram, want %d of %d:\n%s", n, want, others+len(tt.texts), out)
			}
			if tt.wait > 0 {
				if _, err := os.Lstat(w.stateDir()); err == nil {
					t.Error("there's a state folder, though nothing was to be kept")
				}
				return
			}
			db := w.openDatabase()
			defer func() { _ = db.Close() }()
			if n := len(w.journal(db)); n != others+tt.kept {
				t.Errorf("%d updates wait in the database, want %d of %d:\n%s", n, others+tt.kept, others+len(tt.texts), out)
			}
			if tt.kept > 0 {
				w.has(out, "waits in "+w.stateDir())
			}
		})
	}
}

// Without a network the token is kept, and the next init goes on with it.
func TestInitWithoutANetworkGoesOnLater(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	flags := []string{"init", "--chat", id(w.forum), "--admin", id(w.ada.ID), "--mirror", "*"}
	run := func(api, stdin string) (string, int) {
		cmd := w.command(append(flags, "--api-url", api)...)
		cmd.Stdin = strings.NewReader(stdin)
		return w.output(cmd)
	}
	const nobody = "http://127.0.0.1:1"
	for _, stdin := range []string{w.Token() + "\n", ""} { // the second has the token
		out, code := run(nobody, stdin)
		if code != 1 {
			t.Fatalf("exit code %d:\n%s", code, out)
		}
		w.has(out, "isn't reached", w.file("telegram-token"), "panebridge init")
		if got := strings.TrimSpace(w.read("telegram-token")); got != w.Token() {
			t.Fatalf("the token's file has %d characters", len(got))
		}
		if _, err := os.Stat(w.file("config.yaml")); err == nil {
			t.Fatal("there's a configuration of what isn't known")
		}
	}
	out, code := run(w.api, "")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "The token is in "+w.file("telegram-token"), "@panebridge_bot")
	if cfg := w.load(); telegram.ConfigOf(cfg).TokenFile != w.file("telegram-token") {
		t.Errorf("the configuration is %+v", telegram.ConfigOf(cfg))
	}
}

// Agents in the PATH are named at the end; where none is, it's said where they were looked for.
func TestInitNamesTheAgentsThatAreFound(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, program := range []string{"", "codex"} {
		w := newTelegramWorld(t, telegramtest.Options{})
		want := "none of claude, codex, gemini, opencode, pi, qwen is in\n" + bin + "."
		if program != "" {
			if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			want = "Agents that were found: codex."
		}
		cmd := w.command("init", "--api-url", w.api, "--chat", id(w.forum), "--admin", id(w.ada.ID), "--mirror", "*")
		cmd.Env = append(cmd.Env, "PATH="+bin)
		cmd.Stdin = strings.NewReader(w.Token() + "\n")
		out, code := w.output(cmd)
		if w.has(out, want); code != 0 {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	}
}

// Whoever writes to a bot isn't its owner for that.
func TestInitAsksWhetherItWasYou(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	mallory := w.AddUser(telegramtest.User{FirstName: "Ada"})
	for _, p := range []*telegramtest.Person{w.ada, mallory} {
		if _, err := p.Say(p.Private(), "it's me"); err != nil {
			t.Fatal(err)
		}
	}
	out, code := w.scripted(w.Token() + "\n\ny\n")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "number "+id(mallory.ID), "no topics", "/bind SESSION")
	cfg := w.load()
	if got := cfg.Access.Admins[0]; got != "telegram:"+id(w.ada.ID) {
		t.Errorf("the admin is %s", got)
	}
	if c := telegram.ConfigOf(cfg).Chats[0]; c.ID != w.ada.ID || c.Topics || len(cfg.Mirrors) > 0 {
		t.Errorf("chat %+v, mirrors %+v", c, cfg.Mirrors)
	}
}

func TestInitSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{Privacy: true})
	noTopics := w.AddChat(telegramtest.ChatSpec{Title: "flat"}, w.ada)
	noRights := w.AddChat(telegramtest.ChatSpec{Title: "weak", Forum: true, BotRights: &telegramtest.Rights{}}, w.ada)
	mute := w.AddForum("mute", w.ada)
	if err := w.ada.MuteBot(mute); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(w.Token()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		chat   int64
		code   int
		topics bool
		wants  []string
	}{
		"no topics": {noTopics, 0, false, []string{"topics are off", "Turn Topics on", "privacy mode is on", "/setprivacy", "panebridge doctor"}},
		"no rights": {noRights, 0, true, []string{"may not manage topics", `"Manage Topics"`, "panebridge doctor"}},
		"mute":      {mute, 1, true, []string{"may not write", "can't be used in this chat"}},
		"no chat":   {-1001234567890, 1, true, []string{"isn't in the chat", "add @panebridge_bot"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &telegramWorld{setupHome: setupHome{T: t, home: t.TempDir(), secret: w.secret}, Server: w.Server, api: w.api}
			out, code := w.scripted("", "--token-file", token, "--chat", id(tt.chat), "--admin", "500", "--mirror", "agent-*")
			w.has(out, tt.wants...)
			if code != tt.code {
				t.Fatalf("exit code %d, want %d:\n%s", code, tt.code, out)
			}
			if code != 0 {
				w.nothing()
				return
			}
			cfg := w.load()
			if c := telegram.ConfigOf(cfg); c.Chats[0].Topics != tt.topics || c.TokenFile != token || cfg.Mirrors[0].Session != "agent-*" {
				t.Errorf("telegram is %+v, mirrors %+v", c, cfg.Mirrors)
			}
		})
	}
}

func TestInitRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"nothing on standard input": {"", nil, 2, "give --token-file"},
		"no token":                  {"hello\n", nil, 1, "isn't a token that Telegram knows"},
		"a token nobody has":        {"7000000001:another-secret-that-nobody-knows\n", nil, 1, "isn't a token that Telegram knows"},
		"a name":                    {w.Token(), []string{"--admin", "@ada"}, 2, "names can be taken"},
		"no file":                   {"", []string{"--token-file", "nowhere"}, 2, "no such file"},
		"an address that's none":    {w.Token(), []string{"--api-url", "ftp://x"}, 1, "api_url is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &telegramWorld{setupHome: setupHome{T: t, home: t.TempDir(), secret: w.secret}, Server: w.Server, api: w.api}
			out, code := w.scripted(tt.stdin, tt.args...)
			w.has(out, tt.want)
			if code != tt.code || strings.Contains(out, "another-secret") {
				t.Errorf("exit code %d, want %d:\n%s", code, tt.code, out)
			}
			w.nothing()
		})
	}
}

func TestInitNeverWritesOverAConfiguration(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	const mine = "log: {level: warn}\n"
	path := w.put("config.yaml", mine)
	flags := []string{"--chat", id(w.forum), "--admin", id(w.ada.ID), "--mirror", "*"}
	out, code := w.scripted(w.Token(), flags...)
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "won't be changed", "Add to "+path, "enabled: true", "token_file:", "{id: "+id(w.forum)+", topics: true} # Agents", "telegram:"+id(w.ada.ID), "config check")
	if got := w.read("config.yaml"); got != mine {
		t.Errorf("the configuration is\n%s", got)
	}
	if strings.TrimSpace(w.read("telegram-token")) != w.Token() {
		t.Error("the token isn't in its file")
	}

	// What it says to add is right as it stands.
	_, add, _ := strings.Cut(out, "Add to "+path+":\n\n")
	add, _, _ = strings.Cut(add, "\nThen:")
	cfg, err := all.Form().Parse("both", []byte(mine+add), os.LookupEnv)
	if err != nil || !telegram.ConfigOf(cfg).Enabled {
		t.Errorf("with what it says to add: %v\n%s", err, add)
	}

	// A token that's there is kept, too.
	w.put("telegram-token", "1:another")
	out, code = w.scripted(w.Token(), flags...)
	w.has(out, "already has another token")
	if code != 1 || w.read("telegram-token") != "1:another" {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestInitSaysWhoTakesTheMessages(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	remove := w.Inject(telegramtest.Fault{Method: "getUpdates", Code: 409, Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"})
	out, code := w.scripted(w.Token())
	w.has(out, "another program reads this bot's messages", "(409)", "--chat and --admin")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	w.nothing()
	remove()

	for i := range 130 {
		if _, err := w.ada.Say(w.ada.Private(), fmt.Sprint("old ", i)); err != nil {
			t.Fatal(err)
		}
	}
	out, code = w.scripted(w.Token() + "\ny\ny\n")
	w.has(out, "“old 129”", "waits in "+w.stateDir())
	if code != 0 || strings.Contains(out, "orget") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if got := w.hear(); len(got) != 129 || got["old 0"] != 1 || got["old 128"] != 1 {
		t.Errorf("%d of 129 messages are for the daemon: %v", len(got), got)
	}
}

// Who is recognised by a message that's in the database already, since more waited than Telegram shows at once, has
// written nobody's input with it, and all else is the daemon's.
func TestInitRecognisesSomebodyByAnOldMessage(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	for i := range 230 {
		if _, err := w.ada.Say(w.ada.Private(), fmt.Sprint("old ", i)); err != nil {
			t.Fatal(err)
		}
	}
	out, code := w.scripted(w.Token() + "\n" + strings.Repeat("n\n", 200) + "y\ny\n")
	w.has(out, "“old 29”")
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if got := w.hear(); len(got) != 229 || got["old 29"] != 0 || got["old 30"] != 1 {
		t.Errorf("%d of 229 messages are for the daemon: %v", len(got), got)
	}
}

// terminal is a program on a terminal, with somebody who reads along.
type terminal struct {
	*testing.T
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
	over chan struct{}
}

func (w *telegramWorld) terminal(args ...string) *terminal {
	w.Helper()
	return w.onTerminal(append([]string{"init", "--api-url", w.api}, args...)...)
}

func (w *setupHome) onTerminal(args ...string) *terminal {
	w.Helper()
	term := &terminal{T: w.T, cmd: w.command(args...), news: make(chan struct{}, 1), over: make(chan struct{})}
	var err error
	if term.tty, err = pty.StartWithSize(term.cmd, &pty.Winsize{Rows: 40, Cols: cmp.Or(w.columns, 250)}); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = term.tty.Close() })
	go func() {
		defer close(term.over)
		chunk := make([]byte, 4096)
		for {
			n, err := term.tty.Read(chunk)
			term.mu.Lock()
			term.text.Write(chunk[:n])
			term.mu.Unlock()
			select {
			case term.news <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return term
}

func (term *terminal) all() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.text.String()
}

// await waits until a text stands there that often.
func (term *terminal) await(text string, times int) {
	term.Helper()
	for strings.Count(term.all(), text) < times {
		select {
		case <-term.news:
		case <-term.over:
			term.Fatalf("it has ended without %q:\n%s", text, term.all())
		}
	}
}

func (term *terminal) write(text string) {
	term.Helper()
	if _, err := term.tty.WriteString(text); err != nil {
		term.Fatal(err)
	}
}

// end returns the exit code.
func (term *terminal) end() int {
	_ = term.cmd.Wait() // the exit code says it
	<-term.over
	return term.cmd.ProcessState.ExitCode()
}

func TestInitOnATerminal(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	weak := w.AddChat(telegramtest.ChatSpec{Title: "weak", Forum: true, BotRights: &telegramtest.Rights{}}, w.ada)
	term := w.terminal()
	term.await("it isn't shown", 1)
	term.write("7000000001:another-secret-that-nobody-knows\n")
	term.await("it isn't shown", 2)
	term.write(w.Token() + "\n")
	term.await("write any message", 1)
	if _, err := w.ada.Say(telegramtest.Place{Chat: weak}, "hi"); err != nil {
		t.Fatal(err)
	}
	term.await("[y/N]", 1)
	term.write("y\n")
	term.await("may not manage topics", 1)
	rights := telegramtest.AllRights()
	if err := w.ada.SetBotRights(weak, &rights); err != nil {
		t.Fatal(err)
	}
	term.await(`"go on"`, 1)
	term.write("\n")
	term.await("may make topics", 1)
	term.await("[Y/n]", 1)
	term.write("n\n")
	term.await("[Y/n]", 2)
	term.write("y\n")
	if code := term.end(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, term.all())
	}
	_, secret, _ := strings.Cut(w.Token(), ":")
	if out := term.all(); strings.Contains(out, secret) || strings.Contains(out, "another-secret") {
		t.Errorf("a token is shown:\n%s", out)
	}
	w.has(term.all(), "This is wrong: it isn't a token", "It's sent", "panebridge run")
	if seen := w.See(telegramtest.Place{Chat: weak}); len(seen) == 0 || !strings.Contains(seen[len(seen)-1].Text, "panebridge is set up on ") {
		t.Errorf("the chat has %+v", seen)
	}
	if cfg := w.load(); len(cfg.Mirrors) > 0 || telegram.ConfigOf(cfg).Chats[0].ID != weak {
		t.Errorf("the configuration is %+v", cfg)
	}
}

// On a narrow terminal no word is broken, whatever is asked, found and said.
func TestInitFitsNarrowTerminals(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{40, 80} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			w := newTelegramWorld(t, telegramtest.Options{})
			w.columns = columns
			weak := w.AddChat(telegramtest.ChatSpec{Title: "weak", Forum: true, BotRights: &telegramtest.Rights{}}, w.ada)
			term := w.terminal()
			term.await("shown)", 1)
			term.write(w.Token() + "\n")
			term.await("any message", 1)
			if _, err := w.ada.Say(telegramtest.Place{Chat: weak}, "hi"); err != nil {
				t.Fatal(err)
			}
			term.await("[y/N]", 1)
			term.write("y\n")
			term.await(`"go on"`, 1)
			term.write("go on\n")
			term.await("[Y/n]", 1)
			term.write("n\n")
			term.await("[Y/n]", 2)
			term.write("y\n")
			if code := term.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			for line := range strings.SplitSeq(term.all(), "\r\n") {
				isLiteral := strings.HasPrefix(line, "  ") && !strings.Contains(strings.TrimSpace(line), "  ") && !strings.HasPrefix(line, strings.Repeat(" ", 9))
				if utf8.RuneCountInString(line) > int(columns) && !isLiteral && len(strings.Fields(line)) > 1 {
					t.Errorf("%q is wider than %d", line, columns)
				}
			}
			if t.Failed() || testing.Verbose() {
				t.Log(term.all())
			}
		})
	}
}

func TestInitLeavesNothingAtCtrlC(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]func(w *telegramWorld, term *terminal){
		"at the token": func(_ *telegramWorld, term *terminal) { term.await("it isn't shown", 1) },
		"waiting for a message": func(w *telegramWorld, term *terminal) {
			term.await("it isn't shown", 1)
			term.write(w.Token() + "\n")
			term.await("write any message", 1)
		},
		"at the last question": func(w *telegramWorld, term *terminal) {
			term.await("it isn't shown", 1)
			term.write(w.Token() + "\n")
			term.await("write any message", 1)
			if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, "hi"); err != nil {
				w.Fatal(err)
			}
			term.await("[y/N]", 1)
			term.write("y\n")
			term.await("[Y/n]", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTelegramWorld(t, telegramtest.Options{})
			term := w.terminal()
			until(w, term)
			term.write("\x03")
			if code := term.end(); code != 1 {
				t.Errorf("exit code %d:\n%s", code, term.all())
			}
			w.has(term.all(), "nothing was written")
			w.nothing()
		})
	}
}

// Whoever leaves behind the configuration has it.
func TestInitIsLeftBehindTheConfiguration(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	term := w.terminal("--chat", id(w.forum), "--admin", id(w.ada.ID), "--mirror", "*")
	term.await("it isn't shown", 1)
	term.write(w.Token() + "\n")
	term.await("[Y/n]", 1)
	term.write("\x03")
	if code := term.end(); code != 1 {
		t.Errorf("exit code %d:\n%s", code, term.all())
	}
	w.has(term.all(), "stopped (interrupt); the configuration is there")
	w.load()
}

// Flags have the steps behind the configuration be done, each by itself; what can't be done is said, and stops nothing.
func TestInitGoesOnByFlags(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags       []string
		hooks, sent bool
		says        []string
	}{
		{nil, false, false, []string{"Hooks, later: panebridge hooks install claude", "panebridge run", "/help"}},
		{[]string{"--hooks", "all", "--test-message"}, true, true, []string{"The hooks are installed in ", "It's sent", "panebridge run"}},
		{[]string{"--hooks", "claude", "--service", "--adopt", "work"}, true, false, []string{"no service was installed: ", "no session was adopted", "panebridge run"}},
		{[]string{"--hooks", "nobody"}, false, false, []string{"not all hooks are installed", "panebridge run"}},
	} {
		w := newTelegramWorld(t, telegramtest.Options{})
		cmd := w.command(append([]string{"init", "--api-url", w.api, "--chat", id(w.forum), "--admin", id(w.ada.ID), "--mirror", "*"}, c.flags...)...)
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		cmd.Stdin = strings.NewReader(w.Token() + "\n")
		out, code := w.output(cmd)
		if w.has(out, c.says...); code != 0 {
			t.Errorf("%q: exit code %d:\n%s", c.flags, code, out)
		}
		if _, err := os.Stat(filepath.Join(w.home, ".claude", "settings.json")); (err == nil) != c.hooks {
			t.Errorf("%q: the hooks are there: %v", c.flags, err == nil)
		}
		seen := w.See(telegramtest.Place{Chat: w.forum})
		if sent := len(seen) > 0 && strings.Contains(seen[len(seen)-1].Text, "panebridge is set up on "); sent != c.sent {
			t.Errorf("%q: the chat has %+v", c.flags, seen)
		}
	}
}

// Without a chat there's nothing to write down, and the rest is the same.
func TestInitOfThePageAlone(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	cmd := w.command("init", "page")
	out, code := w.output(cmd)
	if w.has(out, "panebridge run", "it's on the page", "panebridge page"); code != 0 || strings.Contains(out, "/help") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	term := w.onTerminal("init")
	term.await("or on the page alone", 1)
	term.write("page\n")
	if code := term.end(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, term.all())
	}
	w.has(term.all(), "panebridge run", "it's on the page")
	w.nothing()
}

// What init has seen, the daemon hears, with the configuration that init says to add.
func TestTheDaemonHearsWhatInitHasSeen(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("no tmux: make test installs it")
	}
	w := newTelegramWorld(t, telegramtest.Options{})
	path := w.put("config.yaml", fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\n", filepath.Join(w.home, "t")))
	if _, err := w.ada.Say(telegramtest.Place{Chat: w.forum}, "/help"); err != nil {
		t.Fatal(err)
	}
	out, code := w.scripted(w.Token() + "\ny\ny\n")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	_, add, _ := strings.Cut(out, "Add to "+path+":\n\n")
	add, _, _ = strings.Cut(add, "\nThen:")
	mine := w.read("config.yaml")
	add = strings.Replace(add, "adapters:\n", "adapters:\n  web: {listen: \"127.0.0.1:0\"}\n", 1)
	w.put("config.yaml", mine+add)

	run := w.command("run")
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a hung daemon takes so long
	defer cancel()
	heard := w.Wait(ctx, func() bool { return len(w.Pending()) == 0 && len(w.CallsTo(w.forum)) > 0 })
	for _, f := range w.examined(w.Token()) {
		if f.State != "ok" || f.Check == "telegram updates" && !strings.Contains(f.Detail, "the daemon reads them") {
			t.Errorf("beside the daemon the doctor says %+v", f)
		}
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil || heard != nil {
		t.Errorf("the daemon ended with %v, and heard: %v\n%s", err, heard, said.String())
	}
}
