package discord

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// journalRecord is an event as the journal keeps it: as it came, with what's needed to read
// it at any time and isn't in it.
type journalRecord struct {
	Type string          `json:"t"`
	Key  string          `json:"key"` // within this adapter: "m1234"
	Bot  string          `json:"bot"` // the bot's user id
	Data json.RawMessage `json:"d"`
	// Parent is the channel of the thread that it happened in; "": it isn't a thread.
	Parent string `json:"parent,omitempty"`
	// Chat is the channel that's meant by an event about the whole server.
	Chat string `json:"chat,omitempty"`
}

// The events that are read, as Discord names them
// (docs.discord.com/developers/events/gateway-events).
const (
	eventReady       = "READY"
	eventResumed     = "RESUMED"
	eventGuild       = "GUILD_CREATE"
	eventGuildGone   = "GUILD_DELETE"
	eventChannel     = "CHANNEL_CREATE"
	eventChannelGone = "CHANNEL_DELETE"
	// With the name of a channel or a role, what may be done there can have changed.
	eventChannelChanged = "CHANNEL_UPDATE"
	eventRole           = "GUILD_ROLE_UPDATE"
	eventMember         = "GUILD_MEMBER_UPDATE"
	eventThread         = "THREAD_CREATE"
	eventThreadChanged  = "THREAD_UPDATE"
	eventThreadGone     = "THREAD_DELETE"
	eventThreads        = "THREAD_LIST_SYNC"
	eventMessage        = "MESSAGE_CREATE"
	eventEdited         = "MESSAGE_UPDATE"
	eventInteraction    = "INTERACTION_CREATE"
)

// What's read of events. Fields that aren't needed aren't here, so that nothing in them
// can be wrong.
type (
	messageJSON struct {
		ID        string     `json:"id"`
		Channel   string     `json:"channel_id"`
		Guild     string     `json:"guild_id"` // "": a private chat
		Type      int        `json:"type"`
		Author    *userJSON  `json:"author"`
		Member    memberJSON `json:"member"`
		Webhook   string     `json:"webhook_id"`
		Content   string     `json:"content"`
		EditedAt  string     `json:"edited_timestamp"`
		Flags     int64      `json:"flags"`
		Mentions  []userJSON `json:"mentions"`
		Files     []fileJSON `json:"attachments"`
		Reference struct {
			Type    int    `json:"type"`
			Message string `json:"message_id"`
		} `json:"message_reference"`
		// Answered is the message of Reference, if that's still there.
		Answered *struct {
			Author   *userJSON  `json:"author"`
			Content  string     `json:"content"`
			Mentions []userJSON `json:"mentions"`
		} `json:"referenced_message"`
		// Forwarded is what stands in a message that was passed on; its own text is empty.
		Forwarded []struct {
			Message struct {
				Content  string     `json:"content"`
				Flags    int64      `json:"flags"`
				Files    []fileJSON `json:"attachments"`
				Mentions []userJSON `json:"mentions"`
			} `json:"message"`
		} `json:"message_snapshots"`
	}
	userJSON struct {
		ID     string `json:"id"`
		Name   string `json:"username"`
		Global string `json:"global_name"`
		Bot    bool   `json:"bot"`
		System bool   `json:"system"`
	}
	memberJSON struct {
		Nick string    `json:"nick"`
		User *userJSON `json:"user"` // of interactions
	}
	fileJSON struct {
		ID   string `json:"id"`
		Name string `json:"filename"`
		Size int64  `json:"size"`
		URL  string `json:"url"`
	}
	channelJSON struct {
		ID     string `json:"id"`
		Guild  string `json:"guild_id"`
		Type   int    `json:"type"`
		Name   string `json:"name"`
		Owner  string `json:"owner_id"`  // of a thread: who made it
		Parent string `json:"parent_id"` // of a thread its channel, of a channel its category
		Last   string `json:"last_message_id"`
		Thread *struct {
			Archived   bool      `json:"archived"`
			Locked     bool      `json:"locked"`
			ArchivedAt time.Time `json:"archive_timestamp"`
			After      int64     `json:"auto_archive_duration"` // minutes
		} `json:"thread_metadata"`
	}
)

