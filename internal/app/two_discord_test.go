package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// Two daemons run with one bot, and show their sessions in threads of one channel. What people
// write in a thread is typed once, by whose it is, over kills of either, and the other says no word
// there. What's written in the channel itself is answered once, and a slash command done once.
func TestTwoDaemonsOnOneBot(t *testing.T) {
	slow(t)
	r := newTwoOnDiscord(t)
	kills := 3
	if drawtest.Stressed() {
		kills = 20
	}
	for i := range texts() {
		r.act(i)
		if every := texts() / kills; i%every == every/2 {
			d := r.daemons[r.daemons[0].random.IntN(2)]
			d.kill()
			r.say(r.daemons[0].random.IntN(len(r.places)))
			d.run()
			d.await("the daemon", func() bool {
				_, err := d.api.Health(d.ctx())
				return err == nil && r.Gateways() == 2
			})
		}
		time.Sleep(time.Duration(r.daemons[0].random.IntN(300)) * time.Millisecond)
	}
	r.awaitTyped()
	r.check(kills)
}

// twoOnDiscord are two daemons with one bot's token, and one channel in which both show their
// sessions.
type twoOnDiscord struct {
	*testing.T
	*discordtest.Server
	person  *discordtest.Person
	channel string
	daemons []*killRig
	places  []threadPlace
	written []writtenText // in threads
	common  []string      // ids of texts in the channel
	asked   int           // slash commands in the channel
}

// threadPlace is a session's thread, and the file that has what was typed into the session.
type threadPlace struct{ id, file string }

