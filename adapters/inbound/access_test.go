package inbound_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// count is how many things a test with random ones tries.
func count(usual, full int) int {
	switch {
	case drawtest.Stressed():
		return full
	case testing.Short():
		return max(usual/10, 1)
	default:
		return usual
	}
}

// Whatever a stranger does: nothing is typed, answered, posted, fetched or written,
// and the log has one line an hour.
func TestStrangersGetSilence(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(ann, "/help")
		offers := w.staleOffer()
		w.hub.take()
		w.chat.take()
		w.chat.files = map[string]string{"f": "content"}
		before := listed(w.T, w.dir)
		random := rand.New(rand.NewPCG(1, 1))
		n := count(2000, 100_000)
		for i := range n {
			ev := w.event(evil, w.hostile(random, offers))
			if random.IntN(4) == 0 {
				ev.Person.ID = fmt.Sprint("chat:", 10_000+random.IntN(1_000_000))
			}
			if random.IntN(10) == 0 {
				ev.Person.ID = ""
			}
			if random.IntN(3) == 0 {
				ev.Place.Chat, ev.Private = strings.TrimPrefix(evil, "chat:"), true
			}
			w.do(ev)
			if i%1000 == 0 {
				w.pass(time.Second)
			}
		}
		w.pass(time.Minute)
		w.wantTyped()
		w.wantPosts()
		if got := w.chat.take(); len(got) > 0 || w.chat.fetches > 0 {
			w.Errorf("answers %q and %d fetches, want none", got, w.chat.fetches)
		}
		if after := listed(w.T, w.dir); after != before {
			w.Errorf("files before: %s\nafter: %s", before, after)
		}
		if got := w.in.Strangers(); got != uint64(n) {
			w.Errorf("%d strangers were counted, want %d", got, n)
		}
		if entries, err := w.store.AuditEntries(w.Context(), 10); err != nil || len(entries) != 2 {
			w.Errorf("the audit log has %d entries, %v; want the 2 of people who were let in", len(entries), err)
		}
		if lines := strings.Count(w.log.String(), `person=`+evil+` `); lines > 2 {
			w.Errorf("%d log lines about one stranger within an hour", lines)
		}
		if lines := strings.Count(w.log.String(), "stranger is ignored"); lines > 1000 {
			w.Errorf("%d log lines about strangers within an hour", lines)
		}
	})
}

func (w *world) hostile(random *rand.Rand, offers []string) intake.Action {
	texts := []string{
		"hello", "/help", "/pair", "/pair AAAAAAAA", "/pair \x00", "//x", "/", "", "/bind agent", "/pair@bot 22222222", strings.Repeat("/pair ", 1000),
		"'; DROP TABLE grants; --", "\x1b[31m",
	}
	switch random.IntN(4) {
	case 0:
		return intake.Edited{Text: texts[random.IntN(len(texts))]}
	case 1:
		return intake.Pressed{Data: append(offers, "", "o:", "o:zz", "o:0000000000000000", "../../x")[random.IntN(len(offers)+5)], Token: "t"}
	case 2:
		return intake.Said{
			Text: texts[random.IntN(len(texts))], Files: []intake.Attachment{{ID: "f", Name: "../../../etc/passwd", Kind: intake.FileDocument, Size: 1 << 40}},
		}
	default:
		return intake.Said{Text: texts[random.IntN(len(texts))], ReplyTo: "1"}
	}
}

// staleOffer makes an old message, and returns its buttons.
func (w *world) staleOffer() []string {
	w.Helper()
	ev := w.event(ann, intake.Said{Text: "rm -rf ."})
	ev.At = time.Now().Add(-time.Hour)
	w.do(ev)
	posts := w.hub.take()
	return []string{w.button(posts, "Run"), w.button(posts, "Skip")}
}

