package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions/agent"
)

// wizard is one run of `panebridge init`.
type wizard struct {
	*commandLine
	ask   *asker
	flags initFlags

	file     string // the configuration's
	there    bool   // it exists already
	telegram *telegram.Config
	look     *app.TelegramLook
	admin    int64 // 0: not known yet
	name     string
	chat     app.TelegramChat
	title    string
	heard    int64  // number of the message by which the person was recognised; 0: none, or it was a command
	stateDir string // the daemon's, an absolute path
	left     bool   // something is still to be put right
}

// errSomeKept is the error, besides another, of an init that has put into the database what waited, and ended before
// there's a configuration.
var errSomeKept = errors.New("the oldest of what waited is in the database")

// someKept is an error that's an errSomeKept, too, and says nothing of it.
type someKept struct{ error }

func (e someKept) Unwrap() []error { return []error{e.error, errSomeKept} }

// run goes through all steps. Where Telegram can't be reached it keeps the token.
func (w *wizard) run(ctx context.Context) error {
	err := w.goThrough(ctx)
	if err != nil && w.look != nil && w.look.HasKept() {
		err = someKept{err}
	}
	if err == nil || ctx.Err() != nil || !app.IsUnreachable(err) {
		return err
	}
	first := w.first()
	if kept := first.KeepToken(); kept != nil {
		return errors.Join(err, kept)
	}
	again := "init"
	if w.there || first.TokenFile != app.TokenFileBeside(w.file) {
		again += " --token-file " + first.TokenFile
	}
	return fmt.Errorf("telegram isn't reached: %w; the token is in %s, and panebridge %s goes on with it later", err, first.TokenFile, again)
}

func (w *wizard) goThrough(ctx context.Context) error {
	if err := w.findBot(ctx); err != nil {
		return err
	}
	defer w.look.Close()
	first := w.first()
	if err := first.Check(); err != nil {
		return err
	}
	if err := w.findChat(ctx); err != nil {
		return err
	}
	if err := w.examineChat(ctx); err != nil {
		return err
	}
	mirror, err := w.mirror(ctx)
	if err != nil {
		return err
	}
	first = w.first()
	first.Mirror = mirror
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	return w.write(ctx, first)
}

// first is what has been found out so far.
func (w *wizard) first() app.FirstTelegram {
	f := app.FirstTelegram{
		File: w.file, Token: w.telegram.Token, TokenFile: w.telegram.TokenFile, APIURL: w.flags.apiURL, Proxy: w.flags.proxy,
		Chat: w.chat, Title: w.title, Admin: w.admin, Name: w.name,
	}
	if f.TokenFile == "" {
		f.TokenFile = app.TokenFileBeside(w.file)
	}
	return f
}

const botText = `A bot is made by @BotFather on Telegram: write /newbot to it, and it gives you a
token, as in 7000000001:AAF…
`

// findBot asks for the token until Telegram knows it; without a person there, once.
func (w *wizard) findBot(ctx context.Context) error {
	given := w.telegram.TokenFile != ""
	if kept := app.TokenFileBeside(w.file); !given && !w.there && isFile(kept) {
		given, w.telegram.TokenFile = true, kept
		if err := w.printf("The token is in %s.\n", kept); err != nil {
			return err
		}
	}
	if !given {
		if err := w.printf("%s\n", botText); err != nil {
			return err
		}
	}
	for {
		if !given {
			token, err := w.ask.secret(ctx, "The bot's token", "write the token to it, or give --token-file")
			if err != nil {
				return err
			}
			w.telegram.Token = config.NewSecret(token)
		}
		var err error
		w.look, err = app.LookAtTelegram(ctx, w.telegram)
		switch {
		case err == nil:
			return w.printf("The bot is %s, @%s.\n", w.look.Bot.Name, w.look.Bot.User)
		case errors.Is(err, app.ErrTokenRefused) && given:
			return fmt.Errorf("use the token in %s: %w", w.telegram.TokenFile, err)
		case !errors.Is(err, app.ErrTokenRefused) || !w.ask.terminal:
			return err
		}
		if err := w.printf("This is wrong: %v.\n\n", err); err != nil {
			return err
		}
	}
}

// examineChat looks at the chat, and lets a person put right what's wrong.
func (w *wizard) examineChat(ctx context.Context) error {
	for {
		broken, err := w.lookAtChat(ctx)
		if err != nil {
			return err
		}
		if !w.left {
			return nil
		}
		if !w.ask.terminal {
			if broken {
				return errors.New("the bot can't be used in this chat: put right what's said above, and try again")
			}
			return nil
		}
		again := `Put it right and press Enter to look again, or write "go on".`
		if broken {
			again = "Put it right and press Enter to look again."
		}
		text, err := w.ask.line(ctx, again, "")
		if err != nil {
			return err
		}
		if text == "go on" && !broken {
			return nil
		}
	}
}

