package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redistest"
)

// Two daemons poll one bot's updates, with Redis and without: what people write for sessions of
// the one that reads is typed once, what they write for the other's is answered, and nothing
// goes silently. Who doesn't read is red. When the reader is killed the other one takes over.
func TestTwoDaemonsOnOneToken(t *testing.T) {
	slow(t)
	for name, shared := range map[string]bool{"with redis": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTwoReaders(t, shared)
			r.awaitOneRed()
			if shared {
				r.daemons[0].await("word over Redis who reads", func() bool { return r.says(0, "over Redis") || r.says(1, "over Redis") })
			}
			r.write(texts())
			r.awaitAccounted()
			r.check(shared)
			if shared || drawtest.Stressed() {
				r.takeOver()
			}
		})
	}
}

// texts is how many texts people write.
func texts() int {
	if drawtest.Stressed() {
		return 400
	}
	return 60
}

// perDaemon is how many sessions each daemon has.
const perDaemon = 3

// twoReaders are two daemons with one bot's token, and one forum in which both show their
// sessions.
type twoReaders struct {
	*testing.T
	*telegramtest.Server
	person  *telegramtest.Person
	forum   int64
	daemons []*killRig
	begun   time.Time // when both were there
	places  []place
	written []writtenText
}

// place is a session's topic, and the file that has what was typed into the session.
type place struct {
	daemon int
	at     telegramtest.Place
	file   string
}

// writtenText is a message of a person's.
type writtenText struct {
	message int
	text    string
	place   int
}

