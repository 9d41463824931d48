package discord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/qos"
)

// Call implements adapters.Adapter.
func (a *Adapter) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	if err := checkIDs(op.Target, op.Message); err != nil {
		return rejected(err)
	}
	switch op.Kind {
	case adapters.KindSend, adapters.KindEdit, adapters.KindFile:
		return a.putMessage(ctx, message{
			at: op.Target, id: op.Message, nonce: op.Nonce, content: pageText(op.Page), file: op.File, ring: op.Ring,
			rows: componentsBelow(nil, op.Buttons),
		})
	case adapters.KindThread:
		return a.makeThread(ctx, op)
	case adapters.KindClose:
		return a.closeThread(ctx, op.Target)
	case adapters.KindOpen:
		return a.openThread(ctx, op.Target)
	case adapters.KindRename:
		return a.renameThread(ctx, op.Target, op.Text)
	default:
		return rejected(fmt.Errorf("no call of Discord's does %q", op.Kind))
	}
}

// message is a message to be sent, or edited if it has an id.
type message struct {
	at      adapters.Target
	id      string
	nonce   string // "": none
	content string // "" only beside a file or a picture
	file    *adapters.File
	picture []byte
	replyTo string
	rows    []discordgo.MessageComponent
	ring    bool
}

// putMessage makes the one call of a message.
func (a *Adapter) putMessage(ctx context.Context, m message) adapters.Reply {
	ctx = a.withScope(ctx, m.at, qos.FamilyMessage)
	if m.id != "" {
		return a.editMessage(ctx, m)
	}
	return a.sendMessage(ctx, m)
}

// newMessage is what makes a message
// (docs.discord.com/developers/resources/message#create-message). The library's has no
// nonce.
type newMessage struct {
	Content   string                            `json:"content,omitempty"`
	Nonce     string                            `json:"nonce,omitempty"`
	Enforce   bool                              `json:"enforce_nonce,omitempty"`
	Flags     discordgo.MessageFlags            `json:"flags"`
	Mentions  *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Reference *discordgo.MessageReference       `json:"message_reference,omitempty"`
	Rows      []discordgo.MessageComponent      `json:"components,omitempty"`
}

// nobody is who a message calls, whatever it says.
func nobody() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

// madeThing is what matters of a message that was made.
type madeThing struct {
	ID      string    `json:"id"`
	Content string    `json:"content"`
	At      time.Time `json:"timestamp"`
}

func (m *madeThing) Check() error {
	if !isID(m.ID) {
		return errors.New("it has no id")
	}
	return nil
}

// sendMessage makes a new message.
func (a *Adapter) sendMessage(ctx context.Context, m message) adapters.Reply {
	body := newMessage{
		Content: m.content, Nonce: m.nonce, Enforce: m.nonce != "", Flags: discordgo.MessageFlagsSuppressEmbeds,
		Mentions: nobody(), Rows: m.rows,
	}
	if !m.ring {
		body.Flags |= discordgo.MessageFlagsSuppressNotifications
	}
	if m.replyTo != "" {
		body.Reference = &discordgo.MessageReference{MessageID: m.replyTo, FailIfNotExists: new(false)}
	}
	a.sharing.noteSpeaking(channelOf(m.at))
	path := "channels/" + channelOf(m.at) + "/messages"
	var got madeThing
	var err error
	if files := m.files(); len(files) > 0 {
		err = a.client.callWithFiles(ctx, http.MethodPost, path, body, files, &got)
	} else {
		err = a.client.callPath(ctx, http.MethodPost, path, body, &got)
	}
	if err != nil {
		r := failed(err, m.at)
		f, ok := errors.AsType[*failure](err)
		if more := m.file != nil || m.picture != nil || m.replyTo != ""; ok && more && f.Code == codePermissions {
			r.Content = true // perhaps nothing but files isn't allowed, or answers, which take the right to read
			return only(r)
		}
		return r
	}
	// With a nonce that it knows, Discord answers with the message that it made then.
	existed := m.nonce != "" && strings.TrimSpace(got.Content) != strings.TrimSpace(m.content)
	return adapters.Reply{Outcome: qos.Delivered, ID: got.ID, Existed: existed}
}

func (m message) files() []*discordgo.File {
	switch {
	case m.picture != nil:
		return []*discordgo.File{{Name: "screen.png", ContentType: "image/png", Reader: bytes.NewReader(m.picture)}}
	case m.file != nil:
		return []*discordgo.File{{Name: m.file.Name, ContentType: "application/octet-stream", Reader: bytes.NewReader(m.file.Data)}}
	default:
		return nil
	}
}

// messageEdit is what edits a message
// (docs.discord.com/developers/resources/message#edit-message). What isn't in it stays:
// the files.
type messageEdit struct {
	Content  string                            `json:"content"`
	Mentions *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Rows     []discordgo.MessageComponent      `json:"components"`
}

