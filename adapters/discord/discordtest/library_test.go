package discordtest_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// toStandIn sends the library's calls to the stand-in: it knows discord.com only.
type toStandIn struct {
	host string
	http.RoundTripper
}

func (t toStandIn) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL = &url.URL{Scheme: "http", Host: t.host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	r.Host = ""
	return t.RoundTripper.RoundTrip(r)
}

// library returns the library's session, unmodified.
func (w *world) library(host string, transport *http.Transport) *discordgo.Session {
	w.Helper()
	d, err := discordgo.New("Bot " + w.Token())
	ok(w, err)
	d.Client = &http.Client{Transport: toStandIn{host, transport}}
	dialer := *d.Dialer
	dialer.NetDialContext = transport.DialContext
	d.Dialer = &dialer
	d.ShouldReconnectOnError, d.StateEnabled, d.SyncEvents = false, false, true
	d.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentMessageContent | discordgo.IntentsGuildMessageReactions
	return d
}

// heard is what a session's handlers saw.
type heard struct {
	messages     chan *discordgo.MessageCreate
	interactions chan *discordgo.InteractionCreate
	gone         chan struct{}
	ready        chan *discordgo.Ready
}

func listen(d *discordgo.Session) heard {
	h := heard{
		make(chan *discordgo.MessageCreate, 100), make(chan *discordgo.InteractionCreate, 100), make(chan struct{}, 100),
		make(chan *discordgo.Ready, 100),
	}
	d.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { h.messages <- m })
	d.AddHandler(func(_ *discordgo.Session, i *discordgo.InteractionCreate) { h.interactions <- i })
	d.AddHandler(func(_ *discordgo.Session, r *discordgo.Ready) { h.ready <- r })
	d.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { h.gone <- struct{}{} })
	return h
}

// The library on a socket, as a daemon has it that's a process of its own.
func TestLibraryOnLoopback(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	ok(t, err)
	w := newWorld(t, discordtest.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- memnet.Serve(ctx, l, w.Server) }()
	defer func() { cancel(); ok(t, <-ended) }()
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
	defer transport.CloseIdleConnections()
	d := w.library(l.Addr().String(), transport)
	w.useLibrary(d, listen(d))
	ok(t, d.Close())
}

// The library without a network, in a bubble where time is virtual.
func TestLibraryInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discordtest.Options{})
		network, stop := w.serve()
		defer stop()
		transport := network.Transport()
		defer transport.CloseIdleConnections()
		d := w.library("discord.test", transport)
		h := listen(d)
		w.useLibrary(d, h)

		// Hours pass, heartbeats are answered, and events still come.
		time.Sleep(5 * time.Hour)
		said(t)(w.ada.Say(w.text, "still there?"))
		if m := <-h.messages; m.Content != "still there?" || w.Gateways() != 1 || w.Identifies() != 1 {
			t.Errorf("after hours came %q; %d gateways, %d sessions", m.Content, w.Gateways(), w.Identifies())
		}
		// A session is taken up again where the connection was cut.
		w.DropGateways()
		<-h.gone
		said(t)(w.ada.Say(w.text, "missed"))
		ok(t, d.Open())
		if m := <-h.messages; m.Content != "missed" || w.Resumes() != 1 {
			t.Errorf("after a drop came %q, %d resumes", m.Content, w.Resumes())
		}
		synctest.Wait() // the library's heart must beat before it's closed: it would wait for a lock
		ok(t, d.Close())
		synctest.Wait()
		if list := w.Refusals(); len(list) > 0 {
			t.Errorf("refused: %+v", list)
		}
	})
}

