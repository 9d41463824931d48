package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/qos"
)

const (
	// fetchFor bounds a download: 20 MB at 1 Mbit/s.
	fetchFor = 3 * time.Minute
	// maxAnswerText bounds what's told in passing, in characters.
	maxAnswerText = 500
	// flagEphemeral: only the person sees it, and can wipe it away.
	flagEphemeral = 1 << 6
)

// unknownMember is Discord's code for somebody who isn't on a server
// (docs.discord.com/developers/topics/opcodes-and-status-codes).
const unknownMember = 10007

// Member implements inbound.MemberReader: a group is a channel, and who's on its server is
// in there.
func (a *Adapter) Member(ctx context.Context, group adapters.Target, person string) (bool, error) {
	user := strings.TrimPrefix(person, Name+":")
	if !isID(group.Chat) || !isID(user) {
		return false, fmt.Errorf("look for %s in %s: these aren't ids", person, group)
	}
	var channel struct {
		Guild string `json:"guild_id"`
	}
	if err := a.client.callPath(ctx, http.MethodGet, "channels/"+group.Chat, nil, &channel); err != nil {
		return false, err
	}
	if !isID(channel.Guild) {
		return false, fmt.Errorf("look for %s in %s: it's on no server", person, group)
	}
	err := a.client.callPath(ctx, http.MethodGet, "guilds/"+channel.Guild+"/members/"+user, nil, &guildMember{User: sameThing{want: user}})
	if f, ok := errors.AsType[*failure](err); ok && f.Code == unknownMember {
		return false, nil
	}
	return err == nil, err
}

// guildMember is somebody on a server (docs.discord.com/developers/resources/guild#guild-member-object).
type guildMember struct {
	User sameThing `json:"user"`
}

func (m *guildMember) Check() error { return m.User.Check() }