func newTwoOnDiscord(t *testing.T) *twoOnDiscord {
	t.Helper()
	r := &twoOnDiscord{T: t, Server: discordtest.New(discordtest.Options{})}
	guild := r.Guild("house")
	r.channel, r.person = guild.TextChannel("agents").ID, r.Person("P")
	url := onAPort(t, r)
	for n := range 2 {
		k := newKillRig(t)
		text := fmt.Sprintf(`tmux: {servers: [{socket_path: %q}]}
polling: {output_cadence_s: 0.2, focus_cadence_s: 0.2}
access: {operators: ["discord:%s"]}
adapters:
  web: {enabled: false}
  discord: {enabled: true, token: %q, api_url: "%s/api", guild: %q, channels: [{id: %q, threads: true}]}
mirrors: [{session: "*", to: "discord:%s", view: stream, input: true}]
`, k.socket, r.person.ID, r.Token(), url, guild.ID, r.channel, r.channel)
		if err := os.WriteFile(filepath.Join(k.dir, "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k.run()
		k.await("the daemon", func() bool { return r.Gateways() == n+1 && len(r.Commands("")) > 10 })
		r.daemons = append(r.daemons, k)
	}
	for d := range r.daemons {
		for n := range perDaemon {
			r.begin(d, fmt.Sprintf("agent-%d-%d", d, n))
		}
	}
	return r
}

// begin has a daemon make a session that writes down what's typed into it.
func (r *twoOnDiscord) begin(d int, name string) {
	r.Helper()
	k := r.daemons[d]
	p := threadPlace{file: filepath.Join(k.dir, name)}
	script := `while read -r line; do echo "$line" >> "$1"; done`
	if _, err := k.api.NewSession(k.ctx(), api.Create{Name: name, Cwd: k.dir, Command: []string{"sh", "-c", script, name, p.file}}); err != nil {
		r.Fatal(err)
	}
	k.await("a thread of "+name, func() bool {
		for _, t := range r.Threads(r.channel) {
			if t.Name == name {
				p.id = t.ID
			}
		}
		return p.id != ""
	})
	r.places = append(r.places, p)
}

// act has a person write in a thread, now and then in the channel, or give a command.
func (r *twoOnDiscord) act(i int) {
	r.Helper()
	random := r.daemons[0].random
	switch {
	case i%5 == 1:
		id, err := r.person.Say(r.channel, fmt.Sprint("common-", i))
		if err != nil {
			r.Fatal(err)
		}
		r.common = append(r.common, id)
	case i%10 == 3:
		if _, err := r.person.Command(r.channel, "sessions", nil); err != nil {
			r.Fatal(err)
		}
		r.asked++
	case i%10 == 8:
		if _, err := r.person.Command(r.places[random.IntN(len(r.places))].id, "status", nil); err != nil {
			r.Fatal(err)
		}
	default:
		r.say(random.IntN(len(r.places)))
	}
}

func (r *twoOnDiscord) say(place int) {
	r.Helper()
	text := fmt.Sprintf("text-%d", len(r.written))
	if _, err := r.person.Say(r.places[place].id, text); err != nil {
		r.Fatal(err)
	}
	r.written = append(r.written, writtenText{text: text, place: place})
}

// typed counts how often a text was typed into its session.
func (r *twoOnDiscord) typed(w writtenText) (n int) {
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

// awaitTyped waits until each text in a thread was typed, and each in the channel answered.
func (r *twoOnDiscord) awaitTyped() {
	r.Helper()
	left := slices.Clone(r.written)
	r.daemons[0].await("each text to be typed", func() bool {
		left = slices.DeleteFunc(left, func(w writtenText) bool { return r.typed(w) > 0 })
		return len(left) == 0
	})
	r.daemons[0].await("each text in the channel to be answered", func() bool {
		return !slices.ContainsFunc(r.common, func(id string) bool { return r.answers(id) == 0 && !r.signed(id) })
	})
	time.Sleep(3 * time.Second) // for what would come twice
}

// said are the bot's messages in a channel or thread.
func (r *twoOnDiscord) said(at string) []discordtest.Message {
	return slices.DeleteFunc(r.Messages(at), func(m discordtest.Message) bool { return !m.Author.Bot })
}

// answers counts the messages that answer one in the channel, or stand for it among others.
func (r *twoOnDiscord) answers(id string) (n int) {
	at := slices.Index(r.common, id)
	for _, m := range r.said(r.channel) {
		last, texts := slices.Index(r.common, m.ReplyTo), 1
		_, _ = fmt.Sscanf(unmarked(m.Content), "None of your last %d texts was typed.", &texts) // else it's of one
		if last >= at && last-texts < at {
			n++
		}
	}
	return n
}

func (r *twoOnDiscord) signed(id string) bool {
	for _, m := range r.Messages(r.channel) {
		if m.ID == id {
			return len(m.Reactions) > 0
		}
	}
	return false
}

// check counts what came of it all. A kill may take a command with it that isn't kept yet, and what may
// be answered is answered once more, with the mark.
func (r *twoOnDiscord) check(kills int) {
	r.Helper()
	for _, w := range r.written {
		if n := r.typed(w); n != 1 {
			r.Errorf("%q was typed %d times", w.text, n)
		}
	}
	for _, id := range r.common {
		if n := r.answers(id); n > 1 {
			r.Errorf("a text in the channel was answered %d times", n)
		}
	}
	for _, p := range r.places {
		for _, m := range r.said(p.id) {
			if strings.Contains(m.Content, "No session") || strings.Contains(m.Content, "isn't bound") {
				r.Errorf("in the thread %s of the other stands %q", p.id, m.Content)
			}
		}
	}
	done, again := 0, 0
	for _, m := range r.said(r.channel) {
		if slices.ContainsFunc(r.daemons, func(d *killRig) bool { return strings.Contains(m.Content, d.dir) }) { // what's given once more isn't below the command
			if done++; unmarked(m.Content) != m.Content {
				again++
			}
		}
	}
	if done-again > r.asked || done < r.asked-kills {
		r.Errorf("of %d commands in the channel %d were answered, %d of them with the mark", r.asked, done, again)
		for _, m := range r.Messages(r.channel) {
			r.Logf("%s: %q", m.At.Format(time.TimeOnly), m.Content)
		}
	}
	if n := len(r.Unanswered()); n > kills {
		r.Errorf("%d interactions weren't answered", n)
	}
	r.Logf("%d texts typed, %d in the channel answered, %d of %d commands done there, %d kills", len(r.written), len(r.common), done, r.asked, kills)
}