// editMessage replaces text and buttons of a message.
func (a *Adapter) editMessage(ctx context.Context, m message) adapters.Reply {
	if !a.mayEdit(m) {
		return adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingMessage, Err: errTooOld}
	}
	if m.rows == nil {
		m.rows = []discordgo.MessageComponent{}
	}
	path := "channels/" + channelOf(m.at) + "/messages/" + m.id
	return outcome(a.client.callPath(ctx, http.MethodPatch, path, messageEdit{Content: m.content, Mentions: nobody(), Rows: m.rows}, &sameThing{want: m.id}), m.at)
}

// outcome is the reply to a call that makes nothing new.
func outcome(err error, at adapters.Target) adapters.Reply {
	if err != nil {
		return failed(err, at)
	}
	return adapters.Reply{Outcome: qos.Delivered}
}

// failed is the reply to a call that wasn't accepted.
func failed(err error, at adapters.Target) adapters.Reply {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return adapters.Reply{Outcome: qos.Uncertain, Err: err}
	}
	return f.reply(at)
}

// rejected is the reply to a call that wasn't made.
func rejected(err error) adapters.Reply { return adapters.Reply{Outcome: qos.Rejected, Err: err} }

const (
	// oldAfter is from which age on a message is old to Discord, an hour
	// (error 30046), less what clocks may differ.
	oldAfter = time.Hour - 2*time.Minute
	// Of edits of old messages it takes some three in 20 s in a channel
	// (github.com/discord-net/Discord.Net/issues/2375).
	oldEdits  = 2
	oldWindow = 20 * time.Second
)

// errTooOld is why a message isn't edited.
var errTooOld = errors.New("the message is more than an hour old, and Discord takes few edits of those")

// oldEditTimes remembers the edits of old messages, by channel.
type oldEditTimes struct {
	mu   sync.Mutex
	past map[string][]time.Time
}

// takeEdit says whether one more may be made in a channel, and counts it.
func (o *oldEditTimes) takeEdit(channel string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c, list := range o.past {
		if now.Sub(list[len(list)-1]) >= oldWindow {
			delete(o.past, c)
		}
	}
	list := o.past[channel]
	for len(list) > 0 && now.Sub(list[0]) >= oldWindow {
		list = list[1:]
	}
	if len(list) >= oldEdits {
		return false
	}
	if o.past == nil {
		o.past = map[string][]time.Time{}
	}
	o.past[channel] = append(list, now)
	return true
}

// mayEdit says whether Discord would take an edit. What's to be said goes into a new
// message otherwise.
func (a *Adapter) mayEdit(m message) bool {
	now := time.Now()
	return now.Sub(madeAt(m.id)) < oldAfter || a.old.takeEdit(channelOf(m.at), now)
}

// Post implements adapters.Poster. Of a message with a picture or a file, an edit
// changes what's written above it, and the buttons.
func (a *Adapter) Post(ctx context.Context, p adapters.Post, id string) adapters.Reply {
	replyTo, command := p.ReplyTo, ""
	if isCommand(replyTo) {
		command, replyTo = replyTo, "" // it's no message, and can be neither answered as one nor reacted to
		if p.Reaction != "" {
			return adapters.Reply{Outcome: qos.Delivered}
		}
	}
	if err := errors.Join(checkIDs(p.To, id), checkIDs(p.To, replyTo)); err != nil {
		return rejected(err)
	}
	if p.Reaction != "" {
		return a.setReaction(ctx, p.To, replyTo, p.Reaction)
	}
	if p.Pin != "" {
		return a.pinMessage(ctx, p.To, p.Pin)
	}
	if p.Drop != "" {
		return a.deleteMessage(ctx, p.To, p.Drop)
	}
	m := message{at: p.To, id: id, nonce: p.Nonce, file: p.File, picture: p.Picture, replyTo: replyTo, rows: componentsBelow(p.Menus, p.Buttons), ring: p.Ring}
	if m.file == nil && m.picture == nil || p.Text != "" {
		m.content = postText(p.Text)
	}
	if command != "" && id == "" {
		r, ok, unsure := a.answerInCommand(a.withScope(ctx, p.To, qos.FamilyMessage), command, p.Key, m)
		switch {
		case ok:
			return r
		case unsure:
			m.content = postText(adapters.Marked(p.Text))
		}
	}
	if c, _ := a.channel(p.To.Chat); c.Threads && p.To.Thread == "" {
		return only(a.putMessage(ctx, m)) // a forum takes nothing beside its posts
	}
	return a.putMessage(ctx, m)
}

// isCommand says whether an id is that of a slash command, which is no message.
func isCommand(id string) bool { return strings.HasPrefix(id, "i") }

