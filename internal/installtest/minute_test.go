package installtest_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// What somebody may need from a Debian without anything to an answered message.
const (
	mostCommands = 4
	mostTime     = 3 * time.Minute
)

// way is one to install panebridge on a Debian that has neither it nor what it needs.
type way struct {
	file    string   // of the release, which ada has downloaded
	install []string // commands
	program string   // how it's called then; empty: as the installation has said
	remove  string
}

var ways = map[string]way{
	"deb": {
		file: "panebridge_*_" + runtime.GOARCH + ".deb", install: []string{"sudo apt install ./panebridge_*.deb"},
		remove: "sudo apt remove panebridge",
	},
	"archive": {
		file: "panebridge_*_" + system + ".tar.gz", install: []string{"sudo apt install tmux", "tar -xzf panebridge_*.tar.gz"},
		program: "panebridge_*/panebridge", remove: "rm -r panebridge_*/",
	},
	"install.sh": {
		install: []string{"sudo apt install curl tmux", "curl -fsSL $RELEASE/install.sh | sh"},
		remove:  "curl -fsSL $RELEASE/install.sh | sh -s -- --uninstall",
	},
}

// toldNext is what install.sh says to do next, or the package's script.
var toldNext = regexp.MustCompile(`next[:,](?: run)? "?(\S+) init`)

// Whoever has a Debian and what README says has a message answered within three minutes, by four commands, and
// after the removal nothing is left but what panebridge keeps, whose folders are named.
func TestFirstMinute(t *testing.T) {
	dist := os.Getenv(distVar)
	if dist == "" {
		t.Skip("takes a release: scripts/first-minute.sh makes one and runs this")
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil || os.Getuid() != 0 {
		t.Skipf("takes root and mmdebstrap (%v)", err)
	}
	archive := makeDebian(t)
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		t.Run(name, func(t *testing.T) { installAnswerRemove(t, ways[name], newDebian(t, archive), dist) })
	}
}

func installAnswerRemove(t *testing.T, way way, d *debian, dist string) {
	t.Helper()
	chat := telegramtest.New(telegramtest.Options{})
	ada := chat.AddUser(telegramtest.User{FirstName: "Ada"})
	forum := chat.AddForum("Agents", ada)
	telegram := httptest.NewServer(chat)
	t.Cleanup(telegram.Close)
	releases := httptest.NewServer(releaseOf(dist))
	t.Cleanup(releases.Close)

	if way.file != "" {
		found, err := filepath.Glob(filepath.Join(dist, way.file))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s has %v, %v", way.file, found, err)
		}
		d.give(found[0])
	}
	before := d.files()
	desk := d.login("RELEASE="+releases.URL, "PANEBRIDGE_BASE_URL="+releases.URL)

	yes := func() string { return "y\n" }
	began, commands := time.Now(), 0
	var said string
	for _, command := range way.install {
		said = desk.do(command, reply{regexp.MustCompile(`\[Y/n\] `), yes})
		commands++
	}
	program := way.program
	if program == "" {
		next := toldNext.FindStringSubmatch(said)
		if next == nil {
			t.Fatalf("it doesn't say what's next:\n%s", said)
		}
		program = next[1]
	}
	say := func(text string) string {
		if _, err := ada.Say(telegramtest.Place{Chat: forum}, text); err != nil {
			t.Error(err)
		}
		return ""
	}
	desk.do(
		program+" init --api-url "+telegram.URL,
		reply{regexp.MustCompile(`it isn't shown\):`), func() string { return chat.Token() + "\n" }},
		reply{regexp.MustCompile(`write any message`), func() string { return say("hello") }},
		reply{regexp.MustCompile(`\[y/N\]`), yes}, reply{regexp.MustCompile(`\[Y/n\]`), yes},
	)
	desk.write(program + " run\n")
	commands += 2

	// All else is in the chat.
	say("/new shell ~")
	topic := awaitTopic(t, chat, forum)
	if _, err := ada.Say(topic, "echo answer $((6 * 7))"); err != nil {
		t.Fatal(err)
	}
	awaitSeen(t, chat, topic, "answer 42")
	took := time.Since(began)
	t.Logf("%d commands and %v to an answer", commands, took.Round(time.Second))
	if commands > mostCommands || took > mostTime {
		t.Errorf("it's too much: %d commands and %v are allowed", mostCommands, mostTime)
	}
	desk.write("\x03")
	desk.await(prompt)

	said = desk.do(way.remove, reply{regexp.MustCompile(`\[Y/n\] `), yes})
	for _, folder := range []string{"/home/ada/.local/state/panebridge", "/home/ada/.config/panebridge"} {
		if way.file == "" && !strings.Contains(said, folder) {
			t.Errorf("the removal doesn't name %s:\n%s", folder, said)
		}
		if _, err := os.Stat(filepath.Join(d.root, folder)); err != nil {
			t.Error(err)
		}
	}
	if left := d.leftBesideState(before); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
	if packages := desk.do("dpkg --list '*pane*' 2>&1 || true"); !strings.Contains(packages, "no packages found") {
		t.Errorf("dpkg remembers it:\n%s", packages)
	}
}

