package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
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

// TellPresser implements intake.InboundAdapter. A press that's too old to be answered is none
// that anybody waits for.
func (a *Adapter) TellPresser(ctx context.Context, press intake.Event, text string) error {
	pressed, ok := press.Action.(intake.Pressed)
	if !ok {
		return fmt.Errorf("answer a press: it's a %T", press.Action)
	}
	err := callLibrary(ctx, a.client, nil, (*bot.Bot).AnswerCallbackQuery, &bot.AnswerCallbackQueryParams{CallbackQueryID: pressed.Token, Text: adapters.Shorten(text, maxAnswerText)})
	if f, ok := errors.AsType[*failure](err); ok && f.Status == http.StatusBadRequest && strings.Contains(f.Text, "query is too old") {
		return nil
	}
	return err
}

// chatMember is somebody in a chat, or who was (core.telegram.org/bots/api#chatmember).
type chatMember struct {
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // if restricted
}

func (m *chatMember) Check() error {
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
	var found chatMember
	if err := callLibrary(ctx, a.client, &found, (*bot.Bot).GetChatMember, &bot.GetChatMemberParams{ChatID: chat, UserID: user}); err != nil {
		return false, err
	}
	return isMember(found.Status, found.IsMember), nil
}

// Link implements adapters.Linker and intake.InboundAdapter.
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

// Fetch implements intake.InboundAdapter. The error wraps sessions.ErrUnavailable if the
// same may work later.
func (a *Adapter) Fetch(ctx context.Context, f intake.Attachment, limit int64, w io.Writer) error {
	if f.Size > limit {
		return fmt.Errorf("fetch a file of %d bytes: %w: at most %d are taken", f.Size, intake.ErrTooLarge, limit)
	}
	var file struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	err := callLibrary(ctx, a.client, &file, (*bot.Bot).GetFile, &bot.GetFileParams{FileID: f.ID})
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
	return a.downloadFile(ctx, path, limit, w)
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

// downloadFile reads a file, and stops at the limit whatever its length was said to be.
func (a *Adapter) downloadFile(ctx context.Context, path string, limit int64, w io.Writer) error {
	const what = "the download of a file"
	x := a.client.exchange
	failed := func(err error) error {
		return exchange.Passing(&failure{CallFailure: x.Failed(what, qos.NotSent, err)})
	}
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
		return exchange.Passing(foreign(x, what, exchange.Response{Status: resp.StatusCode, Header: resp.Header}))
	}
	return intake.CopyAtMost(w, resp.Body, limit, failed)
}

// menuScopes are those whom the commands are offered to. Both are narrower than the default
// scope, so that a menu that another program left there doesn't show.
func menuScopes() []menuScope {
	return []menuScope{
		{"all_private_chats", &models.BotCommandScopeAllPrivateChats{}},
		{"all_group_chats", &models.BotCommandScopeAllGroupChats{}},
	}
}

// menuScope is a scope, and how it's noted.
type menuScope struct {
	name  string
	scope models.BotCommandScope
}

// SetCommands implements intake.InboundAdapter. Who calls setMyCommands too often is
// silenced for minutes (github.com/openclaw/openclaw/issues/32017).
func (a *Adapter) SetCommands(ctx context.Context, commands []intake.CommandInfo) error {
	list := []models.BotCommand{}
	for _, c := range commands {
		text := c.Help
		if c.Args != "" {
			text += " · " + c.Args
		}
		list = append(list, models.BotCommand{Command: c.Name, Description: adapters.Shorten(text, maxHelp)})
	}
	// Another bot, or the same on another server, doesn't have them.
	self := a.client.address[:strings.LastIndexByte(a.client.address, ':')]
	for _, to := range menuScopes() {
		menu := platform.CommandMenu{Title: "Telegram", Notes: a.opt.Notes, SentNote: "menu " + to.name, SilenceNote: "menu silence"}
		err := menu.Send(ctx, self, list, func() error {
			return callLibrary(ctx, a.client, nil, (*bot.Bot).SetMyCommands, &bot.SetMyCommandsParams{Commands: list, Scope: to.scope})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