// setReaction puts an emoji to a message.
func (a *Adapter) setReaction(ctx context.Context, at adapters.Target, id, emoji string) adapters.Reply {
	if id == "" {
		return rejected(errors.New("a reaction needs the message that it's for"))
	}
	ctx = withPurpose(ctx, callPurpose{scope: qos.Scope{Chat: a.Chat(at), Family: qos.FamilyMessage}, spare: true})
	path := "channels/" + channelOf(at) + "/messages/" + id + "/reactions/" + url.PathEscape(emoji) + "/@me"
	return only(outcome(a.client.callPath(ctx, http.MethodPut, path, nil, nil), at))
}

// pinMessage pins a message (docs.discord.com/developers/resources/message#pin-message). Discord
// says so in the channel, which rings nobody.
func (a *Adapter) pinMessage(ctx context.Context, at adapters.Target, id string) adapters.Reply {
	if err := checkIDs(at, id); err != nil {
		return rejected(err)
	}
	ctx = a.withScope(ctx, at, qos.FamilyMessage)
	return only(outcome(a.client.callPath(ctx, http.MethodPut, "channels/"+channelOf(at)+"/messages/pins/"+id, nil, nil), at))
}

// deleteMessage deletes a message of ours, for which it takes no permission
// (docs.discord.com/developers/resources/message#delete-message). One that's gone already is as good.
func (a *Adapter) deleteMessage(ctx context.Context, at adapters.Target, id string) adapters.Reply {
	if err := checkIDs(at, id); err != nil {
		return rejected(err)
	}
	ctx = a.withScope(ctx, at, qos.FamilyMessage)
	r := only(outcome(a.client.callPath(ctx, http.MethodDelete, "channels/"+channelOf(at)+"/messages/"+id, nil, nil), at))
	if r.Outcome == qos.Rejected && r.Missing == adapters.MissingMessage {
		return adapters.Reply{Outcome: qos.Delivered}
	}
	return r
}

// What a message may have below it (docs.discord.com/developers/components/reference).
const (
	maxRows    = 5
	maxInRow   = 5
	maxLabel   = 80  // characters of a button
	maxOptions = 25  // of a select menu, which fills a row
	maxHint    = 150 // characters of what stands in a select menu
)

// menuMark begins the custom id of a menu. What's chosen of a menu whose custom id begins
// otherwise is a button.
const menuMark = "m:"

// componentsBelow is what a message has below it: menus, then buttons. nil: nothing.
func componentsBelow(menus []adapters.Menu, rows [][]adapters.Button) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	for _, m := range menus {
		out = append(out, discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu(m)}})
	}
	return append(out, keyboard(rows, maxRows-len(menus))...)
}

// menu is a menu as Discord takes it.
func menu(m adapters.Menu) discordgo.SelectMenu {
	out := discordgo.SelectMenu{
		MenuType: discordgo.StringSelectMenu, CustomID: menuMark + m.Data, Placeholder: adapters.Shorten(m.Hint, maxHint),
		MinValues: &m.Least, MaxValues: min(m.Most, len(m.Options)),
	}
	for _, o := range m.Options {
		out.Options = append(out.Options, discordgo.SelectMenuOption{
			Label: adapters.Shorten(o.Label, adapters.MaxOption), Description: adapters.Shorten(o.Detail, adapters.MaxOption), Value: o.Value, Default: o.Chosen,
		})
	}
	return out
}

// keyboard is buttons as Discord takes them, in so many rows at most: rows as they are if
// they fit, else filled up, and more buttons than fit as select menus. nil: none.
func keyboard(rows [][]adapters.Button, most int) []discordgo.MessageComponent {
	var all []adapters.Button
	var fitting [][]adapters.Button
	for _, row := range rows {
		all = append(all, row...)
		fitting = slices.AppendSeq(fitting, slices.Chunk(row, maxInRow))
	}
	switch {
	case len(all) == 0:
		return nil
	case len(all) > most*maxInRow:
		return buttonMenus(all, most)
	case len(fitting) > most:
		fitting = slices.Collect(slices.Chunk(all, maxInRow))
	}
	var out []discordgo.MessageComponent
	for _, row := range fitting {
		var line discordgo.ActionsRow
		for _, b := range row {
			line.Components = append(line.Components, button(b))
		}
		out = append(out, line)
	}
	return out
}

func button(b adapters.Button) discordgo.Button {
	out := discordgo.Button{Label: adapters.Shorten(b.Label, maxLabel), Style: discordgo.SecondaryButton, CustomID: b.Data}
	if b.URL != "" {
		out.Style, out.URL, out.CustomID = discordgo.LinkButton, b.URL, ""
	}
	return out
}

