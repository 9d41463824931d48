package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Probe looks at a bot and its chats without running anything. It acknowledges no
// update and changes nothing at Telegram, but for what SendText sends, DeleteWebhook and AcknowledgeUpdates; a look at updates
// ends the poll of another reader. The text of its errors has no secret, and says what
// to do where that's known.
type Probe struct{ client *client }

// NewProbe returns a probe that has called nothing yet. It needs the token, and
// where the Bot API is. The error joins all that's wrong with the options.
func NewProbe(opt Options) (*Probe, error) {
	a, err := New(opt)
	if err != nil {
		return nil, err
	}
	return &Probe{client: a.client}, nil
}

// Close closes unused connections.
func (p *Probe) Close() { p.client.exchange.Client().CloseIdleConnections() }

// BotAccount is who a token belongs to (core.telegram.org/bots/api#user).
type BotAccount struct {
	ID   int64  `json:"id"`
	Name string `json:"first_name"`
	User string `json:"username"` // without @
	// HearsAll says that privacy mode is off: in groups the bot gets every message.
	// As an administrator it does in any case.
	HearsAll bool `json:"can_read_all_group_messages"`
	// PrivateTopics says that its private chats have topics.
	PrivateTopics bool `json:"has_topics_enabled"`
}

// Check implements exchange.CheckedResult.
func (b *BotAccount) Check() error {
	if b.ID <= 0 || b.User == "" {
		return errors.New("it doesn't say who the bot is")
	}
	return nil
}

// Bot asks who the bot is.
func (p *Probe) Bot(ctx context.Context) (BotAccount, error) {
	var b BotAccount
	err := callWithoutParams(ctx, p.client, &b, (*bot.Bot).GetMe)
	return b, err
}

// WebhookState is a webhook as Telegram knows it.
type WebhookState struct {
	Host    string // to which updates are sent; "": there's no webhook. The rest of the address may be a secret
	Pending int    // updates that wait, with a webhook or without
	Problem string // why Telegram couldn't deliver the last time; "": it could, or it's long ago
}

// recently is how long ago a webhook's failure is still worth a word.
const recently = 10 * time.Minute

// Webhook asks whether a webhook takes the bot's updates.
func (p *Probe) Webhook(ctx context.Context) (WebhookState, error) {
	var info webhookInfo
	if err := callWithoutParams(ctx, p.client, &info, (*bot.Bot).GetWebhookInfo); err != nil || info.URL == "" {
		return WebhookState{Pending: info.Pending}, err
	}
	h := WebhookState{Host: "an unknown address", Pending: info.Pending}
	if u, err := url.Parse(info.URL); err == nil && u.Host != "" {
		h.Host = u.Host
	}
	if time.Since(time.Unix(info.LastErrorDate, 0)) < recently {
		h.Problem = harmless(info.LastErrorMessage)
	}
	return h, nil
}

// DeleteWebhook takes a webhook away, so that updates can be read. Those that wait stay.
func (p *Probe) DeleteWebhook(ctx context.Context) error {
	return callLibrary(ctx, p.client, nil, (*bot.Bot).DeleteWebhook, &bot.DeleteWebhookParams{})
}

// SendText sends a text to a chat, silently.
func (p *Probe) SendText(ctx context.Context, chat int64, text string) error {
	var got sentMessage
	return callLibrary(ctx, p.client, &got, (*bot.Bot).SendMessage, &bot.SendMessageParams{ChatID: chat, Text: text, DisableNotification: true})
}

// IsConflict says whether something else reads the bot's updates: another program
// that polls, or a webhook.
func IsConflict(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.Status == http.StatusConflict
}

// ProbedChat is a chat, and what the bot may do there.
type ProbedChat struct {
	ID       int64 // another than was asked for, if the group was upgraded
	Title    string
	Private  bool // a chat with a person
	Basic    bool // a group that was never upgraded: it can't have topics yet
	Topics   bool // topics are on
	Admin    bool // the bot is an administrator, and so hears everything
	MayWrite bool
	MayTopic bool // it may make and close topics
}