// newTwoReaders starts both daemons, and their sessions.
func newTwoReaders(t *testing.T, shared bool) *twoReaders {
	t.Helper()
	plenty := []telegramtest.Window{{Calls: 1_000_000, Per: time.Second}}
	r := &twoReaders{T: t, Server: telegramtest.New(telegramtest.Options{Limits: telegramtest.Limits{Group: plenty, Private: plenty, Bot: plenty}})}
	r.person = r.AddUser(telegramtest.User{FirstName: "P"})
	r.forum = r.AddForum("Agents", r.person)
	redis := ""
	if shared {
		server, err := redistest.New(context.Background(), t.TempDir(), false)
		if err == nil {
			err = server.Start(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Kill)
		redis = fmt.Sprintf("redis: {addrs: [%q], max_processes: 2}\n", server.Addr)
	}
	url := onAPort(t, r)
	for range 2 {
		k := newKillRig(t)
		text := fmt.Sprintf(`tmux: {servers: [{socket_path: %q}]}
polling: {output_cadence_s: 0.2, focus_cadence_s: 0.2}
access: {operators: ["telegram:%d"]}
%sadapters:
  web: {enabled: false}
  telegram:
    enabled: true
    token: %q
    api_url: %s
    qos: {mode: "off"}
    chats: [{id: %d, topics: true}]
mirrors: [{session: "*", to: "telegram:%d", view: stream, input: true}]
`, k.socket, r.person.ID, redis, r.Token(), url, r.forum, r.forum)
		if err := os.WriteFile(filepath.Join(k.dir, "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k.run()
		k.await("the daemon", func() bool {
			_, err := k.api.Health(k.ctx())
			return err == nil
		})
		r.daemons = append(r.daemons, k)
	}
	r.begun = time.Now()
	for d := range r.daemons {
		for n := range perDaemon {
			r.begin(d, fmt.Sprintf("agent-%d-%d", d, n))
		}
	}
	return r
}

// begin has a daemon make a session that writes down what's typed into it.
func (r *twoReaders) begin(d int, name string) {
	r.Helper()
	k := r.daemons[d]
	p := place{daemon: d, file: filepath.Join(k.dir, name)}
	script := `while read -r line; do echo "$line" >> "$1"; done`
	if _, err := k.api.NewSession(k.ctx(), api.Create{Name: name, Cwd: k.dir, Command: []string{"sh", "-c", script, name, p.file}}); err != nil {
		r.Fatal(err)
	}
	k.await("a topic of "+name, func() bool {
		for _, t := range r.Topics(r.forum) {
			if t.Name == name {
				p.at = t.Place
			}
		}
		return p.at.Thread != 0
	})
	r.places = append(r.places, p)
}

// red reports whether a daemon says that it doesn't read.
func (r *twoReaders) red(d int) bool { return r.says(d, "") }

// says reports whether it says so in these words.
func (r *twoReaders) says(d int, words string) bool {
	h, err := r.daemons[d].api.Health(r.daemons[d].ctx())
	return err == nil && slices.ContainsFunc(h.Parts, func(p api.HealthPart) bool {
		return p.Name == "telegram" && p.State == api.HealthDown && strings.Contains(p.Detail, words)
	})
}

// awaitOneRed waits until one of the two says that it doesn't read.
func (r *twoReaders) awaitOneRed() {
	r.Helper()
	r.daemons[0].await("one to be red", func() bool { return r.red(0) || r.red(1) })
	took := time.Since(r.begun)
	r.Logf("one is red %s after both were there", took.Round(100*time.Millisecond))
	if drawtest.Stressed() && took > 10*time.Second {
		r.Error("that's more than 10 s")
	}
}

// write has a person write so many texts to sessions, at random.
func (r *twoReaders) write(n int) {
	r.Helper()
	random := r.daemons[0].random
	for range n {
		r.say(random.IntN(len(r.places)))
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
	}
}

func (r *twoReaders) say(place int) {
	r.Helper()
	text := fmt.Sprintf("text-%d", len(r.written))
	id, err := r.person.Say(r.places[place].at, text)
	if err != nil {
		r.Fatal(err)
	}
	r.written = append(r.written, writtenText{id, text, place})
}

// typed counts how often a text was typed into its session.
func (r *twoReaders) typed(w writtenText) (n int) {
	r.Helper()
	all, err := os.ReadFile(r.places[w.place].file)
	if err != nil && !os.IsNotExist(err) {
		r.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		if strings.TrimSpace(line) == w.text {
			n++
		}
	}
	return n
}

// answered reports whether somebody was told that a text wasn't typed: in words, which say why and
// may stand for several, or by a sign. Words that others join while they're being sent are edited, and stay below
// the last of those that they were sent for.
func (r *twoReaders) answered(w writtenText) bool {
	here := slices.DeleteFunc(slices.Clone(r.written), func(o writtenText) bool { return o.place != w.place })
	for _, m := range r.See(r.places[w.place].at) {
		if m.ID == w.message && len(m.Reactions) > 0 && m.Reactions[0].Emoji == "🤷" {
			return true
		}
		if !m.From.IsBot || !strings.Contains(m.Text, " shares its bot") {
			continue
		}
		last, texts := slices.IndexFunc(here, func(o writtenText) bool { return o.message == m.ReplyTo }), untypedTexts(m.Text)
		sentFor := texts
		if len(m.History) > 0 {
			sentFor = untypedTexts(m.History[0].Text)
		}
		if first := last - sentFor + 1; last >= 0 && slices.Contains(here[max(0, first):min(len(here), first+texts)], w) {
			return true
		}
	}
	return false
}

// untypedTexts is how many texts an answer stands for.
func untypedTexts(answer string) int {
	texts := 1
	_, _ = fmt.Sscanf(unmarked(answer), "None of your last %d texts was typed.", &texts) // else it's of one
	return texts
}

// unmarked is a message without the mark of one that may be there already.
func unmarked(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(text, "[sent once more: this may be here already]"))
}

// awaitAccounted waits until each text was typed or answered.
func (r *twoReaders) awaitAccounted() {
	r.Helper()
	var missing writtenText
	left := slices.Clone(r.written)
	defer func() {
		if len(left) > 0 {
			r.Logf("%q to %s went silently", missing.text, r.places[missing.place].file)
			for _, m := range r.See(r.places[missing.place].at) {
				r.Logf("%s: %q", m.At.Format(time.TimeOnly), m.Text)
			}
		}
	}()
	r.daemons[0].await("each text to be typed or answered", func() bool {
		left = slices.DeleteFunc(left, func(w writtenText) bool { return r.typed(w) > 0 || r.answered(w) })
		if len(left) > 0 {
			missing = left[0]
		}
		return len(left) == 0
	})
}

// check counts what came of the texts. Where Redis says who reads, that one's texts are all
// typed; without it who stands back tries again now and then, and answers what comes to it.
func (r *twoReaders) check(shared bool) {
	r.Helper()
	var typed, answered [2]int
	for _, w := range r.written {
		n := r.typed(w)
		switch d := r.places[w.place].daemon; {
		case n > 1:
			r.Errorf("%q was typed %d times", w.text, n)
		case n == 1:
			typed[d]++
		default:
			answered[d]++
		}
	}
	r.Logf("typed %d and %d, answered %d and %d", typed[0], typed[1], answered[0], answered[1])
	reads := 0
	if typed[1] > typed[0] {
		reads = 1
	}
	if typed[reads] == 0 || shared && (answered[reads] > 0 || typed[1-reads] > 0) {
		r.Errorf("of the texts for sessions of the one that reads %d were typed and %d were not; %d of the other's", typed[reads], answered[reads], typed[1-reads])
	}
}

// takeOver kills the one that reads, and waits until the other does.
func (r *twoReaders) takeOver() {
	r.Helper()
	reads := 0
	r.daemons[0].await("one of the two to read", func() bool {
		zero, one := r.red(0), r.red(1)
		if reads = 0; zero {
			reads = 1
		}
		return zero != one
	})
	r.daemons[reads].kill()
	killed := time.Now()
	other := 1 - reads
	for end := time.Now().Add(16 * time.Minute); r.red(other); time.Sleep(100 * time.Millisecond) { // it stands back for at most 15
		if time.Now().After(end) {
			r.Fatal("the other doesn't take over")
		}
	}
	r.Logf("the other reads %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	before := len(r.written)
	for p := range r.places {
		r.say(p)
	}
	r.awaitAccounted()
	for _, w := range r.written[before:] {
		if n := r.typed(w); (n == 1) != (r.places[w.place].daemon == other) {
			r.Errorf("%q to %s was typed %d times", w.text, r.places[w.place].file, n)
		}
	}
}