// buttonMenus are buttons as the options of select menus, whose values are the buttons' data.
// Addresses can't be options, and are left out; what's too much is counted.
func buttonMenus(all []adapters.Button, most int) []discordgo.MessageComponent {
	all = slices.DeleteFunc(slices.Clone(all), func(b adapters.Button) bool { return b.URL != "" })
	var out []discordgo.MessageComponent
	for options := range slices.Chunk(all, maxOptions) {
		n := len(out)
		if n == most {
			break
		}
		list := discordgo.SelectMenu{
			MenuType: discordgo.StringSelectMenu, CustomID: fmt.Sprintf("s%d", n+1),
			Placeholder: fmt.Sprintf("%d to %d of %d", n*maxOptions+1, n*maxOptions+len(options), len(all)),
		}
		for _, b := range options {
			list.Options = append(list.Options, discordgo.SelectMenuOption{Label: adapters.Shorten(b.Label, adapters.MaxOption), Value: b.Data})
		}
		out = append(out, discordgo.ActionsRow{Components: []discordgo.MessageComponent{list}})
	}
	return out
}

// maxText is the longest content of a message. Discord says characters; UTF-16 units
// are never fewer.
const maxText = discord.MaxUnits

// nothingToSee stands for a page of which nothing can be seen: Discord refuses such
// messages.
const nothingToSee = "[nothing to see]"

// pageText is Shape.Text: markup is part of a message's content.
func pageText(p adapters.Page) string {
	if s := styled(p); s != "" {
		return s
	}
	return nothingToSee
}

// pageSize is Shape.Size.
func pageSize(p adapters.Page) int { return adapters.UTF16Len(styled(p)) }

// styled is a page with all its formatting; "" if nothing of it can be seen.
func styled(p adapters.Page) string {
	s := discord.Markdown(adapters.Rendered(p).Text())
	if p.Ending == nil {
		return s
	}
	whole := p.Ending.String()
	above, ok := strings.CutSuffix(s, noticeText(whole))
	if !ok {
		return s
	}
	lines := strings.Split(whole, "\n")
	links := p.Ending.Links()
	for i, line := range lines {
		if len(links) > 0 && links[0].Line == i {
			lines[i], links = linkedLine(line, links[0]), links[1:]
		} else {
			lines[i] = noticeText(line)
		}
	}
	return above + strings.Join(lines, "\n")
}

// linkedLine is a line of what panebridge says itself whose beginning leads somewhere.
func linkedLine(line string, l adapters.TextLink) string {
	s := "[" + noticeText(l.Text) + "](<" + l.Address + ">)"
	rest := strings.TrimPrefix(line, l.Text) // a link whose text holds another is none
	if words, apart := strings.CutPrefix(rest, " "); apart {
		return s + " " + noticeText(words)
	}
	return s + noticeText(rest)
}

// noticeText is what panebridge says itself, as Discord takes it.
func noticeText(text string) string {
	return discord.Markdown(render.Page{Lines: []render.PageLine{render.Whole(render.Notice, text)}}.Text())
}

// cutNotice stands at the end of a post that's too long for a message.
const cutNotice = `\[the rest doesn't fit\]`

// postText is Markdown as Discord takes it, cut to what a message holds.
func postText(markdown string) string {
	source := []render.Part{{Kind: render.Answer, Source: markdown}}
	t, _, whole := discord.Form(maxText).Next(source, render.TextPosition{})
	s := ""
	if whole {
		s = discord.Markdown(t)
	} else {
		t, _, _ = discord.Form(maxText-len(cutNotice)-2).Next(source, render.TextPosition{})
		s = discord.Markdown(t) + "\n\n" + cutNotice
	}
	if s == "" {
		return nothingToSee
	}
	return s
}

var _ adapters.Asider = (*Adapter)(nil)

// Drafts implements adapters.Asider: Discord has none, and the live region stands below
// the lines.
func (a *Adapter) Drafts(adapters.Target) bool { return false }

// Draft implements adapters.Asider.
func (a *Adapter) Draft(context.Context, adapters.Target, adapters.BindingID, adapters.Page) adapters.Reply {
	return rejected(errors.New("there are no drafts on Discord"))
}

// Typing implements adapters.Asider. It's shown for 10 s
// (docs.discord.com/developers/resources/channel#trigger-typing-indicator).
func (a *Adapter) Typing(ctx context.Context, t adapters.Target) adapters.Reply {
	if err := checkIDs(t, ""); err != nil {
		return rejected(err)
	}
	ctx = withPurpose(ctx, callPurpose{scope: qos.Scope{Chat: a.Chat(t), Family: qos.FamilyTyping}, spare: true})
	return outcome(a.client.callPath(ctx, http.MethodPost, "channels/"+channelOf(t)+"/typing", nil, nil), t)
}
