package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/sessions"
)

// The roles of the table, and what each may do besides those before it.
var allRoles = []string{"stranger", "viewer", "operator", "approver", "admin"}

// chatActions are what people do in chats: who may, and how it's written.
var chatActions = []struct {
	name, text string
	may        []string
}{
	{"see how things stand", "/status", []string{"viewer", "operator", "approver", "admin"}},
	{"list sessions", "/sessions", []string{"viewer", "operator", "approver", "admin"}},
	{"see a screen", "/screen worker text", []string{"viewer", "operator", "approver", "admin"}},
	{"read", "/history worker", []string{"viewer", "operator", "approver", "admin"}},
	{"type", "hello", []string{"operator", "admin"}},
	{"press keys", "/keys other F1", []string{"operator", "admin"}},
	{"have their private chat quiet", "/mute worker 1h", []string{"viewer", "operator", "approver", "admin"}},
	{"end a session", "/close other", []string{"operator", "admin"}},
	{"begin one", "/new nonsense", []string{"operator", "admin"}},
	{"write mail", "/mail", []string{"operator", "admin"}},
	{"make a code", "/pair viewer", []string{"admin"}},
	{"see who may do what", "/access", []string{"admin"}},
	{"give access", "/access grant telegram:4242 viewer", []string{"admin"}},
	{"take it back", "/access revoke telegram:4242", []string{"admin"}},
}

var pairingCode = regexp.MustCompile(`/pair [2-9A-Z]{8}`)

// person is somebody of one role on one platform.
type person struct {
	id, role string
	say      func(text string)                        // in the private chat with the bot
	heard    func() []string                          // what the bot has said there, the oldest first
	find     func(button string) (press func() error) // in the place of the session; nil: it is not there
}

// asCaller has the test binary make calls to the API, for which nobody is to be asked, and
// print each with its status and its error's code: by the socket, or by the page's port as a
// browser that was let in.
func asCaller() {
	var door callDoor
	if socket := os.Getenv("PANEBRIDGE_TEST_SOCKET"); socket != "" {
		door = socketDoor(socket)
	}
	if page := os.Getenv("PANEBRIDGE_TEST_PAGE"); page != "" {
		base, key, _ := strings.Cut(page, " ")
		signer, err := browserstest.ParseSigner(key)
		if err != nil {
			panic(err)
		}
		door = callDoor{base: base, sign: signer.Sign, client: http.DefaultClient}
	}
	if door.client == nil {
		return
	}
	for _, call := range os.Args[1:] {
		_, _ = fmt.Fprintln(os.Stdout, call, door.makeCall(call))
	}
	os.Exit(0) //nolint:revive // this is a main() then
}

// callDoor is a way to the API.
type callDoor struct {
	base   string
	sign   func(*http.Request) // nil: nothing is signed there
	client *http.Client
}

func socketDoor(socket string) callDoor {
	return callDoor{base: "http://panebridge", client: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}}
}

// makeCall makes a call "METHOD /path" and returns its status with the error's code.
func (door callDoor) makeCall(call string) string {
	method, path, _ := strings.Cut(call, " ")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, door.base+path, strings.NewReader("{}"))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(api.AskHeader, "no")
	if door.sign != nil {
		door.sign(r)
	}
	resp, err := door.client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < http.StatusBadRequest {
		return strconv.Itoa(resp.StatusCode) // a stream has no end
	}
	text, _ := io.ReadAll(resp.Body)
	var doc struct {
		Error api.Error `json:"error"`
	}
	_ = json.Unmarshal(text, &doc)
	return strconv.Itoa(resp.StatusCode) + " " + doc.Error.Code
}

// Every role tries every action on both platforms, and every call of the API is made on the
// command line outside, in a session's pane and by the page. What's refused is refused, and
// what may be done isn't.
func TestRoles(t *testing.T) {
	slow(t)
	knowsPeers(t)
	telegram := telegramtest.New(telegramtest.Options{})
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	channel := guild.TextChannel("agents")
	d := newDaemon(t)
	d.stop()
	var people []*person
	var members []*telegramtest.Person
	for _, role := range allRoles {
		members = append(members, telegram.AddUser(telegramtest.User{FirstName: role}))
	}
	group := telegram.AddForum("Agents", members...)
	lists := map[string]*[]string{"viewer": &d.cfg.Access.Viewers, "operator": &d.cfg.Access.Operators, "approver": &d.cfg.Access.Approvers, "admin": &d.cfg.Access.Admins}
	for i, role := range allRoles {
		tg, dc := onTelegram(t, telegram, members[i], group, role), onDiscord(t, world, world.Person(role), channel.ID, role)
		people = append(people, tg, dc)
		if list := lists[role]; list != nil {
			*list = append(*list, tg.id, dc.id)
		}
	}
	d.mirror("worker", telegram, group, world, guild.ID, channel.ID)
	d.start()
	id, pane := d.shellSession("worker")
	other, _ := d.shellSession("other")

	d.tryChats(people)
	d.tryAnswers(people, id, pane)
	d.await("the masked code in the group", func() bool {
		return strings.Contains(groupText(telegram, world, group, channel.ID), "[masked: pairing code]")
	})
	if got := pairingCode.FindString(groupText(telegram, world, group, channel.ID)); got != "" {
		t.Errorf("the group is shown %s", got)
	}
	d.tryCalls(id, other, pane)
}