// Kinds of messages and channels, and flags
// (docs.discord.com/developers/resources/message and …/channel).
const (
	messagePlain   = 0
	messagePinned  = 6
	messageThread  = 18 // a thread was begun
	messageReply   = 19
	referenceReply = 0
	// referenceForward is of a message that was passed on
	// (docs.discord.com/developers/resources/message#message-reference-types).
	referenceForward = 1
	flagVoice        = 1 << 13

	channelCategory           = 4
	channelAnnouncementThread = 10
	channelPublicThread       = 11
	channelPrivateThread      = 12
	channelDirectory          = 14
	channelForum              = 15
	channelMedia              = 16
)

func isThread(kind int) bool {
	return kind >= channelAnnouncementThread && kind <= channelPrivateThread
}

// hasMessages says whether anybody can write in a channel itself.
func hasMessages(kind int) bool {
	return kind != channelCategory && (kind < channelDirectory || kind > channelMedia)
}

// maxName bounds a person's name, in characters: Discord takes 32.
const maxName = 64

// Decoder reads events. A slash command becomes a line with its arguments in the order that its parameters have
// among the commands.
type Decoder struct{ Commands []intake.CommandInfo }

// Decode reads an event of the journal; false: there's nothing to do. It's what
// intake.Queue needs.
//
// What somebody writes is only passed on if a person did. Messages of bots and webhooks
// aren't: anybody can be behind them. What happened to a thread or a channel is passed on
// whoever did it.
func (d Decoder) Decode(raw []byte) (intake.Event, bool, error) {
	var r journalRecord
	if err := readEvent(raw, &r); err != nil {
		return intake.Event{}, false, err
	}
	return d.eventOf(r)
}

// eventOf reads a record.
func (d Decoder) eventOf(r journalRecord) (intake.Event, bool, error) {
	if r.Key == "" {
		return intake.Event{}, false, errors.New("read an event: it has no key")
	}
	e := intake.Event{Key: Name + ":" + r.Key}
	var err error
	switch r.Type {
	case eventMessage:
		err = r.readMessage(&e)
	case eventEdited:
		err = r.readEdit(&e)
	case eventInteraction:
		err = d.decodeInteraction(&e, r)
	case eventThreadChanged:
		err = r.readThreadChange(&e)
	case eventThreadGone:
		err = r.readThreadGone(&e)
	case eventChannelGone:
		err = r.readChannelGone(&e)
	case eventChannelChanged:
		err = r.readChannelChange(&e)
	case eventGuild, eventRole, eventMember:
		e.Place = adapters.Target{Adapter: Name, Chat: r.Chat}
		e.Action = intake.ChatBack{}
	case eventGuildGone:
		e.Place = adapters.Target{Adapter: Name, Chat: r.Chat}
		e.Action = intake.ChatLost{Why: "The bot was removed from the server: invite it again."}
	}
	if err != nil || e.Action == nil {
		return intake.Event{}, false, err
	}
	return e, true, nil
}

// readEvent reads the JSON of an event, or of a part of one.
func readEvent(raw []byte, into any) error { return intake.Unmarshal("read an event", raw, into) }

// readMessage reads a new message.
func (r journalRecord) readMessage(e *intake.Event) error {
	m, err := r.readFrame(e)
	if err == nil && m.isRemark(r.Bot) {
		e.Action = intake.Remarked{}
		return nil
	}
	if err != nil || !m.isPersons() {
		return err
	}
	m.unfold()
	said := intake.Said{Text: m.text(r.Bot), Files: m.files()}
	said.ReplyTo, said.Quoted = m.answers(r.Bot)
	if e.Person.ID != "" && (said.Text != "" || len(said.Files) > 0) {
		e.Action = said
	}
	return nil
}

// answers is the message that's answered, and what it shows; "": none is.
func (m messageJSON) answers(bot string) (id string, q intake.Quoted) {
	if m.Type != messageReply || m.Reference.Type != referenceReply || !isID(m.Reference.Message) {
		return "", q
	}
	if a := m.Answered; a != nil && a.Author != nil {
		q.Text = messageJSON{Content: a.Content, Mentions: a.Mentions}.text("")
		if q.Ours = a.Author.ID == bot; q.Ours {
			q.Text = bareText(q.Text)
		}
	}
	return m.Reference.Message, q
}

// bareText is a text of ours as it looks: outside of blocks of code characters are escaped.
func bareText(text string) string {
	var rows []string
	code := false
	for row := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(row, "```"):
			code = !code
		case code:
			rows = append(rows, row)
		default:
			rows = append(rows, withoutEscapes(row))
		}
	}
	return strings.Join(rows, "\n")
}

