package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// The program is killed again and again while sessions print turns into channels,
// threads and posts: at the end each shows each line once and in order, and rang once
// for each turn. No session has two threads, and Discord never had to refuse a call.
func TestKilledWhileItMirrorsToDiscord(t *testing.T) {
	slow(t)
	k := newKillRig(t)
	s := newDiscordStage(k.trap)
	var late []speaker
	for i := 0; i < kills(); i += threadEvery {
		late = append(late, speaker{name: fmt.Sprint("late-", len(late)), lines: 2, rest: time.Second})
	}
	speakers, mirrors := s.cast(late)
	k.begin(s, speakers, mirrors)
	for i := range kills() {
		if i > 0 {
			k.run()
		}
		if n := i / threadEvery; i%threadEvery == 0 {
			k.awaitTmux()
			k.killDuring("StartThread", (notAnswered+moment(n))%moments, heldFor, func() { k.speak(late[n]) })
		} else {
			k.killAnywhere("CreateMessage", "CreateMessage", "EditMessage")
		}
	}
	k.finish()
	all := k.readAll()
	t.Logf("%d kills (%v): %v", len(k.killed), k.how, all)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(k.how)), func(how string) bool { return strings.HasPrefix(how, "StartThread ") }) {
		t.Error("no kill came while a thread was made")
	}
	if rings := len(s.Rings()); rings != all.rings {
		t.Errorf("phones rang %d times, and for %d messages that are there", rings, all.rings)
	}
	for _, r := range s.Refusals() {
		t.Errorf("Discord refused %s in channel %s: %d %d %s", r.Call, r.Channel, r.Status, r.Code, r.Error)
	}
}

const (
	// threadEvery is at which kills a thread is being made. Discord makes 20 in five
	// minutes, and those that are in doubt count as well.
	threadEvery = 12
	// heldFor is longer than nothing is called after a kill that a call for the same may
	// have survived.
	heldFor = 30 * time.Second
)

// discordStage is Discord, with a server.
type discordStage struct {
	*discordtest.Server
	guild *discordtest.Guild
}

func newDiscordStage(t *trap) discordStage {
	s := discordtest.New(discordtest.Options{
		Latency: func(call, _ string) (time.Duration, time.Duration) { return t.latency(call) },
	})
	return discordStage{s, s.Guild("house")}
}

// channels is in how many each session is shown alone: with these, a call is under way at
// most instants, though some channels are held.
const channels = 3

// cast are the sessions that begin at once, and the channels that all are shown in, the late ones too.
func (s discordStage) cast(late []speaker) (speakers []speaker, mirrors []mirror) {
	agents, posts := s.guild.TextChannel("agents").ID, s.guild.ForumChannel("posts").ID
	for i, name := range []string{"one", "two", "three"} {
		speakers = append(speakers, speaker{name: name, lines: 1, rest: 100 * time.Millisecond})
		mirrors = append(mirrors,
			mirror{session: name, view: "stream", chat: []string{agents, posts}[i%2], threads: true},
			mirror{session: name, view: "final", chat: s.guild.TextChannel(name + "-turns").ID},
		)
		for n := range channels {
			mirrors = append(mirrors, mirror{session: name, view: "stream", chat: s.guild.TextChannel(fmt.Sprint(name, "-", n)).ID})
		}
	}
	// What it says at once is too much for messages, and goes into files.
	speakers = append(speakers, speaker{name: "bulk", lines: 6 * turnEvery, rest: 2 * time.Second})
	mirrors = append(mirrors,
		mirror{session: "bulk", view: "stream", chat: s.guild.TextChannel("bulk").ID},
		mirror{session: "bulk", view: "final", chat: s.guild.TextChannel("bulk-turns").ID},
	)
	for i, one := range late {
		mirrors = append(mirrors, mirror{session: one.name, view: "stream", chat: []string{agents, posts}[i%2], threads: true})
	}
	return speakers, mirrors
}

func (s discordStage) settings(url string, mirrors []mirror) string {
	var list strings.Builder
	for i, m := range mirrors {
		if !slices.ContainsFunc(mirrors[:i], func(x mirror) bool { return x.chat == m.chat }) {
			fmt.Fprintf(&list, "      - {id: %q, threads: %t}\n", m.chat, m.threads)
		}
	}
	return fmt.Sprintf("  discord:\n    enabled: true\n    token: %q\n    api_url: %s/api\n    guild: %q\n    channels:\n%s%s",
		s.Token(), url, s.guild.ID, list.String(), rules("discord", mirrors))
}

func (s discordStage) decided(call string) (n int) {
	for _, c := range s.CallsTo(call) {
		if c.Status != 0 {
			n++
		}
	}
	return n
}

func (discordStage) once() bool { return true }

// shown looks into the session's thread, where threads are made: there must be one.
func (s discordStage) shown(t *testing.T, m mirror) []message {
	t.Helper()
	channel := m.chat
	if m.threads {
		own := slices.DeleteFunc(s.Threads(m.chat), func(c discordtest.ChannelState) bool { return c.Name != m.session })
		if len(own) != 1 {
			t.Fatalf("session %s has %d threads: %+v", m.session, len(own), own)
		}
		channel = own[0].ID
	}
	var out []message
	for _, one := range s.Messages(channel) {
		if one.Kind != 0 || one.ID == channel || isCard(one.Content) { // of Discord's own, or the title with which a post begins
			continue
		}
		text, wrong := rendertest.ReadDiscord(one.Content)
		for _, what := range wrong {
			t.Errorf("in %q: %s", one.Content, what)
		}
		x := message{id: one.ID, at: one.At, edits: len(one.History), rang: one.Rang, text: text}
		for _, f := range one.Files {
			x.file = f.Content
		}
		out = append(out, x)
	}
	return out
}