// releaseOf serves a release as people find it: install.sh is one of its files.
func releaseOf(dist string) http.Handler {
	files := http.FileServer(http.Dir(dist))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/install.sh" {
			http.ServeFile(w, r, script)
			return
		}
		files.ServeHTTP(w, r)
	})
}

// awaitTopic waits for the topic of the one session.
func awaitTopic(t *testing.T, chat *telegramtest.Server, forum int64) telegramtest.Place {
	t.Helper()
	for until := time.Now().Add(hung); ; time.Sleep(50 * time.Millisecond) {
		if topics := chat.Topics(forum); len(topics) > 0 {
			return topics[0].Place
		}
		if time.Now().After(until) {
			t.Fatalf("the group has no topic:\n%s", seen(chat, telegramtest.Place{Chat: forum}))
		}
	}
}

// awaitSeen waits until a text stands in a topic.
func awaitSeen(t *testing.T, chat *telegramtest.Server, at telegramtest.Place, want string) {
	t.Helper()
	for until := time.Now().Add(hung); !strings.Contains(seen(chat, at), want); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("nothing says %q:\n%s", want, seen(chat, at))
		}
	}
}

// seen is all that stands in a place.
func seen(chat *telegramtest.Server, at telegramtest.Place) string {
	var all strings.Builder
	for _, m := range chat.See(at) {
		all.WriteString(m.Text + "\n")
	}
	return all.String()
}

// kept is what stays: the state, the settings, apt's own, what packages from Debian make (certificates, shells), and what
// a shell and tmux leave.
var kept = regexp.MustCompile(`^(home/ada/\.(config|local/state)(/panebridge(/.*)?)?|home/ada/\.(local|bash_history)|` +
	`var/(lib/(dpkg|apt)|cache/(apt|debconf|ldconfig)|log/apt)(/.*)?|var/log/(dpkg|alternatives)\.log|etc/ld\.so\.cache|etc/alternatives/.*|` +
	`etc/(ca-certificates\.conf|ssl/certs/.*|shells)|usr/local/share/ca-certificates|var/lib/shells\.state|tmp/tmux-1000(/default)?)$`)

// leftBesideState returns the files that weren't there before, are another, or are missing, and belong to nobody.
func (d *debian) leftBesideState(before map[string]string) []string {
	d.Helper()
	after, owned := d.files(), d.owned()
	var left []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != after[name] && !owned[name] && !kept.MatchString(name) || strings.Contains(name, "dpkg/info/panebridge") {
			left = append(left, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[name]; !there && !kept.MatchString(name) {
			left = append(left, "missing: "+name)
		}
	}
	return left
}