// lookAtChat says what stands in the way; broken: so much that it's no chat for the
// bot.
func (w *wizard) lookAtChat(ctx context.Context) (broken bool, err error) {
	// Topics are the way to go in a group. A private chat is as it is.
	w.chat.Topics = w.chat.ID < 0 || w.look.Bot.PrivateTopics
	seen, found := w.look.Chat(ctx, w.chat)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if seen.ID != 0 && seen.ID != w.chat.ID {
		w.chat.ID = seen.ID // it was upgraded
		seen, found = w.look.Chat(ctx, w.chat)
	}
	w.left = false
	for _, f := range findings(found) {
		w.left = w.left || f.State != verdictOK
		if err := w.printFinding(f); err != nil {
			return false, err
		}
	}
	w.title, w.chat.Topics = seen.Title, seen.Topics
	if seen.Private && !seen.Topics {
		if err := w.printf("%s\n", privateText); err != nil {
			return false, err
		}
	}
	return seen.ID == 0 || !seen.MayWrite, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

const privateText = `This chat has no topics, so it suits one session at a time. For several, use a group
with topics, or turn on Threaded Mode for the bot at @BotFather.`

// mirror asks which sessions are mirrored to the chat by themselves. Without topics
// they'd all end up in one stream, so there it isn't offered.
func (w *wizard) mirror(ctx context.Context) (string, error) {
	switch {
	case w.flags.mirrorGiven:
		return w.flags.mirror, nil
	case !w.chat.Topics:
		return "", nil
	}
	all, err := w.ask.yes(ctx, "\nMirror all sessions to this chat by themselves, each in a topic of its own?", true, "give --mirror PATTERN, or --mirror \"\"")
	if all {
		return "*", err
	}
	return "", err
}

func (w *wizard) write(ctx context.Context, f app.FirstTelegram) error {
	if err := w.handOver(ctx); err != nil {
		return err
	}
	written, err := f.Write(w.env)
	if err != nil {
		return err
	}
	if w.heard != 0 {
		_ = w.look.Acknowledge(ctx) // the daemon knows them, should they come again
	}
	if f.Token.Reveal() != "" {
		if err := w.printf("\nThe token is in %s, which only you can read.\n", f.TokenFile); err != nil {
			return err
		}
	}
	if !written {
		return w.printf("\nAdd to %s:\n\n%s\nThen: panebridge config check, and start the daemon anew.\n", f.File, f.YAML())
	}
	if err := w.printf("\nThe configuration is in %s.\n", f.File); err != nil {
		return err
	}
	if w.left {
		if err := w.printf("What's said above is still to be put right; `panebridge doctor` looks again.\n"); err != nil {
			return err
		}
	}
	if err := w.sayAgents(); err != nil {
		return err
	}
	run, bind := "panebridge run", "its topic appears in the chat"
	if w.configFlag != "" {
		run += " --config " + w.configFlag
	}
	if w.stateDirFlag != "" {
		run += " --state-dir " + w.stateDirFlag
	}
	if f.Mirror == "" {
		bind = "then write /bind SESSION in the chat"
	}
	return w.printf("\nNext:\n  %s\n  panebridge sessions adopt NAME    (a tmux session; %s)\n\n/help, written to the bot, says what it can do.\n", run, bind)
}

// handOver has the daemon take the message for handled by which the person was recognised, and leaves to it what else
// waits. It's before there's a configuration to start a daemon with.
func (w *wizard) handOver(ctx context.Context) error {
	if w.heard == 0 {
		return nil
	}
	others, err := w.look.HandOver(ctx, w.stateDir, w.heard)
	switch {
	case err != nil && ctx.Err() == nil:
		return w.notKept(fmt.Errorf("%w: %w", app.ErrNotKept, err))
	case err != nil || others == 0:
		return err
	}
	return w.printf("\nWhat else was written to the bot waits in %s for the daemon.\n", w.stateDir)
}

// notKept says what to do about an app.ErrNotKept.
func (w *wizard) notKept(err error) error {
	return fmt.Errorf("%w; mend that and try again, or %s", err, noMessage)
}

// sayAgents says which agents can be begun without being configured, as the daemon finds them in
// the same PATH.
func (w *wizard) sayAgents() error {
	profiles, err := agent.Load()
	if err != nil {
		return err
	}
	path, _ := w.env("PATH")
	found := app.FindAgents(path, profiles)
	if len(found.Found) == 0 {
		return w.printf("\nNo agent was found: none of %s is in\n%s. What's elsewhere goes into the configuration, below agents.\n", strings.Join(found.Names, ", "), strings.Join(found.Folders, ", "))
	}
	return w.printf("\nAgents that were found: %s. /new, written to the bot, begins one.\n", strings.Join(slices.Sorted(maps.Keys(found.Found)), ", "))
}

// printFinding prints a finding as the doctor does.
func (w *wizard) printFinding(f finding) error {
	if err := w.printf("%-8s %s: %s\n", f.State, f.Check, f.Detail); err != nil || f.Fix == "" {
		return err
	}
	return w.printf("         %s\n", f.Fix)
}

// quote is what somebody has written, as it's shown.
func quote(text string) string {
	if text == "" {
		return "something without text"
	}
	return fmt.Sprintf("“%s”", text)
}