// TellPresser implements intake.InboundAdapter. That the button was pressed was acknowledged when
// it came, which ended the wait; a text follows it, for the person alone. A press that's
// too old to be answered is none that anybody waits for.
func (a *Adapter) TellPresser(ctx context.Context, press intake.Event, text string) error {
	pressed, ok := press.Action.(intake.Pressed)
	if !ok {
		return fmt.Errorf("answer a press: it's a %T", press.Action)
	}
	id, ok := strings.CutPrefix(press.Key, Name+":"+replyMark)
	app, token, cutOK := strings.Cut(pressed.Token, " ")
	if !ok || !cutOK || !isID(app) || !isToken(token) {
		return errors.New("answer a press: its token isn't one")
	}
	if text == "" || time.Since(press.At) > tokenFor {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, answerWithin)
	a.interactions.awaitAnswer(waiting, id)
	cancel()
	body := map[string]any{
		"content": plainText(adapters.Shorten(text, maxAnswerText)), "flags": flagEphemeral, "allowed_mentions": map[string]any{"parse": []string{}},
	}
	err := a.client.callPath(ctx, http.MethodPost, "webhooks/"+app+"/"+token, body, nil)
	if f, ok := errors.AsType[*failure](err); ok && f.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// plainText is a text in Discord's Markdown that shows it as it is.
func plainText(text string) string {
	t, _, _ := discord.Form(maxText).Next([]render.Part{{Kind: render.Plain, Source: text}}, render.TextPosition{})
	return discord.Markdown(t)
}

// Fetch implements intake.InboundAdapter. The error wraps sessions.ErrUnavailable if the
// same may work later.
func (a *Adapter) Fetch(ctx context.Context, f intake.Attachment, limit int64, w io.Writer) error {
	if f.Size > limit {
		return fmt.Errorf("fetch a file of %d bytes: %w: at most %d are taken", f.Size, intake.ErrTooLarge, limit)
	}
	parts := strings.SplitN(f.ID, " ", 4)
	if len(parts) != 4 || !isID(parts[0]) || !isID(parts[1]) || !isID(parts[2]) {
		return errors.New("fetch a file: what names it isn't of Discord's")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	err := a.downloadFile(ctx, parts[3], limit, w)
	if !errors.Is(err, errExpired) {
		return err
	}
	fresh, err := a.freshAddress(ctx, parts[0], parts[1], parts[2])
	if err != nil {
		return err
	}
	return a.downloadFile(ctx, fresh, limit, w)
}

// errExpired says that an address isn't good any more.
var errExpired = errors.New("fetch a file: it isn't there any more")

// freshAddress asks where a message's file is now.
func (a *Adapter) freshAddress(ctx context.Context, channel, message, file string) (string, error) {
	var m messageJSON
	err := a.client.callPath(ctx, http.MethodGet, "channels/"+channel+"/messages/"+message, nil, &m)
	if err != nil {
		return "", exchange.Passing(err)
	}
	for _, f := range m.Files {
		if f.ID == file {
			return f.URL, nil
		}
	}
	return "", errExpired
}

// hosts are where Discord keeps files (docs.discord.com/developers/reference#cdn-endpoints).
var hosts = []string{"cdn.discordapp.com", "media.discordapp.net"} //nolint:gochecknoglobals // a constant list

// fileURL checks the address of a file: Discord's own, by https; or, if the API is
// elsewhere, beside it.
func (a *Adapter) fileURL(address string) (string, error) {
	u, err := url.Parse(address)
	base, baseErr := url.Parse(a.opt.APIURL)
	if err != nil || baseErr != nil || u.User != nil || u.Fragment != "" || len(address) > maxAddress {
		return "", errors.New("fetch a file: its address isn't one")
	}
	own := u.Scheme == "https" && slices.Contains(hosts, u.Host)
	beside := a.opt.APIURL != DefaultAPIURL && u.Scheme == base.Scheme && u.Host == base.Host
	if !own && !beside {
		return "", errors.New("fetch a file: its address leads elsewhere than to Discord")
	}
	return u.String(), nil
}

// maxAddress bounds an address, in bytes: those seen have some 300.
const maxAddress = 4096

// downloadFile reads a file, and stops at the limit whatever its length was said to be. It
// gives nobody the token, and follows nobody elsewhere.
func (a *Adapter) downloadFile(ctx context.Context, address string, limit int64, w io.Writer) error {
	const what = "the download of a file"
	x := a.client.exchange
	failed := func(err error) error {
		return exchange.Passing(&failure{CallFailure: x.Failed(what, qos.NotSent, err)})
	}
	address, err := a.fileURL(address)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("fetch a file: its address isn't one")
	}
	resp, err := a.client.files.Do(r)
	if err != nil {
		return failed(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusGone:
		return errExpired
	case resp.StatusCode != http.StatusOK:
		f := &failure{CallFailure: x.Refused(what, exchange.Response{Status: resp.StatusCode})}
		f.Text, f.Outcome = "it can't be had", qos.Failed
		return exchange.Passing(f)
	case resp.ContentLength > limit:
		return fmt.Errorf("fetch a file of %d bytes: %w: at most %d are taken", resp.ContentLength, intake.ErrTooLarge, limit)
	}
	return intake.CopyAtMost(w, resp.Body, limit, failed)
}

const (
	// maxHelp: "1-100 character description"
	// (docs.discord.com/developers/interactions/application-commands#create-global-application-command).
	maxHelp = 100
	// optionText is an argument that's a text.
	optionText = 3
	// Servers that the bot is on, and its private chats, are where commands are offered
	// (docs.discord.com/developers/interactions/application-commands#contexts).
	contextGuild = 0
	contextBotDM = 1
	installGuild = 0
	// noteCommands are which commands Discord has, noteSilence until when it wants none.
	noteCommands = "commands"
	noteSilence  = "commands silence"
)

// commandJSON is a slash command, optionJSON one of its arguments.
type (
	commandJSON struct {
		Name    string              `json:"name"`
		Help    string              `json:"description"`
		Type    int                 `json:"type"`
		Options []commandOptionJSON `json:"options,omitempty"`
		// Where it's offered. Unless it's said, that's everywhere to people who have added
		// the application to their account: where the bot isn't, and can't reply.
		Contexts []int `json:"contexts"`
		Installs []int `json:"integration_types"`
	}
	commandOptionJSON struct {
		Type     int          `json:"type"`
		Name     string       `json:"name"`
		Help     string       `json:"description"`
		Required bool         `json:"required,omitempty"`
		Choices  []choiceJSON `json:"choices,omitempty"`
		Complete bool         `json:"autocomplete,omitempty"`
	}
)

// slashCommands are commands as Discord takes them. It wants the arguments first that
// must be given; the line is put together in their own order all the same.
func slashCommands(commands []intake.CommandInfo) []commandJSON {
	list := []commandJSON{}
	for _, c := range commands {
		command := commandJSON{
			Name: c.Name, Help: adapters.Shorten(c.Help, maxHelp), Type: commandSlash, Contexts: []int{contextGuild, contextBotDM}, Installs: []int{installGuild},
		}
		for _, p := range c.Params {
			o := commandOptionJSON{Type: optionText, Name: p.Name, Help: adapters.Shorten(p.Help, maxHelp), Required: p.Required, Complete: p.Offers}
			for _, choice := range p.Choices {
				o.Choices = append(o.Choices, choiceJSON{choice, choice})
			}
			command.Options = append(command.Options, o)
		}
		slices.SortStableFunc(command.Options, func(x, y commandOptionJSON) int { return cmp.Compare(rank(x.Required), rank(y.Required)) })
		list = append(list, command)
	}
	return list
}

func rank(required bool) int {
	if required {
		return 0
	}
	return 1
}

// SetCommands implements intake.InboundAdapter. All commands are replaced at once.
func (a *Adapter) SetCommands(ctx context.Context, commands []intake.CommandInfo) error {
	list := slashCommands(commands)
	// Another bot, or the same on another server, doesn't have them.
	bot, _, _ := strings.Cut(string(a.opt.Token), ".")
	menu := platform.CommandMenu{Title: "Discord", Notes: a.opt.Notes, SentNote: noteCommands, SilenceNote: noteSilence}
	return menu.Send(ctx, a.opt.APIURL+" "+bot+" ", list, func() error {
		var app struct {
			ID string `json:"id"`
		}
		if err := a.client.callPath(ctx, http.MethodGet, "applications/@me", nil, &app); err != nil {
			return err
		}
		if !isID(app.ID) {
			return errors.New("set the commands: Discord doesn't say which application the bot is of")
		}
		return a.client.callPath(ctx, http.MethodPut, "applications/"+app.ID+"/commands", list, new([]json.RawMessage))
	})
}