// listed are the files below a folder, but for the database.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if !strings.HasPrefix(filepath.Base(path), "db") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// Strangers who come in great numbers take no memory.
func TestStrangersTakeNoMemory(t *testing.T) {
	inWorld(t, func(w *world) {
		knock := func(n int) {
			for range n {
				ev := w.event("", intake.Said{Text: "/pair 22222222"})
				ev.Person.ID = fmt.Sprint("chat:", 1000+w.events)
				if err := w.in.Handle(w.Context(), ev); err != nil {
					w.Fatal(err)
				}
			}
			w.log.Reset()
			runtime.GC()
		}
		n := count(10_000, 100_000)
		knock(n)
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		knock(n)
		runtime.ReadMemStats(&b)
		if grown := int64(b.HeapAlloc) - int64(a.HeapAlloc); grown > 1<<20 {
			w.Errorf("%d further strangers took %d bytes", n, grown)
		}
	})
}

func TestAKnownPersonInAnUnknownChatIsAStranger(t *testing.T) {
	inWorld(t, func(w *world) {
		elsewhere := adapters.Target{Adapter: "chat", Chat: "-9"}
		at := func(person, text string) {
			ev := w.event(person, intake.Said{Text: text})
			ev.Place = elsewhere
			w.do(ev)
		}
		at(ann, "/help")
		at(cleo, "/help")
		at(ann, "/bind agent")
		w.wantPosts()
		at(cleo, "/bind agent") // an admin adopts chats
		w.wantPosts("mirrored here")
		at(ann, "/help")
		w.wantPosts("/sessions")
		elsewhere.Chat = "-10"
		w.bind(w.session("here"), elsewhere, true)
		at(ann, "/help") // a chat that mirrors something is known
		w.wantPosts("/sessions")
	})
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		has  access.Roles
		want map[access.Role]bool
	}{
		{nil, nil},
		{roles(access.Viewer), map[access.Role]bool{access.Viewer: true}},
		{roles(access.Operator), map[access.Role]bool{access.Viewer: true, access.Operator: true}},
		{roles(access.Approver), map[access.Role]bool{access.Viewer: true, access.Approver: true}},
		{roles(access.Admin), map[access.Role]bool{access.Viewer: true, access.Operator: true, access.Approver: true, access.Admin: true}},
	} {
		for _, r := range []access.Role{access.Viewer, access.Operator, access.Approver, access.Admin} {
			if c.has.Has(r) != c.want[r] {
				t.Errorf("%v has %s: %v", c.has, r, c.has.Has(r))
			}
		}
	}
}

// pairAt sends a code as somebody, in private or in a chat.
func (w *world) pairAt(person, code, chat string) {
	w.Helper()
	ev := w.event(person, intake.Said{Text: "/pair " + code})
	ev.Place = adapters.Target{Adapter: "chat", Chat: chat}
	ev.Private = !strings.HasPrefix(chat, "-")
	w.do(ev)
}

func (w *world) code(role access.Role) string {
	w.Helper()
	code, _, err := w.in.MakePairingCode(w.Context(), role, "cli")
	if err != nil {
		w.Fatal(err)
	}
	return code
}

func TestPairingLetsAPersonInOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		code := w.code(access.Operator)
		w.pairAt(evil, strings.ToLower(code[:4])+"-"+code[4:], "666")
		w.wantPosts("as operator")
		w.say(evil, "typed by a friend now")
		w.pass(5 * time.Second)
		w.pairAt("chat:667", code, "667") // somebody read over their shoulder
		w.restart()
		w.pairAt("chat:667", code, "667")
		w.say(evil, "and after a restart")
		w.pass(5 * time.Second)
		w.wantTyped("typed by a friend now", "and after a restart")
		w.wantPosts("👍", "👍")
		if _, err := w.in.RevokeRoles(w.Context(), evil, "", "cli"); err != nil {
			w.Fatal(err)
		}
		w.say(evil, "not any more")
		w.restart()
		w.say(evil, "not any more")
		w.pass(5 * time.Second)
		w.wantPosts()
	})
}