// withoutEscapes drops the backslashes before punctuation.
func withoutEscapes(row string) string {
	var b strings.Builder
	for i := 0; i < len(row); i++ {
		if row[i] == '\\' && i+1 < len(row) && row[i+1] < unicode.MaxASCII && (unicode.IsPunct(rune(row[i+1])) || unicode.IsSymbol(rune(row[i+1]))) {
			i++
		}
		b.WriteByte(row[i])
	}
	return b.String()
}

// unfold takes what somebody passed on for what they say. A command that's passed on is
// none.
func (m *messageJSON) unfold() {
	if m.Reference.Type != referenceForward {
		return
	}
	for _, f := range m.Forwarded {
		m.Content = strings.TrimSpace(m.Content + "\n" + f.Message.Content)
		m.Files, m.Mentions = append(m.Files, f.Message.Files...), append(m.Mentions, f.Message.Mentions...)
		m.Flags |= f.Message.Flags & flagVoice
	}
	if strings.HasPrefix(m.Content, "/") {
		m.Content = "/" + m.Content // so that it goes to the session as it is
	}
}

// readEdit reads a message that was changed. One to which only a preview of a link was
// added has no time of an edit.
func (r journalRecord) readEdit(e *intake.Event) error {
	m, err := r.readFrame(e)
	if err != nil || !m.isPersons() || m.EditedAt == "" {
		return err
	}
	if at, err := time.Parse(time.RFC3339, m.EditedAt); err == nil {
		e.At = at
	}
	if text := m.text(r.Bot); e.Person.ID != "" && text != "" {
		to, quoted := m.answers(r.Bot)
		e.Action = intake.Edited{Text: text, ReplyTo: to, Quoted: quoted}
	}
	return nil
}

// isPersons says whether somebody wrote a message, and Discord didn't make it of
// something else that was done.
func (m messageJSON) isPersons() bool {
	return m.Webhook == "" && m.Author != nil && (m.Type == messagePlain || m.Type == messageReply)
}

// isRemark says whether it's Discord's own line about what the bot did.
func (m messageJSON) isRemark(bot string) bool {
	return m.Author != nil && m.Author.ID == bot && (m.Type == messagePinned || m.Type == messageThread)
}

// isWanted says whether it's of a person, or such a line.
func (m messageJSON) isWanted(bot string) bool {
	return m.isPersons() && !m.Author.Bot || m.isRemark(bot)
}

// readFrame reads where, when, by whom and which message.
func (r journalRecord) readFrame(e *intake.Event) (m messageJSON, err error) {
	if err := readEvent(r.Data, &m); err != nil {
		return m, err
	}
	if !isID(m.ID) {
		return m, errors.New("read an event: id is missing")
	}
	if e.Place, err = placeAt(m.Channel, r.Parent); err != nil {
		return m, err
	}
	e.Message, e.At, e.Private = m.ID, madeAt(m.ID), m.Guild == ""
	if m.Author != nil {
		e.Person = person(*m.Author, m.Member.Nick)
	}
	return m, nil
}

// placeAt is a channel, or a thread in one.
func placeAt(channel, parent string) (adapters.Target, error) {
	t := adapters.Target{Adapter: Name, Chat: channel}
	if parent != "" {
		t.Chat, t.Thread = parent, channel
	}
	if !isID(channel) || parent != "" && !isID(parent) {
		return t, errors.New("read an event: channel_id is missing")
	}
	return t, nil
}

// person is who somebody is; without an ID if it's nobody in particular.
func person(u userJSON, nick string) intake.Person {
	var p intake.Person
	for _, name := range []string{u.Name, u.Global, nick} {
		if name != "" {
			p.Name = adapters.Shorten(name, maxName)
		}
	}
	if isID(u.ID) && !u.Bot && !u.System {
		p.ID = Name + ":" + u.ID
	}
	return p
}

// text is what was written, with people's names in place of their numbers. The bot is
// mentioned to call it, not to be read.
func (m messageJSON) text(bot string) string {
	text := m.Content
	for _, mention := range []string{"<@" + bot + ">", "<@!" + bot + ">"} {
		for {
			before, after, ok := strings.Cut(text, mention)
			if !ok || bot == "" {
				break
			}
			if before == "" || strings.HasSuffix(before, " ") {
				after = strings.TrimLeft(after, " ")
			}
			text = before + after
		}
	}
	for _, u := range m.Mentions {
		if name := person(u, "").Name; isID(u.ID) && name != "" {
			text = strings.NewReplacer("<@"+u.ID+">", "@"+name, "<@!"+u.ID+">", "@"+name).Replace(text)
		}
	}
	return strings.TrimSpace(text)
}