// Chat looks at a chat, and at the bot in it. A group that was upgraded is looked at
// under its new number.
func (p *Probe) Chat(ctx context.Context, self BotAccount, id int64) (ProbedChat, error) {
	seen, err := p.probeChat(ctx, self, id)
	if f, ok := errors.AsType[*failure](err); ok && f.migratedTo != 0 {
		return p.probeChat(ctx, self, f.migratedTo)
	}
	return seen, err
}

func (p *Probe) probeChat(ctx context.Context, self BotAccount, id int64) (ProbedChat, error) {
	var chat struct {
		ID        int64  `json:"id"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Forum     bool   `json:"is_forum"`
	}
	if err := callLibrary(ctx, p.client, &chat, (*bot.Bot).GetChat, &bot.GetChatParams{ChatID: id}); err != nil {
		return ProbedChat{}, err
	}
	if chat.Type == "private" {
		name := strings.TrimSpace(chat.FirstName + " " + chat.LastName)
		return ProbedChat{
			ID: chat.ID, Title: shownName(name), Private: true, Topics: self.PrivateTopics,
			MayWrite: true, MayTopic: self.PrivateTopics,
		}, nil
	}
	var member struct {
		Status  string `json:"status"`
		CanSend bool   `json:"can_send_messages"` // if restricted
		Topics  bool   `json:"can_manage_topics"` // if an administrator
	}
	if err := callLibrary(ctx, p.client, &member, (*bot.Bot).GetChatMember, &bot.GetChatMemberParams{ChatID: id, UserID: self.ID}); err != nil {
		return ProbedChat{}, err
	}
	seen := ProbedChat{ID: chat.ID, Title: shownName(chat.Title), Basic: chat.Type == "group", Topics: chat.Forum}
	switch member.Status {
	case "creator":
		seen.Admin, seen.MayWrite, seen.MayTopic = true, true, true
	case "administrator":
		seen.Admin, seen.MayWrite, seen.MayTopic = true, true, member.Topics
	case "restricted":
		seen.MayWrite = member.CanSend
	case "left", "kicked":
		return seen, &failure{CallFailure: p.client.exchange.Failed("getChatMember", qos.ChatGone, errors.New(adviceChat))}
	default:
		seen.MayWrite = true
	}
	return seen, nil
}

// HeardMessage is what somebody did that shows the bot a chat: a message, or that the bot was
// added to a group.
type HeardMessage struct {
	Update int64 // its number
	Person int64 // 0: Telegram doesn't say who, as of anonymous administrators
	Name   string
	User   string // without @; "": none
	Chat   int64
	Title  string // of a group
	// Private says that it was in a private chat with the bot.
	Private bool
	Text    string // the beginning of it; "": there's none
}

// PendingUpdates are the bot's updates that nobody has acknowledged yet.
type PendingUpdates struct {
	Heard   []HeardMessage  // the oldest first
	Updates []intake.Update // all of them, the oldest first, as the daemon's journal takes them
	Numbers []int64         // of these
	Full    bool            // there may be more, which can't be seen before these are acknowledged
	Last    int64           // the number of the newest update; 0: none
}

// PendingUpdates returns the updates that wait, and acknowledges none, so that the daemon gets
// them, too. If there are none it waits for some, for as long as that (50 s at most).
// The poll of another reader ends by it, and another's may end it (IsConflict).
func (p *Probe) PendingUpdates(ctx context.Context, wait time.Duration) (PendingUpdates, error) {
	list, err := p.getUpdates(ctx, wait, map[string]any{"limit": maxUpdates, "allowed_updates": allowedUpdates})
	w := PendingUpdates{Full: len(list) >= maxUpdates}
	for _, raw := range list {
		if u, number, err := readUpdate(raw); err == nil {
			w.Updates, w.Numbers = append(w.Updates, u), append(w.Numbers, number)
		}
		h, ok := readHeard(raw)
		w.Last = max(w.Last, h.Update)
		if ok {
			w.Heard = append(w.Heard, h)
		}
	}
	return w, err
}

// getUpdates calls getUpdates without an offset, which acknowledges nothing.
func (p *Probe) getUpdates(ctx context.Context, wait time.Duration, params map[string]any) (list []json.RawMessage, err error) {
	wait = min(max(wait, 0), pollFor)
	ctx, cancel := context.WithTimeout(ctx, wait+pollSlack)
	defer cancel()
	params["timeout"] = int(wait.Seconds())
	err = p.client.callMethod(ctx, "getUpdates", params, &list)
	return list, err
}

// AcknowledgeUpdates tells Telegram that all updates up to a number have come: nobody gets them any more.
func (p *Probe) AcknowledgeUpdates(ctx context.Context, last int64) error {
	var list []json.RawMessage
	return p.client.callMethod(ctx, "getUpdates", map[string]any{"offset": last + 1, "limit": 1, "timeout": 0}, &list)
}

// FindRival watches for so long whether another program reads the bot's updates. One that
// polls shows up when it calls again, and ends our call.
func (p *Probe) FindRival(ctx context.Context, watch time.Duration) (bool, error) {
	for end := time.Now().Add(watch); ; {
		_, err := p.getUpdates(ctx, time.Until(end), map[string]any{"limit": 1}) // the kinds stay as that program wants them
		if IsConflict(err) {
			return true, nil
		}
		if err != nil || !time.Now().Before(end) {
			return false, err
		}
		_ = sessions.Pause(ctx, min(time.Until(end), 500*time.Millisecond)) // updates that wait come at once
	}
}

// heardChat is a chat as an update has it.
type heardChat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
}

// heardUser is somebody as an update has them.
type heardUser struct {
	userJSON
	User string `json:"username"`
}

// readHeard reads an update; false: it tells nothing of a person in a chat. The
// number is set in any case, if there's one.
func readHeard(raw []byte) (HeardMessage, bool) {
	type event struct {
		From       *heardUser `json:"from"`
		SenderChat *struct{}  `json:"sender_chat"`
		Chat       heardChat  `json:"chat"`
		Text       string     `json:"text"`
		Caption    string     `json:"caption"`
		New        struct {
			Status string `json:"status"`
		} `json:"new_chat_member"` // of my_chat_member only
	}
	var u struct {
		ID      int64  `json:"update_id"`
		Message *event `json:"message"`
		Member  *event `json:"my_chat_member"`
	}
	// A field that isn't what it should be makes the others no worse.
	if err := json.Unmarshal(raw, &u); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
			return HeardMessage{}, false
		}
	}
	h := HeardMessage{Update: u.ID}
	e := u.Message
	if e == nil {
		e = u.Member
		if e == nil || slices.Contains([]string{"left", "kicked"}, e.New.Status) {
			return h, false
		}
	}
	if u.ID <= 0 || e.Chat.ID == 0 || e.Chat.Type == "channel" {
		return h, false
	}
	h.Chat, h.Title, h.Private = e.Chat.ID, shownName(e.Chat.Title), e.Chat.Type == "private"
	h.Text = shownText(e.Text + e.Caption)
	if e.From != nil && e.SenderChat == nil && person(&e.From.userJSON).ID != "" {
		h.Person, h.Name, h.User = e.From.ID, shownName(person(&e.From.userJSON).Name), shownName(e.From.User)
	}
	return h, true
}

// maxShown is how many characters of a text are shown: enough to know it again.
const maxShown = 60

func shownName(s string) string { return adapters.Shorten(adapters.Printable(s), maxName) }
func shownText(s string) string { return adapters.Shorten(adapters.Printable(s), maxShown) }

const (
	// examineFor bounds each check, so that a network that swallows everything doesn't
	// hold up the others.
	examineFor = 15 * time.Second
	// rivalFor is how long to look out for another reader. When its poll was ended, a
	// panebridge calls again after a second, go-telegram/bot after 0.1 s.
	rivalFor = 4 * time.Second
)

// errTokenRefused is the error of a token that Telegram doesn't know, or that is none.
var errTokenRefused = errors.New("it isn't a token that Telegram knows: @BotFather shows the present one (/mybots, the bot, API Token)")

// probeBot asks who the bot is that the token belongs to. Of the configuration it needs
// token or token_file, api_url and proxy.
func probeBot(ctx context.Context, cfg *Config) (*Probe, BotAccount, error) {
	opt, err := cfg.options()
	if err != nil {
		return nil, BotAccount{}, err
	}
	if !ValidToken(opt.Token) {
		return nil, BotAccount{}, errTokenRefused
	}
	opt.Chats = nil
	p, err := NewProbe(opt)
	if err != nil {
		return nil, BotAccount{}, err
	}
	b, err := p.Bot(ctx)
	if err == nil {
		return p, b, nil
	}
	p.Close()
	if exchange.IsUnauthorized(err) {
		err = errTokenRefused
	}
	return nil, BotAccount{}, err
}

// examine looks at the bot as it's configured, and at all chats that the section names. If the
// daemon runs, which is then the reader of the updates, it doesn't look for others: the daemon's
// health tells of them.
func examine(ctx context.Context, section config.Section, running bool) []findings.Finding {
	tg := section.(*Config) //nolint:forcetypeassert // Form makes it
	all := findings.ExamineTokenFile(Name, tg.TokenFile)
	call, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	p, bot, err := probeBot(call, tg)
	switch {
	case errors.Is(err, errTokenRefused):
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: "Telegram doesn't know the token", Fix: "Take the present one from @BotFather (/mybots, the bot, API Token), and put it into " + tokenPlace(tg) + "."})
	case err != nil && len(all) > 0:
		return all // the token can't be read, and that was said
	case err != nil:
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: err.Error(), Fix: "Look whether this machine reaches " + tg.APIURL + ", and whether adapters.telegram.proxy and HTTPS_PROXY are right."})
	}
	defer p.Close()
	all = append(all, findings.Finding{Check: Name, Detail: fmt.Sprintf("the token is that of @%s (%d)", bot.User, bot.ID)})
	all = append(all, examineUpdates(ctx, p, tg, running)...)
	for _, c := range tg.Chats {
		call, cancel := context.WithTimeout(ctx, examineFor)
		_, found := examineChat(call, p, bot, c)
		cancel()
		all = append(all, found...)
	}
	return all
}

func tokenPlace(cfg *Config) string {
	if cfg.TokenFile != "" {
		return cfg.TokenFile
	}
	return "adapters.telegram.token"
}

// examineUpdates looks whether updates come here, and nowhere else.
func examineUpdates(ctx context.Context, p *Probe, cfg *Config, running bool) []findings.Finding {
	const name = "telegram updates"
	call, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	hook, err := p.Webhook(call)
	wanted := cfg.Webhook.URL != ""
	switch {
	case err != nil:
		return []findings.Finding{{Check: name, Severity: findings.Doubtful, Detail: err.Error(), Fix: "Try again later; if it stays, look at the network."}}
	case wanted && hook.Host == "" && running:
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: "the webhook isn't set, though the daemon runs", Fix: "Look into the daemon's log, and whether another program uses this bot."}}
	case wanted && hook.Host == "":
		return []findings.Finding{{Check: name, Detail: "the webhook isn't set yet; the daemon sets it when it starts"}}
	case wanted && !strings.Contains(cfg.Webhook.URL, "://"+hook.Host):
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: "another program's webhook, at " + hook.Host + ", takes the bot's updates", Fix: "End that program, or give panebridge a bot of its own."}}
	case wanted && hook.Problem != "":
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: fmt.Sprintf("Telegram can't deliver to the webhook, %d updates wait: %s", hook.Pending, hook.Problem), Fix: "See to it that adapters.telegram.webhook.url is reached from outside, with a valid certificate, and is passed on to webhook.listen."}}
	case wanted:
		return []findings.Finding{{Check: name, Detail: "they come by the webhook at " + hook.Host}}
	case hook.Host != "":
		return []findings.Finding{{
			Check: name, Severity: findings.Doubtful, Detail: "a webhook at " + hook.Host + " takes the bot's updates; panebridge takes it away when it starts", Fix: "If another program needs that webhook, give panebridge a bot of its own; @BotFather makes one with /newbot.",
		}}
	case running:
		return []findings.Finding{{Check: name, Detail: fmt.Sprintf("the daemon reads them, %d wait", hook.Pending)}}
	}
	call, cancel = context.WithTimeout(ctx, rivalFor+examineFor)
	defer cancel()
	rival, err := p.FindRival(call, rivalFor)
	switch {
	case err != nil:
		return []findings.Finding{{Check: name, Severity: findings.Doubtful, Detail: err.Error(), Fix: "Try again later; if it stays, look at the network."}}
	case rival:
		return []findings.Finding{{
			Check: name, Severity: findings.Broken, Detail: "another program reads them (409), so that each would get only some", Fix: "End it (a second panebridge, another bot program with this token), or have @BotFather revoke the token and put the new one into " + tokenPlace(cfg) + ".",
		}}
	}
	return []findings.Finding{{Check: name, Detail: fmt.Sprintf("no other program reads them, %d wait", hook.Pending)}}
}

// examineChat looks at a chat and what the bot may do there. The findings say what stands in
// the way; if nothing does, it's one that says so. They have the same Check.
func examineChat(ctx context.Context, p *Probe, bot BotAccount, c ChatConfig) (ProbedChat, []findings.Finding) {
	name := fmt.Sprintf("telegram chat %d", c.ID)
	seen, err := p.Chat(ctx, bot, c.ID)
	if err != nil {
		return seen, []findings.Finding{{
			Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: fmt.Sprintf("Check the number; add @%s to the group, or in a private chat send it /start.", bot.User),
		}}
	}
	var all []findings.Finding
	found := func(s findings.Severity, detail, fix string) {
		all = append(all, findings.Finding{Check: name, Severity: s, Detail: detail, Fix: fix})
	}
	if seen.ID != c.ID {
		found(findings.Broken, fmt.Sprintf("the group was upgraded: its number is %d now", seen.ID), fmt.Sprintf("Write %d instead of %d in the configuration.", seen.ID, c.ID))
	}
	if !seen.MayWrite {
		found(findings.Broken, "the bot may not write there", "Make it an administrator, or allow members to send messages in the group's permissions.")
	}
	switch {
	case !c.Topics:
	case !seen.Topics && seen.Private:
		found(findings.Broken, "the bot's private chats have no topics", "Turn on Threaded Mode for the bot at @BotFather, or say topics: false for the chat.")
	case !seen.Topics && seen.Basic:
		found(findings.Broken, "topics are off", "Turn Topics on in the group's settings, which gives the group a new number to be written down instead, or say topics: false for the chat.")
	case !seen.Topics:
		found(findings.Broken, "topics are off", "Turn Topics on in the group's settings, or say topics: false for the chat.")
	case !seen.MayTopic:
		found(findings.Broken, "the bot may not manage topics", `Make it an administrator with the right "Manage Topics".`)
	}
	if !seen.Private && !seen.Admin && !bot.HearsAll {
		found(findings.Doubtful, "privacy mode is on and the bot is no administrator, so it hears only commands and answers to its own messages",
			"Make it an administrator, or turn privacy mode off (/setprivacy at @BotFather) and then remove it from the group and add it again.")
	}
	if len(all) == 0 {
		all = []findings.Finding{{Check: name, Detail: wellAt(seen)}}
	}
	return seen, all
}

// wellAt is what the bot may do in a chat where nothing stands in its way.
func wellAt(seen ProbedChat) string {
	can := []string{"the bot may write"}
	if seen.Topics && seen.MayTopic {
		can = append(can, "may make topics")
	}
	if !seen.Private {
		can = append(can, "hears everything")
	}
	return fmt.Sprintf("%q: %s", seen.Title, strings.Join(can, ", "))
}
