package discord_test

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/exchange"
)

func (w *world) probe(change func(o *discord.Options)) *discord.Probe {
	w.Helper()
	opt := discord.Options{Token: exchange.Token(w.Token()), APIURL: "http://discord.test/api", Transport: w.client}
	if change != nil {
		change(&opt)
	}
	p, err := discord.NewProbe(opt)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func TestProbeSeesWhoTheBotIs(t *testing.T) {
	for _, without := range []bool{false, true} {
		inBubble(t, discordtest.Options{NoContentIntent: without}, func(w *world) {
			b, err := w.probe(nil).Bot(w.Context())
			if err != nil {
				w.Fatal(err)
			}
			if b.ID != w.Bot().ID || b.App != w.Bot().ID || b.Name != "panebridge" || b.Content == without {
				w.Errorf("the bot is %+v", b)
			}
			if invite := b.Invite(); !strings.HasPrefix(invite, "https://discord.com/oauth2/authorize?client_id="+b.App+"&permissions=") || !strings.HasSuffix(invite, "&scope=bot+applications.commands") {
				w.Errorf("the invitation is %s", invite)
			}
		})
	}
}

// What the bot is invited with, what docs/discord.md says and what the stand-in's bot has by default are
// the same: so all tests show that it's enough.
func TestTheListOfRightsIsComplete(t *testing.T) {
	u, err := url.Parse(discord.BotAccount{App: "1"}.Invite())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := u.Query().Get("permissions"), strconv.FormatUint(uint64(discordtest.Invited), 10); got != want {
		t.Errorf("the bot is invited with %s, want %s", got, want)
	}
	page, err := os.ReadFile("../../docs/discord.md")
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(strings.Join(strings.Fields(string(page)), " "), "scopes `bot` and `applications.commands`) with ")
	said, _, _ = strings.Cut(said, ". ")
	names := strings.Split(strings.ReplaceAll(said, " and ", ", "), ", ")
	want := discord.RightNames()
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("docs/discord.md lists %q, want %q", names, want)
	}
}

func TestProbeTellsAWrongTokenFromAWrongAddress(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		_, err := w.probe(func(o *discord.Options) {
			o.Token = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.a-secret-that-nobody-may-see-anywhere"
		}).Bot(w.Context())
		if !exchange.IsUnauthorized(err) || strings.Contains(fmt.Sprintf("%+v", err), "a-secret") {
			t.Errorf("a wrong token is %v", err)
		}
		_, err = w.probe(func(o *discord.Options) { o.APIURL = "http://discord.test/elsewhere" }).Bot(w.Context())
		if err == nil || exchange.IsUnauthorized(err) {
			t.Errorf("a wrong address is %v", err)
		}
		w.Inject(discordtest.Fault{Times: 1, RetryAfter: time.Minute})
		if _, err = w.probe(nil).Bot(w.Context()); exchange.RetryAfter(err) != time.Minute {
			t.Errorf("an ordered silence is %v", err)
		}
	})
}

// lacks are the details of what's found in the way of a channel.
func (w *world) lacks(p *discord.Probe, c discord.ChannelConfig) []string {
	w.Helper()
	bot, err := p.Bot(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	seen, err := p.Channel(w.Context(), bot, c.ID)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, l := range seen.Lacks(c, w.house.ID) {
		if l.Fix == "" {
			w.Errorf("nobody says what to do about %q", l.Detail)
		}
		out = append(out, l.Detail)
	}
	return out
}

func TestProbeSeesWhatTheBotMayDo(t *testing.T) {
	const all = discordtest.ViewChannel | discordtest.SendMessages | discordtest.SendInThreads | discordtest.CreateThreads |
		discordtest.ManageThreads | discordtest.AttachFiles | discordtest.ReadHistory | discordtest.AddReactions
	for name, tc := range map[string]struct {
		deny    discordtest.Permission
		threads bool
		text    string // what's found in a text channel
		forum   string // and in a forum
	}{
		"nothing is denied":  {0, true, "", ""},
		"no threads":         {0, false, "", "posts can be written"},
		"all is denied":      {all, true, "see the channel", "see the channel"},
		"writing":            {discordtest.SendMessages, true, "may not write there", "may not write there"},
		"threads":            {discordtest.CreateThreads, true, "may not make threads", ""},
		"threads, unused":    {discordtest.CreateThreads | discordtest.SendInThreads | discordtest.ManageThreads, false, "", "posts can be written"},
		"writing in threads": {discordtest.SendInThreads, true, "may not write in threads", "may not write in threads"},
		"files and history":  {discordtest.AttachFiles | discordtest.ReadHistory, true, "while it was away|files and screens", "while it was away|files and screens"},
		"what's of no need":  {discordtest.ManageChannels | discordtest.EmbedLinks | discordtest.MentionEveryone, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				w.house.TextChannel("agents").Deny(tc.deny)
				w.house.ForumChannel("posts").Deny(tc.deny)
				p := w.probe(nil)
				for channel, want := range map[string]string{w.agents: tc.text, w.posts: tc.forum} {
					got := w.lacks(p, discord.ChannelConfig{ID: channel, Threads: tc.threads})
					parts := strings.FieldsFunc(want, func(r rune) bool { return r == '|' })
					ok := len(parts) == len(got)
					for i := 0; ok && i < len(parts); i++ {
						ok = strings.Contains(got[i], parts[i])
					}
					if !ok {
						w.Errorf("in the way of channel %s is %q, want %q", channel, got, want)
					}
				}
			})
		})
	}
}

func TestProbeSeesChannels(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		p := w.probe(nil)
		elsewhere := w.Server.Guild("elsewhere").TextChannel("x").ID
		for _, id := range []string{elsewhere, w.ada.DM().ID, "99"} {
			if got := w.lacks(p, discord.ChannelConfig{ID: id}); len(got) != 1 {
				w.Errorf("in the way of channel %s is %q", id, got)
			}
		}
		thread, err := w.ada.CreateThread(w.agents, "api")
		if err != nil {
			w.Fatal(err)
		}
		if got := w.lacks(p, discord.ChannelConfig{ID: thread}); len(got) != 1 || !strings.Contains(got[0], "neither a text nor a forum") {
			w.Errorf("in the way of a thread is %q", got)
		}
	})
}
