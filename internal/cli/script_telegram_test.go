package cli_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// scriptForum is a stand-in for Telegram with a forum, for one script.
type scriptForum struct {
	*telegramtest.Server
	owner *telegramtest.Person
	forum int64
}

// forumKey is where a script's stand-in is kept.
type forumKey struct{}

// forumStates are what a script can do to its bot in the forum.
var forumStates = map[string]func(*scriptForum) error{
	"kicked":   func(f *scriptForum) error { return f.owner.KickBot(f.forum) },
	"muted":    func(f *scriptForum) error { return f.owner.MuteBot(f.forum) },
	"no-right": func(f *scriptForum) error { return f.owner.SetBotRights(f.forum, &telegramtest.Rights{}) },
	"deaf":     func(f *scriptForum) error { f.SetDeafTopics(f.forum, true); return nil },
	"hearing":  func(f *scriptForum) error { f.SetDeafTopics(f.forum, false); return nil },
	"silent":   func(f *scriptForum) error { f.Penalise(f.forum, "", time.Minute); return nil },
	"well": func(f *scriptForum) error {
		rights := telegramtest.AllRights()
		return f.owner.AddBot(f.forum, &rights)
	},
}

// telegramCommand is `telegram start`, which begins a stand-in with a forum and sets $API, $FORUM
// and the file $S/token, and `telegram STATE` for one of forumStates.
func telegramCommand(ts *testscript.TestScript, neg bool, args []string) {
	forum, _ := ts.Value(forumKey{}).(*scriptForum)
	switch {
	case neg || len(args) != 1:
		ts.Fatalf("usage: telegram start|STATE")
	case args[0] == "start":
		forum.begin(ts)
	case forumStates[args[0]] == nil:
		ts.Fatalf("unknown state %q", args[0])
	default:
		ts.Check(forumStates[args[0]](forum))
	}
}

func (f *scriptForum) begin(ts *testscript.TestScript) {
	f.Server = telegramtest.New(telegramtest.Options{})
	f.owner = f.AddUser(telegramtest.User{FirstName: "Ada"})
	f.forum = f.AddForum("Agents", f.owner)
	server := httptest.NewServer(f.Server)
	ts.Defer(server.Close)
	ts.Setenv("API", server.URL)
	ts.Setenv("FORUM", strconv.FormatInt(f.forum, 10))
	if err := os.WriteFile(filepath.Join(ts.Getenv("S"), "token"), fmt.Appendln(nil, f.Token()), 0o600); err != nil {
		ts.Fatalf("%v", err)
	}
}