// useLibrary sends, edits, reads, makes threads, takes a command and answers it.
func (w *world) useLibrary(d *discordgo.Session, h heard) {
	w.Helper()
	ok(w, d.Open())
	if r := <-h.ready; r.User.ID != w.Bot().ID || r.SessionID == "" {
		w.Errorf("READY is %+v", r)
	}
	m, err := d.ChannelMessageSendComplex(w.text, &discordgo.MessageSend{
		Content: "hello <@" + w.ada.ID + ">", AllowedMentions: &discordgo.MessageAllowedMentions{},
		Files: []*discordgo.File{{Name: "run log.txt", ContentType: "text/plain", Reader: strings.NewReader("line\n")}},
		Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "Stop", CustomID: "stop", Style: discordgo.DangerButton},
		}}},
		Flags: discordgo.MessageFlagsSuppressNotifications,
	})
	ok(w, err)
	seen := w.Messages(w.text)
	if len(seen) != 1 || seen[0].Rang || len(seen[0].Pings) != 0 || seen[0].Rows[0][0].CustomID != "stop" || seen[0].Files[0].Name != "run_log.txt" {
		w.Errorf("Ada sees %+v", seen)
	}
	if got := <-h.messages; got.ID != m.ID || got.GuildID != w.house.ID {
		w.Errorf("the gateway brought %+v", got.Message)
	}
	edited, err := d.ChannelMessageEdit(w.text, m.ID, "hello again")
	ok(w, err)
	if edited.EditedTimestamp == nil || edited.Content != "hello again" || len(edited.Attachments) != 1 {
		w.Errorf("edited: %+v", edited)
	}
	w.useThreads(d)
	w.useCommand(d, h)
	said(w)(w.ada.Say(w.text, "*hi*"))
	for got := range h.messages {
		if got.Author.ID == w.ada.ID {
			if got.Content != "*hi*" || got.Author.Username != "Ada" || got.Member == nil {
				w.Errorf("the gateway brought %+v", got.Message)
			}
			break
		}
	}
	list, err := d.ChannelMessages(w.text, 10, "", m.ID, "")
	ok(w, err)
	if len(list) == 0 || list[0].Content != "*hi*" {
		w.Errorf("the history after %s is %+v", m.ID, list)
	}
	ok(w, d.ChannelTyping(w.text))
	ok(w, d.MessageReactionAdd(w.text, m.ID, "👀"))
	ok(w, d.ChannelMessageDelete(w.text, m.ID))
}

func (w *world) useThreads(d *discordgo.Session) {
	w.Helper()
	t, err := d.ThreadStart(w.text, "api-refactor", discordgo.ChannelTypeGuildPublicThread, 1440)
	ok(w, err)
	_, err = d.ChannelMessageSend(t.ID, "in a thread")
	ok(w, err)
	name := "api"
	_, err = d.ChannelEdit(t.ID, &discordgo.ChannelEdit{Name: name})
	ok(w, err)
	post, err := d.ForumThreadStart(w.forum, "docs", 60, "first")
	ok(w, err)
	if got := w.Messages(post.ID); len(got) != 1 || got[0].ID != post.ID || got[0].Content != "first" {
		w.Errorf("the post has %+v", got)
	}
	if threads := w.Threads(w.text); len(threads) != 1 || threads[0].Name != name || w.Messages(t.ID)[0].Content != "in a thread" {
		w.Errorf("threads are %+v", threads)
	}
}

func (w *world) useCommand(d *discordgo.Session, h heard) {
	w.Helper()
	_, err := d.ApplicationCommandBulkOverwrite(w.Bot().ID, w.house.ID, []*discordgo.ApplicationCommand{{
		Name: "new", Description: "begin a session",
		Options: []*discordgo.ApplicationCommandOption{{Type: discordgo.ApplicationCommandOptionString, Name: "agent", Description: "which", Required: true}},
	}})
	ok(w, err)
	id := said(w)(w.ada.Command(w.text, "new", map[string]any{"agent": "claude"}))
	i := <-h.interactions
	if data := i.ApplicationCommandData(); i.ID != id || data.Name != "new" || data.Options[0].StringValue() != "claude" || i.Member.User.ID != w.ada.ID {
		w.Errorf("the interaction is %+v", i)
	}
	ok(w, d.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource, Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	}))
	done := "done"
	_, err = d.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{Content: &done})
	ok(w, err)
	_, err = d.FollowupMessageCreate(i.Interaction, true, &discordgo.WebhookParams{Content: "more"})
	ok(w, err)
	seen := w.SeenBy(w.ada.ID, w.text)
	if n := len(seen); seen[n-2].Content != "done" || seen[n-2].OnlyFor != w.ada.ID || seen[n-1].Content != "more" {
		w.Errorf("Ada sees %+v", seen)
	}
}
