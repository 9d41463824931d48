package discord

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

const (
	// maxTitle is how long a thread's name may be, in characters
	// (docs.discord.com/developers/resources/channel#start-thread-without-message).
	maxTitle = 100
	// archiveAfter is after how many minutes without a message Discord archives a thread
	// by itself: a week, the longest. The next message opens it again.
	archiveAfter = 7 * 24 * 60
)

// title is a title that Discord takes.
func title(s string) string {
	return adapters.Shorten(cmp.Or(strings.Join(strings.Fields(s), " "), "session"), maxTitle)
}

// nameless is what a thread is called whose session's name the server's AutoMod refuses.
const nameless = "session"

// nameFor is a title that the server takes, as far as is known.
func (a *Adapter) nameFor(text string) string {
	if t := title(text); !a.titles.contains(t) {
		return t
	}
	return nameless
}

// aboutTitle is the reply to a call that would have given a thread a name. One that's refused is
// made again with another, in a slot of its own.
func (a *Adapter) aboutTitle(err error, at adapters.Target, name string) adapters.Reply {
	if f, ok := errors.AsType[*failure](err); ok && f.Code == codeTitle && name != nameless {
		a.titles.add(name)
		return adapters.Reply{Outcome: qos.Failed, Err: f}
	}
	return aboutThreads(err, at)
}

// maxTitles is how many titles are remembered that were refused.
const maxTitles = 1000

// refusedTitles are those that AutoMod has refused. They're forgotten at a restart, and when there are
// too many, which costs a refusal more.
type refusedTitles struct {
	mu      sync.Mutex
	refused map[string]bool
}

func (t *refusedTitles) contains(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused[name]
}

func (t *refusedTitles) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused == nil || len(t.refused) >= maxTitles {
		t.refused = map[string]bool{}
	}
	t.refused[name] = true
}

// makeThread makes a thread in a text channel, or a post in a forum channel. A post has
// a first message, which mustn't be empty. There's no nonce for threads: one that may
// have been made before is looked for.
func (a *Adapter) makeThread(ctx context.Context, op adapters.Op) adapters.Reply {
	at, name := op.Target, a.nameFor(op.Text)
	if op.Again && a.opt.Guild != "" {
		if id, err := a.madeThread(ctx, at.Chat, name); err != nil || id != "" {
			a.noteThread(ctx, id, a.sharing.beginThread(ctx, at.Chat, name))
			return existed(id, err, at)
		}
	}
	forum, err := a.isForum(ctx, at.Chat)
	if err != nil {
		return aboutThreads(err, at)
	}
	body := any(discordgo.ThreadStart{Name: name, AutoArchiveDuration: archiveAfter, Type: discordgo.ChannelTypeGuildPublicThread})
	if forum {
		body = newForumPost{Name: name, AutoArchiveDuration: archiveAfter, Message: newMessage{
			Content: postText("**" + escape(name) + "**"), Mentions: nobody(), Flags: discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsSuppressNotifications,
		}}
	}
	ctx = withPurpose(ctx, callPurpose{scope: qos.Scope{Chat: a.Threads(at), Family: qos.FamilyMessage}})
	var got madeThing
	path := "channels/" + at.Chat + "/threads"
	ended := a.sharing.beginThread(ctx, at.Chat, name)
	err = a.client.callPath(ctx, http.MethodPost, path, body, &got)
	if f, failed := errors.AsType[*failure](err); err != nil {
		_ = ended(ctx, "", !failed || f.Outcome == qos.Uncertain) // what it was is noted
		return a.aboutTitle(err, at, name)
	}
	a.noteThread(ctx, got.ID, ended)
	return adapters.Reply{Outcome: qos.Delivered, ID: got.ID}
}

// noteThread has it noted that this daemon made a thread. A note that can't be written is as good as
// none: its session is shown there, as long as it's shown anywhere.
func (a *Adapter) noteThread(ctx context.Context, id string, ended func(context.Context, string, bool) error) {
	if err := ended(ctx, id, true); err != nil {
		a.log.WarnContext(ctx, "noting that a thread was made failed", "thread", id, "err", err)
	}
}

// madeThread finds a thread of ours by its name in which nothing was said as yet, the
// oldest; "": there's none. One that was made a moment ago isn't archived.
func (a *Adapter) madeThread(ctx context.Context, channel, name string) (id string, err error) {
	var bot madeThing
	var active activeThreads
	if err := a.askFor(ctx, "users/@me", &bot); err != nil {
		return "", err
	}
	if err := a.askFor(ctx, "guilds/"+a.opt.Guild+"/threads/active", &active); err != nil {
		return "", err
	}
	for _, t := range active.Threads {
		empty := t.LastMessageID == "" || t.LastMessageID == t.ID // a post's first message has its id
		if empty && t.ParentID == channel && t.OwnerID == bot.ID && t.Name == name && (id == "" || madeAt(t.ID).Before(madeAt(id))) {
			id = t.ID
		}
	}
	return id, nil
}

// activeThreads are those of a server.
type activeThreads struct {
	Threads []*discordgo.Channel `json:"threads"`
}

