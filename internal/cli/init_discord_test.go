package cli_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/config"
)

// discordWorld is a stand-in for Discord on loopback with a server and a person, and a home for the program.
type discordWorld struct {
	setupHome
	*discordtest.Server
	ann     *discordtest.Person
	house   *discordtest.Guild
	channel string
	api     string
}

func newDiscordWorld(t *testing.T) *discordWorld {
	t.Helper()
	w := &discordWorld{Server: discordtest.New(discordtest.Options{})}
	w.setupHome = setupHome{T: t, home: t.TempDir(), secret: w.Token()}
	w.ann = w.Person("ann")
	w.SetOwner(w.ann, false)
	w.house = w.Guild("Ann's house")
	w.channel = w.house.TextChannel("agents").ID
	server := httptest.NewServer(w.Server)
	t.Cleanup(server.Close)
	w.api = server.URL + "/api"
	return w
}

func (w *discordWorld) scripted(stdin string, args ...string) (out string, code int) {
	w.Helper()
	cmd := w.command(append([]string{"init", "discord", "--api-url", w.api}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	return w.output(cmd)
}

// wantConfig compares the configuration that was written.
func (w *discordWorld) wantConfig(channel, admin string, mirrors ...config.Mirror) {
	w.Helper()
	if got := strings.TrimSpace(w.read("discord-token")); got != w.Token() {
		w.Errorf("the token's file has %d characters", len(got))
	}
	w.read("config.yaml")
	cfg := w.load()
	dc := discord.ConfigOf(cfg)
	if !dc.Enabled || dc.TokenFile != w.file("discord-token") || dc.APIURL != w.api || dc.Guild != w.house.ID || len(dc.Channels) != 1 || dc.Channels[0] != (discord.ChannelConfig{ID: channel, Threads: true}) {
		w.Errorf("discord is %+v", dc)
	}
	if len(cfg.Access.Admins) != 1 || cfg.Access.Admins[0] != "discord:"+admin {
		w.Errorf("access is %+v", cfg.Access)
	}
	if fmt.Sprint(cfg.Mirrors) != fmt.Sprint(mirrors) {
		w.Errorf("mirrors are %+v", cfg.Mirrors)
	}
}

func TestInitOfDiscordInAScript(t *testing.T) {
	t.Parallel()
	w := newDiscordWorld(t)
	forum := w.house.ForumChannel("work").ID
	out, code := w.scripted(w.Token() + "\n2\ny\ny\n")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, `"Ann's house"`, "1  #agents", "2  #work (a forum: each session is a post)", "made by ann (id "+w.ann.ID+")", "may do there what it has to", "panebridge run")
	w.wantConfig(forum, w.ann.ID, config.Mirror{Session: "*", To: "discord:" + forum, View: "stream", Input: true})
	for _, r := range w.Refusals() {
		t.Errorf("it was refused: %+v", r)
	}
}

// With flags nothing is asked.
func TestInitOfDiscordWithFlags(t *testing.T) {
	t.Parallel()
	w := newDiscordWorld(t)
	w.Guild("another house")
	token := w.put("discord-token", w.Token()+"\n")
	out, code := w.scripted("", "--token-file", token, "--server", w.house.ID, "--channel", w.channel, "--admin", w.ann.ID, "--mirror", "")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.wantConfig(w.channel, w.ann.ID)
}

func TestInitOfDiscordRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
		spoil func(w *discordWorld)
	}{
		"nothing on standard input":  {"", nil, 2, "give --token-file", nil},
		"no token":                   {"hello\n", nil, 1, "isn't a token that Discord knows", nil},
		"a token nobody has":         {"MTIz.another.token-that-nobody-knows-of\n", nil, 1, "isn't a token that Discord knows", nil},
		"a name":                     {"TOKEN\n", []string{"--admin", "ann"}, 2, "is not an id of Discord's", nil},
		"a channel's name":           {"TOKEN\n", []string{"--channel", "#agents"}, 2, "is not an id of Discord's", nil},
		"a channel of nobody":        {"TOKEN\n", []string{"--channel", "223344556677889900"}, 1, "can't be used in this channel", nil},
		"a number that isn't there":  {"TOKEN\n9\n", nil, 1, `"9" isn't a number from 1 to 1`, nil},
		"a server it isn't on":       {"TOKEN\n", []string{"--server", "112233445566778899"}, 1, "oauth2/authorize", nil},
		"a stranger":                 {"TOKEN\n1\nn\n112233445566778899\n", nil, 1, "nobody with the id 112233445566778899 is on the server", nil},
		"no intent":                  {"TOKEN\n", nil, 1, "isn't shown what people write", func(w *discordWorld) { w.SetContentIntent(false) }},
		"no server":                  {"TOKEN\n", nil, 1, "oauth2/authorize", func(w *discordWorld) { w.house.Kick() }},
		"no channel that it sees":    {"TOKEN\n", nil, 1, "no text or forum channel", func(w *discordWorld) { _ = w.ann.DeleteChannel(w.channel) }},
		"an address that's none":     {"TOKEN\n", []string{"--api-url", "ftp://x"}, 1, "not an address", nil},
		"a bot of a team, and no id": {"TOKEN\n1\n", nil, 2, "give --admin", func(w *discordWorld) { w.SetOwner(w.ann, true) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDiscordWorld(t)
			if tt.spoil != nil {
				tt.spoil(w)
			}
			out, code := w.scripted(strings.ReplaceAll(tt.stdin, "TOKEN", w.Token()), tt.args...)
			w.has(out, tt.want)
			if code != tt.code || strings.Contains(out, "token-that-nobody-knows-of") {
				t.Errorf("exit code %d, want %d:\n%s", code, tt.code, out)
			}
			w.nothing()
		})
	}
}

