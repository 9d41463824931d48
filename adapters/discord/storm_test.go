package discord_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
)

// coast is an office on which storms are played.
type coast struct{ *office }

func (c coast) Office() *platformtest.Office { return c.office.Office }

// toChannel finds the channel that a message is for.
var toChannel = regexp.MustCompile(`/channels/(\d+)/messages`)

func (c coast) SetFates(fate func(platformtest.StormCall) faults.Fate) {
	c.fate.Store(new(func(r *http.Request, body []byte) faults.Fate {
		to := toChannel.FindStringSubmatch(r.URL.Path)
		place := strings.TrimPrefix(chatOf(to), c.agents)
		switch {
		case place != "" && r.Method != http.MethodGet && c.deaf.Load():
			return faults.Fate{Lost: true, Answer: saysNo(http.StatusNotFound, 10003, "Unknown Channel")}
		case fate == nil:
			return faults.Fate{}
		}
		return fate(platformtest.StormCall{
			Reads: r.Method == http.MethodGet, Makes: c.made(r, body),
			Place: place, Buttons: bytes.Contains(body, []byte(`"components":[{`)),
			Chat: chatOf(to), Kind: kindOf(r, body),
		})
	}))
}

// made is the name of the session that a call makes a thread for; "": it makes none.
func (c coast) made(r *http.Request, body []byte) string {
	var thread struct{ Name string }
	if path.Base(r.URL.Path) != "threads" || json.Unmarshal(body, &thread) != nil {
		return ""
	}
	if isSessions(thread.Name, "agent") {
		return "agent"
	}
	return thread.Name
}

// chatOf is the channel that a message is for; "": it's none.
func chatOf(to []string) string {
	if to == nil {
		return ""
	}
	return to[1]
}

// kindOf is what a call does with messages.
func kindOf(r *http.Request, body []byte) string {
	switch {
	case r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/messages/"):
		return "edit"
	case r.Method != http.MethodPost || path.Base(r.URL.Path) != "messages":
		return ""
	case bytes.Contains(body, []byte("message_reference")):
		return "reply"
	}
	return "post"
}

func (c coast) Seen() []platformtest.StormMessage {
	var out []platformtest.StormMessage
	places := []discordtest.ChannelState{{ID: c.agents}}
	places = append(places, c.AllThreads(c.agents)...)
	for _, at := range places {
		place := at.ID
		for _, m := range c.Messages(place) {
			if m.Kind != 0 && m.Kind != 19 && m.Kind != 20 || m.Author.ID != c.Bot().ID || m.OnlyFor != "" || !m.DeletedAt.IsZero() {
				continue
			}
			x := platformtest.StormMessage{ID: m.ID, Place: place, At: m.At, Text: unescaped(m.Content), ReplyTo: m.ReplyTo, Gone: !at.DeletedAt.IsZero()}
			for _, f := range m.Files {
				x.Text += string(f.Content)
			}
			for _, row := range m.Rows {
				for _, b := range row {
					x.Buttons = append(x.Buttons, b.Label)
				}
			}
			out = append(out, x)
		}
	}
	return out
}

