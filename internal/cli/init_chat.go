package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/internal/app"
)

const messageText = `
Now write any message to @%s: in a private chat with it, or, better, in a group that
you have added it to, with topics turned on (in the group's settings) and the bot as
an administrator who may manage topics. If nothing happens in a group, write
/start@%s there: it may not hear more than that yet.
`

const noMessage = "give --chat and --admin"

// findChat finds out by a message which chat to use, and whose it is, as far as flags
// haven't said so.
func (w *wizard) findChat(ctx context.Context) error {
	w.chat.ID = w.flags.chat
	if w.chat.ID != 0 && w.admin != 0 {
		return nil
	}
	if err := w.unhook(ctx); err != nil {
		return err
	}
	if err := w.printf(messageText, w.look.Bot.User, w.look.Bot.User); err != nil {
		return err
	}
	for {
		done, err := w.nextMessage(ctx)
		switch {
		case errors.Is(err, app.ErrNotKept):
			return w.notKept(err)
		case errors.Is(err, app.ErrRival):
			return fmt.Errorf("%w: end it (is a panebridge running with this bot?) and try again, or %s", err, noMessage)
		case err != nil:
			return err
		case done:
			return nil
		}
	}
}

// nextMessage waits for a message and asks about it; true: it was the one.
func (w *wizard) nextMessage(ctx context.Context) (bool, error) {
	h, err := w.look.Next(ctx, w.stateDir)
	switch {
	case err != nil:
		return false, err
	case w.flags.chat != 0 && h.Chat != w.flags.chat, w.admin != 0 && h.Person != w.admin:
		return false, nil
	}
	where := "in a private chat with the bot"
	if !h.Private {
		where = fmt.Sprintf("in the group %q", h.Title)
	}
	if h.Person == 0 {
		return false, w.printf("\nSomebody has written %s %s, but Telegram doesn't say who: turn off \"Remain anonymous\" in\nyour administrator's rights, or write as yourself.\n", quote(h.Text), where)
	}
	who := h.Name
	if h.User != "" {
		who += " (@" + h.User + ")"
	}
	if w.admin == 0 { // anybody can write to a bot
		question := fmt.Sprintf("\n%s, number %d, has written %s %s.\nIs that you, and do you want to have your sessions there?", who, h.Person, quote(h.Text), where)
		ours, err := w.ask.yes(ctx, question, false, noMessage)
		if err != nil || !ours {
			return false, err
		}
	}
	w.admin, w.name, w.chat.ID = h.Person, h.Name, h.Chat
	if !strings.HasPrefix(h.Text, "/") { // the bot answers a command
		w.heard = h.Update
	}
	return true, nil
}

// unhook offers to take a webhook away, which would get the message.
func (w *wizard) unhook(ctx context.Context) error {
	hook, err := w.look.Hook(ctx)
	if err != nil || hook.Host == "" {
		return err
	}
	question := fmt.Sprintf("\nA webhook at %s takes this bot's messages, so another program uses it, or did. Without\nthe webhook that program hears nothing more. Take it away?", hook.Host)
	take, err := w.ask.yes(ctx, question, false, noMessage)
	switch {
	case err != nil:
		return err
	case !take:
		return errors.New("a webhook takes this bot's messages: make another bot with @BotFather (/newbot), or " + noMessage)
	}
	return w.look.Unhook(ctx)
}
