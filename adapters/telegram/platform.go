package telegram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
)

const (
	// maxAnswerText: "0-200 characters" (core.telegram.org/bots/api#answercallbackquery).
	maxAnswerText = 200
	// maxHelp: "1-256 characters" (core.telegram.org/bots/api#botcommand).
	maxHelp = 256
	// fetchFor bounds a download: 20 MB, the most that Telegram gives, at 1 Mbit/s.
	fetchFor = 3 * time.Minute
)

// Answer implements intake.Platform. A press that's too old to be answered is none
// that anybody waits for.
func (a *Adapter) Answer(ctx context.Context, press intake.Event, text string) error {
	pressed, ok := press.Action.(intake.Pressed)
	if !ok {
		return fmt.Errorf("answer a press: it's a %T", press.Action)
	}
	err := call(ctx, a.client, nil, (*bot.Bot).AnswerCallbackQuery, &bot.AnswerCallbackQueryParams{CallbackQueryID: pressed.Token, Text: cut(text, maxAnswerText)})
	if f, ok := errors.AsType[*failure](err); ok && f.Status == http.StatusBadRequest && strings.Contains(f.Text, "query is too old") {
		return nil
	}
	return err
}

// member is somebody in a chat, or who was (core.telegram.org/bots/api#chatmember).
type member struct {
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // if restricted
}

func (m *member) Check() error {
	switch m.Status {
	case "creator", "administrator", "member", "restricted", "left", "kicked":
		return nil
	}
	return errors.New("it doesn't say whether somebody is a member")
}