// Without a network the token is kept, and the next init goes on with it.
func TestInitOfDiscordGoesOnLater(t *testing.T) {
	t.Parallel()
	w := newDiscordWorld(t)
	cmd := w.command("init", "discord", "--api-url", "http://127.0.0.1:1")
	cmd.Stdin = strings.NewReader(w.Token() + "\n")
	out, code := w.output(cmd)
	w.has(out, "isn't reached", w.file("discord-token"), "panebridge init discord goes on")
	if code != 1 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if out, code = w.scripted("1\ny\nn\n"); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "The token is in "+w.file("discord-token"))
	w.wantConfig(w.channel, w.ann.ID)
}

// A token counts however it's copied: with what stands before it in a request's header, in quotes, with blanks.
func TestInitOfDiscordTakesATokenAsItsCopied(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"Bot %s", "  bot  %s ", "%q", "'%s'", "Authorization: Bot %s", "token=%s", "`%s`,"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			w := newDiscordWorld(t)
			if out, code := w.scripted(fmt.Sprintf(form, w.Token()) + "\n1\ny\nn\n"); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, out)
			}
			w.wantConfig(w.channel, w.ann.ID)
		})
	}
}

// Servers of one name are told apart by their ids, as channels are.
func TestInitOfDiscordTellsNamesakesApart(t *testing.T) {
	t.Parallel()
	w := newDiscordWorld(t)
	twin := w.Guild("a twin")
	twin.Name = w.house.Name
	w.Guild("another house")
	out, code := w.scripted(w.Token() + "\n1\n1\ny\nn\n")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "Ann's house (id "+w.house.ID+")\n", "Ann's house (id "+twin.ID+")\n", "another house\n", "1  #agents\n")
}

// A configuration that's there stays as it is.
func TestInitOfDiscordChangesNoConfiguration(t *testing.T) {
	t.Parallel()
	w := newDiscordWorld(t)
	const mine = "log: {level: warn}\n"
	w.put("config.yaml", mine)
	out, code := w.scripted(w.Token() + "\n1\ny\ny\n")
	if code != 0 || w.read("config.yaml") != mine {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	w.has(out, "won't be changed", "guild: \""+w.house.ID+"\" # Ann's house", "{id: \""+w.channel+"\", threads: true} # agents", "aren't written twice")

	// Made a second time, with the same answers, there's nothing to be added to what the first time has written.
	w = newDiscordWorld(t)
	for range 2 {
		if out, code = w.scripted(w.Token() + "\n1\ny\ny\n"); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, out)
		}
	}
	w.has(out, "says all of this already")
	if strings.Contains(out, "Add to") {
		t.Errorf("it's to be added a second time:\n%s", out)
	}
	w.wantConfig(w.channel, w.ann.ID, config.Mirror{Session: "*", To: "discord:" + w.channel, View: "stream", Input: true})
}