// files are a message's. A file is named by where it is, and where a fresh address of it
// can be had: addresses are good for a day (docs.discord.com/developers/reference#signed-attachment-cdn-urls).
func (m messageJSON) files() (list []intake.Attachment) {
	for _, f := range m.Files {
		if !isID(f.ID) || f.URL == "" {
			continue
		}
		file := intake.Attachment{
			ID: strings.Join([]string{m.Channel, m.ID, f.ID, f.URL}, " "), Name: f.Name, Kind: intake.FileDocument, Size: max(0, f.Size),
		}
		if m.Flags&flagVoice != 0 {
			file.Name, file.Kind = "", intake.FileVoice
		}
		list = append(list, file)
	}
	return list
}

// readThread reads what an event says about a thread.
func (r journalRecord) readThread(e *intake.Event) (c channelJSON, err error) {
	if err := readEvent(r.Data, &c); err != nil {
		return c, err
	}
	if !isThread(c.Type) || !isID(c.ID) || !isID(c.Parent) {
		return c, nil
	}
	e.Place, err = placeAt(c.ID, c.Parent)
	return c, err
}

// readThreadChange reads how a thread is now. A thread that Discord put away by itself,
// because nobody had written for long, isn't closed: a message takes it out again.
func (r journalRecord) readThreadChange(e *intake.Event) error {
	c, err := r.readThread(e)
	if err != nil || c.Thread == nil || e.Place.Thread == "" {
		return err
	}
	switch {
	case c.Thread.Locked, c.Thread.Archived && !c.putAway():
		e.Action = intake.ThreadClosed{}
	case !c.Thread.Archived:
		e.Action = intake.ThreadOpened{}
	}
	return nil
}

// putAway says whether an archived thread was so by itself.
func (c channelJSON) putAway() bool {
	last := madeAt(c.ID)
	if at := madeAt(c.Last); at.After(last) {
		last = at
	}
	idle := time.Duration(c.Thread.After) * time.Minute
	return idle > 0 && c.Thread.ArchivedAt.Sub(last) >= idle-time.Minute
}

func (r journalRecord) readThreadGone(e *intake.Event) error {
	_, err := r.readThread(e)
	if err == nil && e.Place.Thread != "" {
		e.Action = intake.ThreadDeleted{}
	}
	return err
}

// readChannelChange reads that a channel has changed: the bot may be let in again.
func (r journalRecord) readChannelChange(e *intake.Event) error {
	var c channelJSON
	if err := readEvent(r.Data, &c); err != nil || isThread(c.Type) {
		return err
	}
	var err error
	e.Place, err = placeAt(c.ID, "")
	e.Action = intake.ChatBack{}
	return err
}

// readChannelGone reads that a channel was deleted, or that the bot may not see it any more.
func (r journalRecord) readChannelGone(e *intake.Event) error {
	var c channelJSON
	if err := readEvent(r.Data, &c); err != nil || isThread(c.Type) {
		return err
	}
	var err error
	e.Place, err = placeAt(c.ID, "")
	e.Action = intake.ChatLost{Why: "The channel was deleted, or the bot may not see it any more."}
	return err
}

// interactionJSON is what's read of an interaction
// (docs.discord.com/developers/interactions/receiving-and-responding).
type interactionJSON struct {
	ID      string      `json:"id"`
	App     string      `json:"application_id"`
	Type    int         `json:"type"`
	Token   string      `json:"token"`
	Guild   string      `json:"guild_id"`
	Channel string      `json:"channel_id"`
	Where   channelJSON `json:"channel"`
	Member  memberJSON  `json:"member"` // in a server
	User    *userJSON   `json:"user"`   // in a private chat
	// Context says whose private chat it is; nil: not known.
	Context *int `json:"context"`
	Message struct {
		ID string `json:"id"`
	} `json:"message"`
	Data struct {
		Name      string       `json:"name"`
		Type      int          `json:"type"`
		Options   []optionJSON `json:"options"`
		CustomID  string       `json:"custom_id"`
		Component int          `json:"component_type"`
		Values    []string     `json:"values"`
	} `json:"data"`
}

