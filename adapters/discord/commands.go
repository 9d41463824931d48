package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

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
			Name: c.Name, Help: cut(c.Help, maxHelp), Type: commandSlash, Contexts: []int{contextGuild, contextBotDM}, Installs: []int{installGuild},
		}
		for _, p := range c.Params {
			o := commandOptionJSON{Type: optionText, Name: p.Name, Help: cut(p.Help, maxHelp), Required: p.Required, Complete: p.Offers}
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

// SetCommands implements intake.Platform. All commands are replaced at once; a call
// that would change nothing isn't made, and an order to be silent is remembered too.
func (p *Platform) SetCommands(ctx context.Context, commands []intake.CommandInfo) error {
	list := slashCommands(commands)
	body, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encode the commands: %w", err)
	}
	// Another bot, or the same on another server, doesn't have them.
	bot, _, _ := strings.Cut(string(p.adapter.opt.Token), ".")
	sum := sha256.Sum256(slices.Concat([]byte(p.adapter.opt.APIURL+" "+bot+" "), body))
	want := hex.EncodeToString(sum[:8])
	has, err := p.notes.Note(ctx, noteCommands)
	if err != nil || has == want {
		return err
	}
	if err := p.silent(ctx); err != nil {
		return err
	}
	var app struct {
		ID string `json:"id"`
	}
	err = p.adapter.client.raw(ctx, http.MethodGet, "applications/@me", nil, &app)
	if err == nil && !isID(app.ID) {
		err = errors.New("set the commands: Discord doesn't say which application the bot is of")
	}
	if err == nil {
		err = p.adapter.client.raw(ctx, http.MethodPut, "applications/"+app.ID+"/commands", list, new([]json.RawMessage))
	}
	if after := retryAfterOf(err); after > 0 {
		until := time.Now().Add(after).Add(time.Second).Format(time.RFC3339)
		return errors.Join(err, p.notes.PutNote(ctx, noteSilence, until))
	}
	if err != nil {
		return err
	}
	return p.notes.PutNote(ctx, noteCommands, want)
}

// silent returns an error while Discord wants to hear of no commands.
func (p *Platform) silent(ctx context.Context) error {
	said, err := p.notes.Note(ctx, noteSilence)
	if err != nil || said == "" {
		return err
	}
	until, err := time.Parse(time.RFC3339, said)
	if err == nil && time.Now().Before(until) {
		return fmt.Errorf("set the commands: Discord wants none until %s", until.Format(time.TimeOnly))
	}
	return nil
}