// From a token to an answered message, as somebody new to it would go: everything is missing at first, and is put right while
// it waits. No line of the configuration is written by hand.
func TestFromADiscordTokenToAnAnswer(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := newDiscordWorld(t)
	w.SetContentIntent(false)
	w.house.Kick()
	w.house.TextChannel("agents").Deny(discordtest.AttachFiles)
	term := w.onTerminal("init") // without a flag it asks
	term.await("on telegram or discord, or on the page alone?", 1)
	term.write("discord\n")
	term.await("it isn't shown", 1)
	term.write("\x03")
	if code := term.end(); code != 1 {
		t.Fatalf("exit code %d:\n%s", code, term.all())
	}
	w.has(term.all(), "Message Content Intent", "nothing was written")
	w.nothing()

	term = w.onTerminal("init", "discord", "--api-url", w.api)
	term.await("it isn't shown", 1)
	term.write("MTIz.another.token-that-nobody-knows-of\n")
	term.await("it isn't shown", 2)
	term.write(w.Token() + "\n\n\n") // pasted with blank lines, which answer nothing
	term.await("isn't shown what people write", 1)
	w.SetContentIntent(true)
	term.write("\n")
	term.await("Waiting until it's there", 1)
	link := regexp.MustCompile(`https://discord\.com/oauth2/authorize\?\S+`).FindString(term.all())
	for _, has := range []string{"client_id=" + w.Bot().ID, "scope=bot+applications.commands", "permissions="} {
		w.has(link, has)
	}
	w.house.Invite()
	term.await("Its number [1]", 1)
	term.write("7\n")
	term.await(`"7" isn't a number from 1 to 1`, 1)
	term.await("Its number [1]", 2)
	term.write("\n")
	term.await("may not send files", 1)
	w.house.TextChannel("agents").Allow(discordtest.AttachFiles)
	term.write("\n")
	term.await("may do there what it has to", 1)
	term.await("Is that you?", 1)
	term.write("\n")
	term.await("Mirror all sessions", 1)
	term.write("\n")
	term.await("Send a message to the chat", 1)
	term.write("\n")
	if code := term.end(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, term.all())
	}
	if n := strings.Count(term.all(), "isn't shown what people write"); n != 1 {
		t.Errorf("it was looked %d times for what was put right once", n)
	}
	if strings.Contains(term.all(), w.Token()) || strings.Contains(term.all(), "token-that-nobody-knows-of") {
		t.Error("a token is shown")
	}
	if all := w.Messages(w.channel); len(all) != 1 || !strings.Contains(all[0].Content, "panebridge is set up on ") {
		t.Errorf("the channel has %+v", all)
	}
	w.wantConfig(w.channel, w.ann.ID, config.Mirror{Session: "*", To: "discord:" + w.channel, View: "stream", Input: true})

	// The daemon answers, with this configuration; but for the page's port, which may be another's here.
	text := w.read("config.yaml")
	w.put("config.yaml", strings.Replace(text, "adapters:\n", "adapters:\n  web: {listen: \"127.0.0.1:0\"}\n", 1)+
		fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\n", filepath.Join(w.home, "t")))
	run := w.command("run")
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = run.Process.Signal(os.Interrupt)
		if err := run.Wait(); err != nil {
			t.Errorf("the daemon ended with %v\n%s", err, said.String())
		}
	}()
	for deadline := time.Now().Add(time.Minute); w.Gateways() == 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := w.ann.Say(w.channel, "/help"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		all := w.Messages(w.channel)
		if n := len(all); n > 1 && strings.Contains(all[n-1].Content, "/sessions") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody answered: %+v\n%s", all, said.String())
		}
	}
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("from the token to the answer it took %s", took)
	}
}