// Member implements inbound.MemberReader. Telegram tells it surely of groups in which the
// bot is an administrator, and mostly of others (core.telegram.org/bots/api#getchatmember).
func (a *Adapter) Member(ctx context.Context, group adapters.Target, person string) (bool, error) {
	chat, err1 := strconv.ParseInt(group.Chat, 10, 64)
	user, err2 := strconv.ParseInt(strings.TrimPrefix(person, Name+":"), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", person, group, err)
	}
	var found member
	if err := call(ctx, a.client, &found, (*bot.Bot).GetChatMember, &bot.GetChatMemberParams{ChatID: chat, UserID: user}); err != nil {
		return false, err
	}
	return isMember(found.Status, found.IsMember), nil
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// Link implements adapters.Linker and intake.Platform.
func (a *Adapter) Link(at adapters.Target, message string) string { return link(at, message) }

// link is the address of a message. Only supergroups have addresses; their numbers
// begin with -100, which isn't part of them.
func link(at adapters.Target, message string) string {
	chat, ok := strings.CutPrefix(at.Chat, "-100")
	if !ok {
		return ""
	}
	parts := []string{"https://t.me/c"}
	for i, part := range []string{chat, at.Thread, message} {
		if part == "" && i > 0 {
			continue
		}
		if n, err := strconv.ParseInt(part, 10, 64); err != nil || n <= 0 {
			return ""
		}
		parts = append(parts, part)
	}
	if len(parts) == 2 {
		return "" // the chat alone has no address
	}
	return strings.Join(parts, "/")
}

// Fetch implements intake.Platform. The error wraps sessions.ErrUnavailable if the
// same may work later.
func (a *Adapter) Fetch(ctx context.Context, f intake.Attachment, limit int64, w io.Writer) error {
	if f.Size > limit {
		return fmt.Errorf("fetch a file of %d bytes: %w: at most %d are taken", f.Size, intake.ErrTooLarge, limit)
	}
	var file struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	err := call(ctx, a.client, &file, (*bot.Bot).GetFile, &bot.GetFileParams{FileID: f.ID})
	if said, ok := errors.AsType[*failure](err); ok && strings.Contains(said.Text, "file is too big") {
		return fmt.Errorf("fetch a file: %w: Telegram gives bots at most 20 MB", intake.ErrTooLarge)
	}
	switch {
	case err != nil:
		return exchange.Passing(err)
	case file.Size > limit:
		return fmt.Errorf("fetch a file of %d bytes: %w: at most %d are taken", file.Size, intake.ErrTooLarge, limit)
	}
	path, err := filePath(file.Path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	return a.download(ctx, path, limit, w)
}

// filePath checks what Telegram calls a path, and returns it as part of an address.
func filePath(path string) (string, error) {
	if strings.HasPrefix(path, "/") {
		return "", errors.New("fetch a file: the Bot API server keeps files on its own disk; start it without --local")
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\?#\x00") {
			return "", errors.New("fetch a file: the Bot API server gave a path that isn't one")
		}
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/"), nil
}

// download reads a file, and stops at the limit whatever its length was said to be.
func (a *Adapter) download(ctx context.Context, path string, limit int64, w io.Writer) error {
	const what = "the download of a file"
	x := a.client.exchange
	failed := func(err error) error { return exchange.Passing(&failure{Failure: x.Failed(what, qos.NotSent, err)}) }
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.client.files+path, nil)
	if err != nil {
		return failed(err)
	}
	resp, err := x.Client().Do(r)
	if err != nil {
		return failed(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return exchange.Passing(foreign(x, what, exchange.Answer{Status: resp.StatusCode, Header: resp.Header}))
	}
	return intake.CopyAtMost(w, resp.Body, limit, failed)
}

// menus are those whom the commands are offered to. Both are narrower than the default
// scope, so that a menu that another program left there doesn't show.
func menus() []scopeOf {
	return []scopeOf{
		{"all_private_chats", &models.BotCommandScopeAllPrivateChats{}},
		{"all_group_chats", &models.BotCommandScopeAllGroupChats{}},
	}
}

// scopeOf is a scope, and how it's noted.
type scopeOf struct {
	name  string
	scope models.BotCommandScope
}

// SetCommands implements intake.Platform. Who calls setMyCommands too often is
// silenced for minutes (github.com/openclaw/openclaw/issues/32017), so a call that
// would change nothing isn't made, and the order to be silent is remembered too.
func (a *Adapter) SetCommands(ctx context.Context, commands []intake.CommandInfo) error {
	list := menu(commands)
	body, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encode the commands: %w", err)
	}
	// Another bot, or the same on another server, doesn't have them.
	self := a.client.address[:strings.LastIndexByte(a.client.address, ':')]
	sum := sha256.Sum256(slices.Concat([]byte(self), body))
	want := hex.EncodeToString(sum[:8])
	for _, scope := range menus() {
		if err := a.setMenu(ctx, scope, want, list); err != nil {
			return err
		}
	}
	return nil
}

func menu(commands []intake.CommandInfo) []models.BotCommand {
	list := []models.BotCommand{}
	for _, c := range commands {
		text := c.Help
		if c.Args != "" {
			text += " · " + c.Args
		}
		list = append(list, models.BotCommand{Command: c.Name, Description: cut(text, maxHelp)})
	}
	return list
}

func (a *Adapter) setMenu(ctx context.Context, to scopeOf, want string, list []models.BotCommand) error {
	has, err := a.opt.Notes.Note(ctx, "menu "+to.name)
	if err != nil || has == want {
		return err
	}
	if err := a.silent(ctx); err != nil {
		return err
	}
	err = call(ctx, a.client, nil, (*bot.Bot).SetMyCommands, &bot.SetMyCommandsParams{Commands: list, Scope: to.scope})
	if f, ok := errors.AsType[*failure](err); ok && f.RetryAfter > 0 {
		until := time.Now().Add(f.RetryAfter).Add(time.Second).Format(time.RFC3339)
		return errors.Join(err, a.opt.Notes.PutNote(ctx, "menu silence", until))
	}
	if err != nil {
		return err
	}
	return a.opt.Notes.PutNote(ctx, "menu "+to.name, want)
}

// silent returns an error while Telegram wants to hear of no commands.
func (a *Adapter) silent(ctx context.Context) error {
	said, err := a.opt.Notes.Note(ctx, "menu silence")
	if err != nil || said == "" {
		return err
	}
	until, err := time.Parse(time.RFC3339, said)
	if err == nil && time.Now().Before(until) {
		return fmt.Errorf("set the commands: Telegram wants none until %s", until.Format(time.TimeOnly))
	}
	return nil
}