func TestPairingInAGroupMakesItKnown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pairAt(evil, w.code(access.Viewer), "-77")
		w.wantPosts("this chat is known now")
		w.restart()
		ev := w.event(ann, intake.Said{Text: "/help"})
		ev.Place.Chat = "-77"
		w.do(ev)
		w.wantPosts("/sessions")
		if !w.in.KnowsChat(ev.Place) {
			w.Error("the chat isn't known")
		}
	})
}

func TestCodesExpireAndCannotBeGuessed(t *testing.T) {
	inWorld(t, func(w *world) {
		old := w.code(access.Admin)
		w.pass(10*time.Minute + time.Second)
		w.pairAt(evil, old, "666")
		w.wantPosts()
		code := w.code(access.Admin)
		for range 5 {
			w.pairAt(evil, "22222222", "666")
		}
		w.pairAt(evil, code, "666") // right, but too late
		w.wantPosts()
		for i := range 1100 {
			w.pairAt(fmt.Sprint("chat:", 5000+i), "22222222", fmt.Sprint(5000+i))
		}
		w.pairAt("chat:7777", code, "7777")
		w.wantPosts()
		w.pass(10 * time.Minute)
		w.pairAt("chat:7777", w.code(access.Admin), "7777")
		w.wantPosts("as admin")
	})
}

func TestTheSameUpdateIsPairedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		ev := w.event(evil, intake.Said{Text: "/pair " + w.code(access.Viewer)})
		w.do(ev)
		w.do(ev)
		w.wantPosts("as viewer", "as viewer")
	})
}

func TestCodesAreRandomAndFew(t *testing.T) {
	inWorld(t, func(w *world) {
		seen := map[string]bool{}
		for range 20 {
			code := w.code("")
			if len(code) != 8 || strings.ContainsAny(code, "01OIL") || seen[code] {
				w.Errorf("code %q", code)
			}
			seen[code] = true
		}
		if _, _, err := w.in.MakePairingCode(w.Context(), "", "cli"); err == nil {
			w.Error("there's a 21st code")
		}
		if _, _, err := w.in.MakePairingCode(w.Context(), "king", "cli"); err == nil {
			w.Error("there's a role king")
		}
		data, err := os.ReadFile(filepath.Join(w.dir, "db-wal"))
		if err != nil {
			w.Fatal(err)
		}
		for code := range seen {
			if strings.Contains(string(data), code) {
				w.Errorf("code %s is in the database", code)
			}
		}
	})
}

func TestThePairCommandIsForAdminsInPrivate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(ann, "/pair")
		w.say(cleo, "/pair viewer")
		w.wantPosts("takes the role admin", "private chat")
		ev := w.event(cleo, intake.Said{Text: "/pair viewer"})
		ev.Place, ev.Private = adapters.Target{Adapter: "chat", Chat: "3"}, true
		w.do(ev)
		text := w.wantPosts("becomes viewer")[0].Text
		_, code, _ := strings.Cut(text, "/pair ")
		w.pairAt(evil, code[:8], "666")
		w.wantPosts("as viewer")
	})
}

func TestEveryInputIsInTheAuditLog(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(ann, "a secret text")
		w.say(ann, "/help me")
		w.press(ann, "o:forged")
		w.pairAt(evil, w.code(access.Viewer), "666")
		w.say(bob, "viewer's text")
		w.pass(5 * time.Second)
		entries, err := w.store.AuditEntries(w.Context(), 10)
		if err != nil {
			w.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			outcome := e.Outcome
			if strings.HasPrefix(outcome, "in_") {
				outcome = "receipt"
			}
			got = append(got, fmt.Sprintf("%s %s %s %s %d %v %s", e.Person, e.Kind, e.What, e.Place.Chat, e.Bytes, e.Session != "", outcome))
		}
		want := []string{
			"chat:2 text  -1 13 false role",
			"chat:666 pair viewer 666 0 false done",
			"chat:1 button  -1 0 false forged",
			"chat:1 command help -1 8 false done",
			"chat:1 text  -1 13 true receipt",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			w.Errorf("audit log:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if strings.Contains(w.log.String(), "secret") {
			w.Error("what somebody wrote is in the log")
		}
		synctest.Wait()
	})
}