// unescaped is a text without the backslashes of Markdown.
func unescaped(text string) string { return strings.ReplaceAll(text, `\`, "") }

func (c coast) Places(name string) []platformtest.StormPlace {
	var out []platformtest.StormPlace
	for _, t := range c.AllThreads(c.agents) {
		if isSessions(t.Name, name) {
			out = append(out, platformtest.StormPlace{ID: t.ID, Deleted: !t.DeletedAt.IsZero()})
		}
	}
	return out
}

func (c coast) Command() (string, error) { return c.ada.Say(c.agents, "/sessions") }

func (c coast) person(approver bool) *discordtest.Person {
	if approver {
		return c.ada
	}
	return c.bob
}

func (c coast) Write(name string, approver bool, text string) (string, error) {
	t, ok := c.thread(name)
	if !ok || t.Archived || t.Locked {
		return "", nil
	}
	return c.person(approver).Say(t.ID, text)
}

func (c coast) Edit(approver bool, message, text string) error {
	return c.person(approver).Edit(message, text)
}

// finalCodes are the codes that only a person can change something about, as far as is known, and
// what that is.
var finalCodes = map[int]string{
	4004: "token_file", 4010: "too many servers", 4011: "too many servers", 4012: "install a newer version", 4013: "install a newer version", 4014: "turn on the Message Content intent",
}

// rested is for how long the bot doesn't log in at most after logins that were refused as if a
// person had to do something.
const rested = 150 * time.Second

// Jolt has events come late and in another order; or ends connections in all ways, after which the
// session is taken up again, by which some events come twice, under their numbers or under others,
// or begun anew.
func (c coast) Jolt(r *rand.Rand) platformtest.Jolt {
	n := 1 + r.IntN(3)
	switch r.IntN(9) {
	case 0, 1:
		c.HoldMessages()
		return platformtest.Jolt{Name: "events wait", Settle: func() { c.ReleaseMessages(r.IntN) }}
	case 2, 3:
		c.RepeatEvents(r.IntN(4), r.IntN(4))
		c.DropGateways()
		return platformtest.Jolt{Name: "the connection breaks, and events come again"}
	case 4:
		codes := []int{1000, 1001, 4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007, 4008, 4009, 4010, 4011, 4012, 4013, 4014}
		code := codes[r.IntN(len(codes))]
		c.CloseGateways(code, "")
		j := platformtest.Jolt{Name: fmt.Sprint("closed with ", code), Forgets: true}
		if finalCodes[code] != "" {
			j.Rest = rested
		}
		return j
	case 5:
		c.InvalidateSessions(n == 1)
		return platformtest.Jolt{Name: fmt.Sprint("the session is invalid, resumable: ", n == 1), Forgets: n > 1}
	case 6:
		if n == 1 {
			c.ReconnectGateways()
			return platformtest.Jolt{Name: "asked to connect again"}
		}
		c.SilenceGateways()
		return platformtest.Jolt{Name: "no heartbeat is answered", Rest: 65 * time.Second}
	case 7:
		switch n {
		case 1:
			c.ForgetSessions()
		case 2:
			c.PutOffResumes(n)
		default:
			c.NumberFromZero()
			c.InvalidateSessions(false)
		}
		c.DropGateways()
		return platformtest.Jolt{Name: []string{"", "no session can be resumed", "resuming is put off", "numbered from 0"}[n], Forgets: n != 2}
	default:
		if r.IntN(2) == 0 {
			c.RefuseGateways(n)
		} else {
			c.MuteGateways(n, r.IntN(2) == 0)
		}
		c.DropGateways()
		return platformtest.Jolt{Name: "no gateway, or a mute one", Rest: 25 * time.Second, Settle: func() {
			c.RefuseGateways(0)
			c.MuteGateways(0, false)
		}}
	}
}

// Deafs are that no connection comes about, and that no login is taken.
func (c coast) Deafs() []platformtest.StormState {
	is := func(do func()) func() error { return func() error { do(); return nil } }
	out := []platformtest.StormState{
		{Name: "no gateway", Enter: is(func() { c.RefuseGateways(1 << 30); c.DropGateways() }), Leave: is(func() { c.RefuseGateways(0) })},
		{Name: "mute gateways", Enter: is(func() { c.MuteGateways(1<<30, true); c.DropGateways() }), Leave: is(func() { c.MuteGateways(0, true) }), Rest: 25 * time.Second},
	}
	for _, code := range slices.Sorted(maps.Keys(finalCodes)) {
		out = append(out, platformtest.StormState{
			Name: fmt.Sprint("logins are closed with ", code), Says: finalCodes[code], Rest: rested, Forgets: true,
			Enter: is(func() { c.RefuseLogins(code) }), Leave: is(func() { c.RefuseLogins(0) }),
		})
	}
	return out
}

// Slash gives the command with a name that no session has.
func (c coast) Slash(word string) (id, reply string, err error) {
	id, err = c.ada.Command(c.agents, "bind", map[string]any{"session": word})
	return id, "no session " + word, err
}

func (c coast) Push(m platformtest.StormMessage, label string) (string, error) {
	return c.ada.Press(m.ID, label)
}

func (c coast) Unheard(id string) bool {
	i, ok := c.Interaction(id)
	return ok && i.Failed(time.Now())
}

func (c coast) PressButton(m platformtest.StormMessage, label string) error {
	_, err := c.Press(true, m.ID, label)
	return err
}

func (c coast) Reply(m platformtest.StormMessage, text string) error {
	_, err := c.ada.Reply(m.Place, m.ID, text)
	return err
}

// Misjudged says that the bot counts as another program's, too.
func (c coast) Misjudged() string {
	if c.bot.Shared() {
		return "the bot counts as shared"
	}
	return ""
}

// saysNo is an answer of Discord's that says no.
func saysNo(status, code int, message string) *faults.Answer {
	return &faults.Answer{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: fmt.Sprintf(`{"code":%d,"message":%q}`, code, message)}
}

// silences are the forms in which silence is ordered for so many seconds.
func silences(n int) []*faults.Answer {
	after := strconv.Itoa(n)
	header := map[string]string{"Content-Type": "application/json", "Retry-After": after, "X-RateLimit-Scope": "shared"}
	global := map[string]string{"Content-Type": "application/json", "Retry-After": after, "X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}
	form := `{"message":"You are being rate limited.","retry_after":%s,"global":%t}`
	return []*faults.Answer{
		{Status: 429, Header: header, Body: fmt.Sprintf(form, after+".25", false)},
		{Status: 429, Header: header, Body: fmt.Sprintf(form, strconv.Quote(after), false)},
		{Status: 429, Header: global, Body: fmt.Sprintf(form, after, true)},
		{Status: 429, Header: header, Body: `{"message":"You are be`},
	}
}

// silenceByGuard is what stands in front of Discord, whose silence grows from a minute on. It's
// ordered at most twice in a storm.
func (c coast) silenceByGuard(*rand.Rand) (faults.Fate, time.Duration) {
	if c.guard == 2 {
		return faults.Fate{}, 0
	}
	c.guard++
	return faults.Fate{Lost: true, Answer: &faults.Answer{Status: 429, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>error code: 1015</html>"}}, time.Duration(c.guard) * time.Minute
}

func (c coast) Wrongs() []platformtest.Wrong {
	var odd []faults.Answer
	for _, name := range []string{"a login page", "a page, accepted", "nothing"} {
		odd = append(odd, foreignAnswers[name])
	}
	writes := func(c platformtest.StormCall) bool { return !c.Reads }
	common := append(platformtest.CommonWrongs(odd), platformtest.Changed("")...)
	return append(common,
		platformtest.Silence(silences,
			&faults.Answer{Status: 429, Header: map[string]string{"X-RateLimit-Scope": "user"}, Body: `{"message":"You are being rate limited.","global":false}`},
			&faults.Answer{Status: 429, Header: map[string]string{"X-RateLimit-Scope": "global"}, Body: `{"message":"You are being rate limited.","global":true}`},
		),
		platformtest.Wrong{Name: "the guard's silence", Draw: c.silenceByGuard},
		platformtest.Wrong{Name: "the token", Lasts: true, Draw: platformtest.AnsweredFate(saysNo(http.StatusUnauthorized, 0, "401: Unauthorized"))},
		platformtest.Wrong{Name: "no access", Hides: true, Fits: writes, Draw: platformtest.AnsweredFate(saysNo(http.StatusForbidden, 50001, "Missing Access"))},
		platformtest.Wrong{Name: "no thread", Loses: true, Fits: func(c platformtest.StormCall) bool { return c.Place != "" }, Draw: platformtest.AnsweredFate(saysNo(http.StatusNotFound, 10003, "Unknown Channel"))},
		platformtest.Wrong{Name: "no buttons", Fits: func(c platformtest.StormCall) bool { return c.Buttons }, Draw: platformtest.AnsweredFate(saysNo(http.StatusBadRequest, 50035, "Invalid Form Body"))},
	)
}

// isSessions says whether a thread is of a session: it's called "session" where its name is
// refused, which only the first session's can be.
func isSessions(thread, session string) bool {
	return thread == session || thread == "session" && session == "agent"
}

// thread is the newest of a session's name; false: there's none.
func (c coast) thread(name string) (discordtest.ChannelState, bool) {
	for _, t := range slices.Backward(c.Threads(c.agents)) {
		if isSessions(t.Name, name) {
			return t, true
		}
	}
	return discordtest.ChannelState{}, false
}

// inThread does something with the first session's thread, if it has one.
func (c coast) inThread(do ...func(thread string) error) func() error {
	return func() error {
		t, ok := c.thread("agent")
		if !ok {
			return nil
		}
		var errs []error
		for _, do := range do {
			errs = append(errs, do(t.ID))
		}
		return errors.Join(errs...)
	}
}

func (c coast) States() []platformtest.StormState {
	var states []platformtest.StormState
	for _, word := range []string{"print", "question", "agent", "working"} {
		states = append(states, platformtest.StormState{Name: "AutoMod blocks " + word, Enter: func() error { c.house.SetAutoMod(word); return nil }})
	}
	for name, p := range map[string]discordtest.Permission{
		"reactions": discordtest.AddReactions, "pins": discordtest.PinMessages, "files": discordtest.AttachFiles, "history": discordtest.ReadHistory,
	} {
		states = append(states, platformtest.StormState{Name: "no right to " + name, Bare: p == discordtest.ReadHistory, Enter: func() error { c.house.Deny(p); return nil }})
	}
	slices.SortFunc(states, func(a, b platformtest.StormState) int { return strings.Compare(a.Name, b.Name) })
	view := func(change func(p discordtest.Permission)) func() error {
		return func() error { change(discordtest.ViewChannel); return nil }
	}
	deaf := func(is bool) func() error { return func() error { c.deaf.Store(is); return nil } }
	return append(states,
		platformtest.StormState{Name: "threads can't be written to", Deaf: true, Enter: deaf(true), Leave: deaf(false)},
		platformtest.StormState{Name: "the channel isn't seen", Hides: true, Enter: view(c.house.Deny), Leave: view(c.house.Allow)},
		platformtest.StormState{Name: "the thread is archived", Enter: c.inThread(c.ada.Archive), Leave: c.inThread(c.ada.Unarchive)},
		platformtest.StormState{Name: "the thread is locked", Enter: c.inThread(c.ada.Lock, c.ada.Archive), Leave: c.inThread(c.ada.Unlock, c.ada.Unarchive)},
		platformtest.StormState{Name: "the thread is deleted", Loses: true, Enter: c.inThread(c.ada.DeleteChannel)},
	)
}

// Whatever goes wrong with calls, nothing is lost, doubled without a mark, or hidden.
func TestStorms(t *testing.T) {
	platformtest.Storms(t, func(t *testing.T, dir string, play func(testing.TB, platformtest.Coast)) {
		t.Helper()
		inBubble(t, discordtest.Options{}, func(w *world) {
			o := w.office(w.agents, dir)
			w.noErr(w.noting(o.notes).SetCommands(w.Context(), commands.Commands()))
			play(w, coast{o})
		})
	}, 7098753224840788636, 7098753224840788751, 100293, 100823, 600136, 600169, 500060, 2000111, 2006480, 2036815, 2038956, 2040045, 4001129, 4012558)
}

// After a failure that was answered the chat goes on, whatever call it hit.
func TestSilenceAfterAnsweredFailures(t *testing.T) {
	answered := []string{"internal error", "bad gateway", "a proxy's no", "reset", "half an answer", "an odd answer", "the token", "no buttons"}
	platformtest.Silences(t, qos.Window{Calls: 5, Per: 5 * time.Second}, answered, func(t *testing.T, dir string, play func(testing.TB, platformtest.Coast)) {
		t.Helper()
		inBubble(t, discordtest.Options{}, func(w *world) { play(w, coast{w.office(w.agents, dir)}) })
	})
}

// address is the target of a link, which stands behind the link's text when a message is
// read as its source.
const address = "https://example.invalid/path?a=1&b=2"

func TestWhatAnAgentAnswersIsThereOnce(t *testing.T) {
	platformtest.Answers(t, func(t *testing.T, test func(c platformtest.AnswersChat)) {
		t.Helper()
		inBubble(t, discordtest.Options{}, func(w *world) {
			test(platformtest.AnswersChat{
				Bridge: w.bridge(adapters.MirrorRule{Session: "*", To: target(w.plain, "")}).Bridge,
				Seen:   func() []adaptertest.Message { return w.seen(w.plain) },
				Bare:   func(text string) string { return strings.ReplaceAll(text, address, "") },
			})
			w.noRefusals()
		})
	})
}