// groupText is all that the bot has shown in the group and the channel.
func groupText(telegram *telegramtest.Server, world *discordtest.Server, group int64, channel string) string {
	var all strings.Builder
	for _, topic := range telegram.Topics(group) {
		for _, m := range telegram.See(topic.Place) {
			all.WriteString(m.Text + "\n")
		}
	}
	for _, thread := range world.Threads(channel) {
		for _, m := range world.Messages(thread.ID) {
			all.WriteString(strings.ReplaceAll(m.Content, `\`, "") + "\n")
		}
	}
	return all.String()
}

func onTelegram(t *testing.T, s *telegramtest.Server, p *telegramtest.Person, group int64, role string) *person {
	t.Helper()
	return &person{
		id: "telegram:" + strconv.FormatInt(p.ID, 10), role: role,
		say: func(text string) {
			if _, err := p.Say(p.Private(), text); err != nil {
				t.Fatal(err)
			}
		},
		heard: func() (out []string) {
			for _, m := range s.See(p.Private()) {
				if m.From.IsBot {
					out = append(out, m.Text)
				}
			}
			return out
		},
		find: func(label string) func() error {
			for _, topic := range s.Topics(group) {
				for _, m := range slices.Backward(s.See(topic.Place)) {
					for _, row := range m.Buttons {
						for _, b := range row {
							if b.Text == label {
								return func() error { _, err := p.Press(group, m.ID, b.Data); return err }
							}
						}
					}
				}
			}
			return nil
		},
	}
}

func onDiscord(t *testing.T, w *discordtest.Server, p *discordtest.Person, channel, role string) *person {
	t.Helper()
	return &person{
		id: "discord:" + p.ID, role: role,
		say: func(text string) {
			if _, err := p.Say(p.DM().ID, text); err != nil {
				t.Fatal(err)
			}
		},
		heard: func() (out []string) {
			for _, m := range w.Messages(p.DM().ID) {
				if m.Author.Bot {
					out = append(out, m.Content)
				}
			}
			return out
		},
		find: func(label string) func() error {
			for _, thread := range w.Threads(channel) {
				for _, m := range slices.Backward(w.Messages(thread.ID)) {
					for _, row := range m.Rows {
						for _, b := range row {
							if b.Label == label {
								return func() error { _, err := p.Press(m.ID, b.CustomID); return err }
							}
						}
					}
				}
			}
			return nil
		},
	}
}

// tryChats has everybody try every action in their private chat.
func (d *daemon) tryChats(people []*person) {
	d.Helper()
	for _, a := range chatActions {
		before := map[*person]int{}
		for _, p := range people {
			before[p] = len(p.heard())
			p.say(a.text)
		}
		for _, p := range people {
			if p.role == "stranger" {
				continue
			}
			d.await("answer to "+a.text+" of "+p.id, func() bool { return len(p.heard()) > before[p] })
			got := strings.Join(p.heard()[before[p]:], "\n")
			if refused := strings.Contains(got, "takes the role"); refused == slices.Contains(a.may, p.role) {
				d.Errorf("%s on %s: %s: refused is %v: %q", p.role, p.id, a.name, refused, got)
			}
			if a.name == "make a code" && p.role == "admin" && !pairingCode.MatchString(got) {
				d.Errorf("%s is given no code: %q", p.id, got)
			}
		}
	}
	for _, p := range people {
		if got := p.heard(); p.role == "stranger" && len(got) > 0 {
			d.Errorf("a stranger, %s, is told %q", p.id, got)
		}
	}
}

// tryAnswers has everybody press "Allow it once" for calls from a pane. The last to press
// is the first who may: their word counts.
func (d *daemon) tryAnswers(people []*person, id sessions.ID, pane string) {
	d.Helper()
	env := "PANEBRIDGE_STATE_DIR=" + filepath.Join(d.dir, "state") + " "
	for command, may := range map[string]string{"keys other F1": "approver", "pair --role viewer": "admin"} {
		for _, platform := range []string{"telegram:", "discord:"} {
			r := d.runIn(pane, "%s", env+panebridge(d.T, command))
			p := d.callPrompt(id)
			last := ""
			for _, one := range people {
				if slices.Index(allRoles, one.role) > slices.Index(allRoles, may) || one.role == may && !strings.HasPrefix(one.id, platform) {
					continue
				}
				d.await("the button for "+one.id, func() bool { return one.find("Allow it once") != nil })
				if err := one.find("Allow it once")(); err != nil {
					d.Fatal(err)
				}
				last = one.id
			}
			if out := d.said(r); !strings.Contains(out, "exit 0") {
				d.Errorf("%s: %q", command, out)
			}
			if may == "admin" {
				d.tmux("send-keys", "-t", pane, "-l", "cat "+r.file)
				d.tmux("send-keys", "-t", pane, "Enter")
				d.await("the code on the screen", func() bool { return slices.ContainsFunc(d.lines(id), pairingCode.MatchString) })
			}
			d.await("the end of the question everywhere", func() bool {
				return !slices.ContainsFunc(people, func(p *person) bool { return p.find("Allow it once") != nil })
			})
			all, err := d.api.Prompts(d.ctx())
			if err != nil || len(all) != 0 {
				d.Errorf("%s: open are %+v, %v", command, all, err)
			}
			if got := d.answered(p.ID); got != last {
				d.Errorf("%s was allowed by %s, want %s", command, got, last)
			}
		}
	}
}

// answered is who answered a question.
func (d *daemon) answered(prompt string) string {
	d.Helper()
	_, err := d.api.Answer(d.ctx(), prompt, api.AnswerRequest{Option: &api.PromptChoice{N: 1}})
	e, ok := err.(*api.Error) //nolint:errorlint // the client returns it as it is
	if !ok || e.Prompt == nil || e.Prompt.Answer == nil {
		d.Fatalf("%s: %v", prompt, err)
	}
	return e.Prompt.Answer.Author
}

// tryCalls makes every call of the API outside, in the user's own pane and in a session's,
// by the socket and by the page.
func (d *daemon) tryCalls(id, other sessions.ID, pane string) {
	d.Helper()
	exe, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	fill := func(call string, s sessions.ID) string {
		call = strings.ReplaceAll(call, "/sessions/{id}", "/sessions/"+string(s))
		call = strings.ReplaceAll(strings.ReplaceAll(call, "{id}", "none"), "{person}", "telegram:1")
		call = strings.ReplaceAll(call, "{name}", "ann")
		if strings.HasSuffix(call, "/events") || strings.HasSuffix(call, "/search") {
			call += "?q=word&session=" + string(s)
		}
		return call
	}
	signer, base := d.letIn()
	doors := map[string]string{
		"socket": "PANEBRIDGE_TEST_SOCKET=" + filepath.Join(d.dir, "state", "panebridge.sock"),
		"page":   "PANEBRIDGE_TEST_PAGE='" + base + " " + signer.Text() + "'",
	}
	rules := api.InsideRules()
	run := func(door, pane string, s sessions.ID) map[string]string {
		d.Helper()
		var words []string
		for _, call := range slices.Sorted(maps.Keys(rules)) {
			words = append(words, "'"+fill(call, s)+"'")
		}
		out := map[string]string{}
		for line := range strings.Lines(d.said(d.runIn(pane, "%s", doors[door]+" "+exe+" "+strings.Join(words, " ")))) {
			f := strings.SplitN(strings.TrimSpace(line), " ", 3)
			if len(f) == 3 {
				out[f[0]+" "+f[1]] = f[2]
			}
		}
		return out
	}
	for door := range doors {
		inOther, inOwn := run(door, pane, other), run(door, pane, id)
		for call, rule := range rules {
			list := call == "GET /api/v1/sessions"
			theirs, mine := inOther[fill(call, other)], inOwn[fill(call, id)]
			if refused := theirs == "403 inside"; theirs == "" || refused != (rule != "free" && !list) {
				d.Errorf("by the %s in a pane, about another session: %s (%s): %q", door, call, rule, theirs)
			}
			if refused := mine == "403 inside"; mine == "" || refused != (rule != "free" && !strings.HasPrefix(rule, "own")) {
				d.Errorf("by the %s in a pane, about its own session: %s (%s): %q", door, call, rule, mine)
			}
		}
	}
	delete(rules, "GET /api/v1/sessions/{id}/recording") // which goes on, outside
	outside := d.userPane()
	for _, door := range []string{"page", "socket"} { // by the socket all browsers are shut out
		for call, got := range run(door, outside, other) {
			unsigned := strings.HasPrefix(got, "401") // it isn't a browser's word that's tried here
			if strings.Contains(got, "inside") || unsigned || got == "" {
				d.Errorf("by the %s in the user's own pane: %s: %q", door, call, got)
			}
		}
	}
}
