package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/sessions"
)

// Decoder reads updates as they concern one bot.
type Decoder struct {
	Bot  int64  // its number
	User string // its user name, without @
}

// What's read of an update. Fields that aren't needed aren't here, so that nothing in
// them can be wrong. Names are those of core.telegram.org/bots/api.
type (
	updateJSON struct {
		ID       int64         `json:"update_id"`
		Message  *messageJSON  `json:"message"`
		Edited   *messageJSON  `json:"edited_message"`
		Callback *callbackJSON `json:"callback_query"`
		Member   *memberJSON   `json:"my_chat_member"`
		Other    *memberJSON   `json:"chat_member"`
	}
	messageJSON struct {
		ID         int64     `json:"message_id"`
		Thread     int64     `json:"message_thread_id"`
		IsTopic    bool      `json:"is_topic_message"`
		From       *userJSON `json:"from"`
		SenderChat *chatJSON `json:"sender_chat"`
		Date       int64     `json:"date"` // 0: the message isn't accessible
		EditDate   int64     `json:"edit_date"`
		Chat       chatJSON  `json:"chat"`
		ReplyTo    *struct {
			ID           int64     `json:"message_id"`
			From         *userJSON `json:"from"`
			Text         string    `json:"text"`
			Caption      string    `json:"caption"`
			TopicCreated *struct{} `json:"forum_topic_created"`
		} `json:"reply_to_message"`
		Quote struct {
			Text string `json:"text"` // the part of ReplyTo that's answered
		} `json:"quote"`
		Forwarded *struct{} `json:"forward_origin"` // somebody passes on what was written before

		Album           string       `json:"media_group_id"`
		Text            string       `json:"text"`
		Entities        []entityJSON `json:"entities"`
		Caption         string       `json:"caption"`
		CaptionEntities []entityJSON `json:"caption_entities"`

		Document *fileJSON  `json:"document"` // of an animation, too
		Audio    *fileJSON  `json:"audio"`
		Video    *fileJSON  `json:"video"`
		Note     *fileJSON  `json:"video_note"`
		Voice    *fileJSON  `json:"voice"`
		Photo    []fileJSON `json:"photo"` // the same in several sizes

		Left          *userJSON `json:"left_chat_member"`
		Pinned        *struct{} `json:"pinned_message"`
		TopicEdited   *struct{} `json:"forum_topic_edited"`
		TopicClosed   *struct{} `json:"forum_topic_closed"`
		TopicReopened *struct{} `json:"forum_topic_reopened"`
		MigratedTo    int64     `json:"migrate_to_chat_id"`
		MigratedFrom  int64     `json:"migrate_from_chat_id"`
	}
	callbackJSON struct {
		ID      string       `json:"id"`
		From    userJSON     `json:"from"`
		Message *messageJSON `json:"message"`
		Data    string       `json:"data"`
	}
	memberJSON struct {
		Chat chatJSON `json:"chat"`
		From userJSON `json:"from"`
		Date int64    `json:"date"`
		New  struct {
			Status   string   `json:"status"`
			User     userJSON `json:"user"`
			IsMember bool     `json:"is_member"`         // if restricted
			CanSend  bool     `json:"can_send_messages"` // if restricted
		} `json:"new_chat_member"`
	}
	userJSON struct {
		ID        int64  `json:"id"`
		IsBot     bool   `json:"is_bot"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	}
	chatJSON struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	}
	entityJSON struct {
		Type   string `json:"type"`
		Offset int    `json:"offset"`
		Length int    `json:"length"`
	}
	fileJSON struct {
		ID     string `json:"file_id"`
		Name   string `json:"file_name"`
		Size   int64  `json:"file_size"`
		Width  int64  `json:"width"`
		Height int64  `json:"height"`
	}
)

// maxName bounds a person's name, in characters: twice 64 is what Telegram takes.
const maxName = 129

// accounts that Telegram puts in place of whoever it was: service notifications and
// channel posts, an anonymous administrator, a channel that writes in a group
// (core.telegram.org/bots/api#message, from).
var accounts = []int64{777000, 1087968824, 136817688} //nolint:gochecknoglobals // a constant table

// Decode reads an update; false: there's nothing to do. It's what intake.Queue
// needs.
//
// What somebody writes is only passed on if Telegram says which person it was.
// Messages of bots, channels and anonymous administrators aren't: anybody can be
// behind them. What happened to a topic or a chat is passed on whoever did it, with
// a Person that has no ID if it isn't known.
func (d Decoder) Decode(raw []byte) (intake.Event, bool, error) {
	var u updateJSON
	if err := intake.Unmarshal("read an update", raw, &u); err != nil {
		return intake.Event{}, false, err
	}
	if u.ID <= 0 {
		return intake.Event{}, false, errors.New("read an update: it has no update_id")
	}
	e := intake.Event{Key: fmt.Sprintf("%s:%d", Name, u.ID)}
	var err error
	switch {
	case u.Message != nil:
		err = d.readMessage(&e, u.Message)
	case u.Edited != nil:
		err = d.readEdit(&e, u.Edited)
	case u.Callback != nil:
		err = d.readPress(&e, u.Callback)
	case u.Member != nil:
		err = d.readOwnMembership(&e, u.Member)
	case u.Other != nil:
		err = d.readMembership(&e, u.Other)
	}
	if err != nil || e.Action == nil {
		return intake.Event{}, false, err
	}
	return e, true, nil
}

// readMessage reads a new message.
func (d Decoder) readMessage(e *intake.Event, m *messageJSON) error {
	if err := d.readFrame(e, m); err != nil {
		return err
	}
	switch {
	case m.From != nil && m.From.ID == d.Bot: // what we did ourselves
		if m.Pinned != nil || m.TopicEdited != nil || m.TopicClosed != nil || m.TopicReopened != nil {
			e.Action = intake.Remarked{}
		}
		return nil
	case m.MigratedTo != 0:
		e.Place.Thread = ""
		e.Action = intake.ChatMoved{To: strconv.FormatInt(m.MigratedTo, 10)}
		return nil
	case m.MigratedFrom != 0: // before anything that's written in the supergroup
		e.Place.Thread = ""
		e.Action = intake.ChatMoved{From: strconv.FormatInt(m.MigratedFrom, 10)}
		return nil
	case m.Left != nil:
		e.Place.Thread = ""
		e.Action = intake.Left{Person: person(m.Left).ID}
		return nil
	case m.TopicClosed != nil:
		e.Action = intake.ThreadClosed{}
		return nil
	case m.TopicReopened != nil:
		e.Action = intake.ThreadOpened{}
		return nil
	}
	said := intake.Said{ReplyTo: m.replyTo(), Quoted: d.quoted(m), Files: m.files(), Album: m.Album}
	var ours bool
	said.Text, ours = d.readText(m)
	if e.Person.ID != "" && ours && (said.Text != "" || len(said.Files) > 0) {
		e.Action = said
	}
	return nil
}

// readEdit reads a message that was changed. A location that moves is one too.
func (d Decoder) readEdit(e *intake.Event, m *messageJSON) error {
	if err := d.readFrame(e, m); err != nil {
		return err
	}
	if m.EditDate > 0 {
		e.At = timeOf(m.EditDate)
	}
	text, ours := d.readText(m)
	if e.Person.ID != "" && ours && text != "" {
		e.Action = intake.Edited{Text: text, ReplyTo: m.replyTo(), Quoted: d.quoted(m)}
	}
	return nil
}

// readPress reads a button that was pressed. When isn't told. If the message isn't
// accessible any more, neither is its topic.
func (d Decoder) readPress(e *intake.Event, c *callbackJSON) error {
	if c.Message == nil || c.Data == "" {
		return nil // below an inline message, which we have none of, or of a game
	}
	if err := d.readFrame(e, c.Message); err != nil {
		return err
	}
	e.At, e.Person = time.Time{}, person(&c.From)
	if c.ID == "" {
		return errors.New("read an update: callback_query.id is missing")
	}
	if e.Person.ID != "" {
		e.Action = intake.Pressed{Data: c.Data, Token: c.ID}
	}
	return nil
}

// readOwnMembership reads what has become of the bot in a chat.
func (d Decoder) readOwnMembership(e *intake.Event, m *memberJSON) error {
	if err := d.readPlace(e, m.Chat); err != nil {
		return err
	}
	e.At, e.Person = timeOf(m.Date), person(&m.From)
	if m.New.User.ID != d.Bot {
		return nil
	}
	switch status := m.New.Status; {
	case status == "kicked" && e.Private:
		e.Action = intake.ChatLost{Why: "The person has blocked the bot: unblock it, and send it /start."}
	case status == "kicked" || status == "left":
		e.Action = intake.ChatLost{Why: "The bot was removed from the chat: add it again."}
	case status == "restricted" && !m.New.CanSend:
		e.Action = intake.ChatLost{Why: "The bot may not write in the chat: allow it to send messages there."}
	case status == "member" || status == "administrator" || status == "restricted":
		e.Action = intake.ChatBack{}
	}
	return nil
}

// readMembership reads what became of somebody else in a group.
func (d Decoder) readMembership(e *intake.Event, m *memberJSON) error {
	if err := d.readPlace(e, m.Chat); err != nil {
		return err
	}
	e.At, e.Person = timeOf(m.Date), person(&m.From)
	if !e.Private && !isMember(m.New.Status, m.New.IsMember) {
		e.Action = intake.Left{Person: person(&m.New.User).ID}
	}
	return nil
}

// isMember says whether somebody is in a group, by what Telegram calls them there
// (core.telegram.org/bots/api#chatmember).
func isMember(status string, restrictedIn bool) bool {
	switch status {
	case "creator", "administrator", "member":
		return true
	case "restricted":
		return restrictedIn
	}
	return false
}

// readFrame reads where, when, by whom and which message. Messages have a topic only if
// they say so: outside of forums message_thread_id is the message that a thread of
// answers began with. General, and chats without topics, are no thread.
func (d Decoder) readFrame(e *intake.Event, m *messageJSON) error {
	if err := d.readPlace(e, m.Chat); err != nil {
		return err
	}
	if m.ID <= 0 {
		return errors.New("read an update: message_id is missing")
	}
	if m.IsTopic && m.Thread > 0 {
		e.Place.Thread = strconv.FormatInt(m.Thread, 10)
	}
	e.Message = strconv.FormatInt(m.ID, 10)
	e.At = timeOf(m.Date)
	if m.SenderChat == nil && m.From != nil {
		e.Person = person(m.From)
	}
	return nil
}

// timeOf reads a date; zero: it isn't one, and the time of arrival counts.
func timeOf(unix int64) time.Time {
	if unix <= 0 || unix > 1<<35 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}

func (d Decoder) readPlace(e *intake.Event, c chatJSON) error {
	if c.ID == 0 {
		return errors.New("read an update: chat.id is missing")
	}
	e.Place = adapters.Target{Adapter: Name, Chat: strconv.FormatInt(c.ID, 10)}
	e.Private = c.Type == "private"
	return nil
}

// person is who somebody is; without an ID if it's nobody in particular.
func person(u *userJSON) intake.Person {
	p := intake.Person{Name: adapters.Shorten(strings.TrimSpace(u.FirstName+" "+u.LastName), maxName)}
	if u.ID > 0 && !u.IsBot && !slices.Contains(accounts, u.ID) {
		p.ID = fmt.Sprintf("%s:%d", Name, u.ID)
	}
	return p
}

// readText is what was written. The bot's name is taken out of "/cmd@bot"; false: the
// command is another bot's. A command that's passed on is none: it's somebody else's, and goes to the session as it is.
func (d Decoder) readText(m *messageJSON) (string, bool) {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	if m.Forwarded != nil {
		if strings.HasPrefix(text, "/") {
			text = "/" + text
		}
		return text, true
	}
	for _, e := range entities {
		// Commands are ASCII, so that UTF-16 units are bytes.
		if e.Type != "bot_command" || e.Offset != 0 || e.Length <= 0 || e.Length > len(text) {
			continue
		}
		command, bot, named := strings.Cut(text[:e.Length], "@")
		if !named {
			continue
		}
		if !strings.EqualFold(bot, d.User) {
			return "", false
		}
		text = command + text[e.Length:]
		break
	}
	return text, true
}

// replyTo is the message that's answered. What stands in a topic and answers nothing
// else counts as an answer to the message that made the topic.
func (m *messageJSON) replyTo() string {
	r := m.ReplyTo
	if r == nil || r.ID <= 0 || r.TopicCreated != nil || m.IsTopic && r.ID == m.Thread {
		return ""
	}
	return strconv.FormatInt(r.ID, 10)
}

// quoted is what the message that's answered shows, or the part of it that was chosen.
func (d Decoder) quoted(m *messageJSON) intake.Quoted {
	if m.replyTo() == "" {
		return intake.Quoted{}
	}
	r := m.ReplyTo
	return intake.Quoted{Text: cmp.Or(m.Quote.Text, r.Text, r.Caption), Ours: r.From != nil && r.From.ID == d.Bot}
}

func (m *messageJSON) files() (list []intake.Attachment) {
	add := func(f *fileJSON, kind intake.FileKind) {
		if f != nil && f.ID != "" {
			list = append(list, intake.Attachment{ID: f.ID, Name: f.Name, Kind: kind, Size: max(0, f.Size)})
		}
	}
	add(m.Document, intake.FileDocument)
	add(m.Audio, intake.FileDocument)
	add(m.Video, intake.FileDocument)
	add(m.Note, intake.FileDocument)
	add(m.Voice, intake.FileVoice)
	if len(m.Photo) > 0 {
		largest := slices.MaxFunc(m.Photo, func(a, b fileJSON) int {
			return cmp.Or(cmp.Compare(a.area(), b.area()), cmp.Compare(a.Size, b.Size))
		})
		largest.Name = ""
		add(&largest, intake.FilePhoto)
	}
	return list
}

func (f fileJSON) area() float64 { return float64(f.Width) * float64(f.Height) }

// Identity is who the bot is: its number stands in the token, its user name only
// Telegram knows, and without it updates can't be read.
type Identity struct {
	client  *client
	notes   platform.Notes
	bot     string // the number in its token
	vitals  intake.Vitals
	decoder atomic.Pointer[Decoder]
}

// askFor bounds one call of getMe.
const askFor = 15 * time.Second

// Identity returns one that has called nothing yet.
func (a *Adapter) Identity() *Identity {
	return &Identity{
		client: a.client, notes: a.opt.Notes, bot: botOf(a.opt.Token), vitals: intake.Vitals{Log: a.log, Part: "asking Telegram who the bot is"},
	}
}

// AskUntilKnown calls getMe until Telegram says who the bot is; it returns false if ctx ends before. While
// Telegram doesn't say, the user name that was noted last counts, so that what waits can be handled.
// It blocks, and rests after a failure: for longer if Telegram doesn't take the token.
func (i *Identity) AskUntilKnown(ctx context.Context) bool {
	for fails := (failedCalls{}); ctx.Err() == nil; {
		d, err := i.askOnce(ctx)
		switch {
		case err == nil:
			i.decoder.Store(&d)
			i.vitals.Works(ctx)
			return true
		case ctx.Err() != nil:
		default:
			_ = sessions.Pause(ctx, fails.noteFailure(ctx, &i.vitals, err))
		}
	}
	return false
}

// Known says whether AskUntilKnown has found out.
func (i *Identity) Known() bool { return i.decoder.Load() != nil }

// Health says how well the calls of AskUntilKnown go. It may be called at any time.
func (i *Identity) Health() intake.Health { return i.vitals.Health() }

// Decode reads an update as Decoder.Decode does. Until it's known who the bot is it returns an error.
func (i *Identity) Decode(raw []byte) (intake.Event, bool, error) {
	d := i.decoder.Load()
	if d == nil {
		return intake.Event{}, false, errors.New("read an update: it's not known yet who the bot is")
	}
	return d.Decode(raw)
}

// noteUser is the key under which the bot's user name is remembered, with its number.
const noteUser = "bot user name "

func (i *Identity) askOnce(ctx context.Context) (Decoder, error) {
	number, err := strconv.ParseInt(i.bot, 10, 64)
	if err != nil {
		return Decoder{}, errors.New("read the bot's number: the token has none")
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	var me BotAccount
	err = callWithoutParams(ctx, i.client, &me, (*bot.Bot).GetMe)
	if err == nil && me.ID != number {
		err = &failure{CallFailure: i.client.exchange.Unreadable("getMe", errors.New("it says who another bot is"))}
	}
	if err != nil {
		user, noted := i.notes.Note(ctx, noteUser+i.bot)
		if noted != nil || user == "" {
			return Decoder{}, errors.Join(err, noted)
		}
		return Decoder{Bot: number, User: user}, nil
	}
	return Decoder{Bot: number, User: me.User}, i.notes.PutNote(ctx, noteUser+i.bot, me.User)
}