func (a *activeThreads) Check() error {
	if a.Threads == nil {
		return errors.New("it has no list of threads")
	}
	return nil
}

// existed is the reply if a thread was made before.
func existed(id string, err error, at adapters.Target) adapters.Reply {
	if err != nil {
		return aboutThreads(err, at)
	}
	return adapters.Reply{Outcome: qos.Delivered, ID: id, Existed: true}
}

// askFor asks for something. Whatever becomes of that, nothing was to be done yet. It
// takes no slot: looking has limits of its own.
func (a *Adapter) askFor(ctx context.Context, path string, into any) error {
	err := a.client.callPath(ctx, http.MethodGet, path, nil, into)
	if f, ok := errors.AsType[*failure](err); ok && f.Outcome == qos.Uncertain {
		f.Outcome = qos.NotSent
	}
	return err
}

// aboutThreads is the reply to a call about a thread that failed: messages may go on.
func aboutThreads(err error, at adapters.Target) adapters.Reply {
	if f, ok := errors.AsType[*failure](err); ok && f.Code == codePermissions {
		f.Text = adviceThreads
	}
	return only(failed(err, at))
}

// newForumPost is what makes a post in a forum channel
// (docs.discord.com/developers/resources/channel#start-thread-in-forum-or-media-channel).
type newForumPost struct {
	Name                string     `json:"name"`
	AutoArchiveDuration int        `json:"auto_archive_duration"`
	Message             newMessage `json:"message"`
}

// escape has a text read as it is in Markdown.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// closeThread archives a thread. Discord refuses that of one that's archived already, which is as good:
// the answer to the first call was lost.
func (a *Adapter) closeThread(ctx context.Context, at adapters.Target) adapters.Reply {
	r := a.setThread(ctx, at, qos.FamilyMessage, discordgo.ChannelEdit{Archived: new(true)})
	if f, ok := errors.AsType[*failure](r.Err); ok && f.Code == codeArchived {
		return adapters.Reply{Outcome: qos.Delivered}
	}
	return r
}

// openThread opens a thread that a person has closed. It's looked at first: to unlock one
// takes the right to manage threads, to open one doesn't.
func (a *Adapter) openThread(ctx context.Context, at adapters.Target) adapters.Reply {
	to := discordgo.ChannelEdit{Archived: new(false)}
	now := askedChannel{want: channelOf(at)}
	if err := a.askFor(ctx, "channels/"+channelOf(at), &now); err != nil {
		return aboutThreads(err, at)
	}
	if now.Thread != nil && now.Thread.Locked {
		to.Locked = new(false)
	}
	return a.setThread(ctx, at, qos.FamilyMessage, to)
}

// setThread changes a thread: archives it, opens it, gives it another name.
func (a *Adapter) setThread(ctx context.Context, at adapters.Target, family qos.Family, to discordgo.ChannelEdit) adapters.Reply {
	if at.Thread == "" {
		return rejected(errors.New("it's no thread"))
	}
	if err := a.client.callPath(a.withScope(ctx, at, family), http.MethodPatch, "channels/"+at.Thread, to, &sameThing{want: at.Thread}); err != nil {
		return aboutThreads(err, at)
	}
	return adapters.Reply{Outcome: qos.Delivered}
}

// renameThread gives a thread another name.
func (a *Adapter) renameThread(ctx context.Context, at adapters.Target, text string) adapters.Reply {
	name := a.nameFor(text)
	r := a.setThread(ctx, at, qos.FamilyRename, discordgo.ChannelEdit{Name: name})
	if r.Outcome == qos.Rejected {
		return a.aboutTitle(r.Err, at, name)
	}
	return r
}

// forumChannels remembers which channels are forum channels: that never changes.
type forumChannels struct {
	mu    sync.Mutex
	known map[string]bool
}

// contains says whether a channel is known to be a forum channel.
func (f *forumChannels) contains(channel string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[channel]
}

// kindOfChannel is of what kind a channel is.
type kindOfChannel struct {
	sameThing
	Type *discordgo.ChannelType `json:"type"`
}

func (k *kindOfChannel) Check() error {
	if k.Type == nil {
		return errors.New("it doesn't say of what kind the channel is")
	}
	return k.sameThing.Check()
}

// isForum says whether posts are made in a channel, not threads. It's asked once for
// each channel.
func (a *Adapter) isForum(ctx context.Context, channel string) (bool, error) {
	a.forums.mu.Lock()
	forum, ok := a.forums.known[channel]
	a.forums.mu.Unlock()
	if ok {
		return forum, nil
	}
	got := kindOfChannel{sameThing: sameThing{want: channel}}
	if err := a.askFor(ctx, "channels/"+channel, &got); err != nil {
		return false, err
	}
	forum = *got.Type == discordgo.ChannelTypeGuildForum || *got.Type == discordgo.ChannelTypeGuildMedia
	a.forums.mu.Lock()
	defer a.forums.mu.Unlock()
	if a.forums.known == nil {
		a.forums.known = map[string]bool{}
	}
	a.forums.known[channel] = forum
	return forum, nil
}