type optionJSON struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Focused bool            `json:"focused"`
}

// Kinds of interactions, commands and components.
const (
	interactionCommand  = 2
	interactionPress    = 3
	interactionComplete = 4

	commandSlash    = 1
	componentSelect = 3
)

// replyMark begins what stands for a message in the event of a slash command: there is
// none that could be answered or reacted to.
const replyMark = "i"

// readInteraction reads what every interaction has.
func (r journalRecord) readInteraction(e *intake.Event) (i interactionJSON, err error) {
	if err := readEvent(r.Data, &i); err != nil {
		return i, err
	}
	if !isID(i.ID) || !isID(i.App) || !isToken(i.Token) {
		return i, errors.New("read an event: the interaction's id, application_id or token is missing")
	}
	parent := r.Parent
	if isThread(i.Where.Type) {
		parent = i.Where.Parent
	}
	if e.Place, err = placeAt(i.Channel, parent); err != nil {
		return i, err
	}
	// A private chat of others, where somebody has brought the application, isn't ours.
	e.At, e.Private = madeAt(i.ID), i.Guild == "" && (i.Context == nil || *i.Context == contextBotDM)
	switch {
	case i.Member.User != nil:
		e.Person = person(*i.Member.User, i.Member.Nick)
	case i.User != nil:
		e.Person = person(*i.User, "")
	}
	return i, nil
}

// maxToken bounds an interaction's token, in bytes: those seen have some 200.
const maxToken = 1024

// isToken says whether a text can be a part of an address as it is.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '=', c == ':':
		case c == '.' && s != "." && s != "..":
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxToken
}

// decodeInteraction reads a slash command, or a pressed button or chosen entry of a menu.
func (d Decoder) decodeInteraction(e *intake.Event, r journalRecord) error {
	i, err := r.readInteraction(e)
	if err != nil || e.Person.ID == "" {
		return err
	}
	switch {
	case i.Type == interactionCommand && i.Data.Type == commandSlash && i.Data.Name != "":
		e.Message = replyMark + i.ID
		e.Action = intake.Said{Text: d.commandLine(i.Data.Name, i.given())}
	case i.Type == interactionPress:
		if !isID(i.Message.ID) {
			return errors.New("read an event: message.id is missing")
		}
		e.Message = i.Message.ID
		pressed := intake.Pressed{Data: i.Data.CustomID, Token: i.App + " " + i.Token, Stays: true}
		if i.Data.Component == componentSelect {
			pressed.Data, pressed.Chosen = i.chosen()
		}
		if pressed.Data != "" {
			e.Action = pressed
		}
	}
	return nil
}

// chosen is what was chosen of a select menu: values of a menu, or one of the buttons that
// it stands for.
func (i interactionJSON) chosen() (data string, values []string) {
	if data, ok := strings.CutPrefix(i.Data.CustomID, menuMark); ok {
		return data, i.Data.Values
	}
	if len(i.Data.Values) > 0 {
		return i.Data.Values[0], nil
	}
	return "", nil
}

// given are the arguments as they were given, by name.
func (i interactionJSON) given() map[string]string {
	out := map[string]string{}
	for _, o := range i.Data.Options {
		out[o.Name] = o.text()
	}
	return out
}

// text is an argument as it's written.
func (o optionJSON) text() string {
	var s string
	if err := json.Unmarshal(o.Value, &s); err == nil {
		return s
	}
	var n float64
	if err := json.Unmarshal(o.Value, &n); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

// focused is the argument that's being written; false: none.
func (i interactionJSON) focused() (optionJSON, bool) {
	for _, o := range i.Data.Options {
		if o.Focused {
			return o, true
		}
	}
	return optionJSON{}, false
}

// commandLine is a slash command as it's written as a text, on one line: its arguments in
// the order of the command's parameters, whatever order they were given in. Blanks within
// them stay: they may be part of a name.
func (d Decoder) commandLine(name string, given map[string]string) string {
	words := []string{"/" + name}
	add := func(text string) {
		text = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, text))
		if text != "" {
			words = append(words, text)
		}
	}
	for _, c := range d.Commands {
		if c.Name != name {
			continue
		}
		for _, p := range c.Params {
			add(given[p.Name])
			delete(given, p.Name)
		}
	}
	var rest []string
	for name := range given { // of another version of panebridge
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range rest {
		add(given[name])
	}
	return strings.Join(words, " ")
}
