package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
)

type (
	// Finding is the outcome of one check.
	Finding = findings.Finding
	// Severity is how it came out.
	Severity = findings.Severity
)

// The severities.
const (
	Fine     = findings.Fine
	Doubtful = findings.Doubtful
	Broken   = findings.Broken
)

const (
	// examineFor bounds each check, so that a network that swallows everything doesn't
	// hold up the others.
	examineFor = 15 * time.Second
	// rivalFor is how long to look out for another reader. When its poll was ended, a
	// panebridge calls again after a second, go-telegram/bot after 0.1 s.
	rivalFor = 4 * time.Second
)

// ExamineChats looks at the bots of the platforms that are on, and at their chats; running says that a daemon does, too.
func ExamineChats(ctx context.Context, cfg *config.Config, running bool) []Finding {
	var found []Finding
	for _, p := range all.Enabled(cfg) {
		switch {
		case p.Name == telegram.Name: // it shares its calls with `init`
			found = append(found, ExamineTelegram(ctx, cfg, running)...)
		case p.Examine != nil:
			found = append(found, p.Examine(ctx, section(cfg, p), running)...)
		}
	}
	return found
}

// ExamineTelegram looks at the bot as it's configured, and at all chats that the
// configuration names. If the daemon runs, which is then the reader of the updates, it
// doesn't look for others: the daemon's health tells of them.
func ExamineTelegram(ctx context.Context, cfg *config.Config, running bool) []Finding {
	const name = "telegram"
	tg := telegram.ConfigOf(cfg)
	all := findings.ExamineTokenFile(name, tg.TokenFile)
	call, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	l, err := LookAtTelegram(call, tg)
	switch {
	case errors.Is(err, ErrTokenRefused):
		return append(all, Finding{Check: name, Severity: Broken, Detail: "Telegram doesn't know the token", Fix: "Take the present one from @BotFather (/mybots, the bot, API Token), and put it into " + tokenPlace(tg) + "."})
	case err != nil && len(all) > 0:
		return all // the token can't be read, and that was said
	case err != nil:
		return append(all, Finding{Check: name, Severity: Broken, Detail: err.Error(), Fix: "Look whether this machine reaches " + tg.APIURL + ", and whether adapters.telegram.proxy and HTTPS_PROXY are right."})
	}
	defer l.Close()
	all = append(all, Finding{Check: name, Detail: fmt.Sprintf("the token is that of @%s (%d)", l.Bot.User, l.Bot.ID)})
	all = append(all, l.examineUpdates(ctx, tg, running)...)
	for _, c := range chatsOf(cfg) {
		call, cancel := context.WithTimeout(ctx, examineFor)
		_, found := l.Chat(call, c)
		cancel()
		all = append(all, found...)
	}
	return all
}

func tokenPlace(cfg *telegram.Config) string {
	if cfg.TokenFile != "" {
		return cfg.TokenFile
	}
	return "adapters.telegram.token"
}

// examineUpdates looks whether updates come here, and nowhere else.
func (l *TelegramLook) examineUpdates(ctx context.Context, cfg *telegram.Config, running bool) []Finding {
	const name = "telegram updates"
	call, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	hook, err := l.probe.Hook(call)
	wanted := cfg.Webhook.URL != ""
	switch {
	case err != nil:
		return []Finding{{Check: name, Severity: Doubtful, Detail: err.Error(), Fix: "Try again later; if it stays, look at the network."}}
	case wanted && hook.Host == "" && running:
		return []Finding{{Check: name, Severity: Broken, Detail: "the webhook isn't set, though the daemon runs", Fix: "Look into the daemon's log, and whether another program uses this bot."}}
	case wanted && hook.Host == "":
		return []Finding{{Check: name, Detail: "the webhook isn't set yet; the daemon sets it when it starts"}}
	case wanted && !strings.Contains(cfg.Webhook.URL, "://"+hook.Host):
		return []Finding{{Check: name, Severity: Broken, Detail: "another program's webhook, at " + hook.Host + ", takes the bot's updates", Fix: "End that program, or give panebridge a bot of its own."}}
	case wanted && hook.Problem != "":
		return []Finding{{Check: name, Severity: Broken, Detail: fmt.Sprintf("Telegram can't deliver to the webhook, %d updates wait: %s", hook.Pending, hook.Problem), Fix: "See to it that adapters.telegram.webhook.url is reached from outside, with a valid certificate, and is passed on to webhook.listen."}}
	case wanted:
		return []Finding{{Check: name, Detail: "they come by the webhook at " + hook.Host}}
	case hook.Host != "":
		return []Finding{{
			Check: name, Severity: Doubtful, Detail: "a webhook at " + hook.Host + " takes the bot's updates; panebridge takes it away when it starts", Fix: "If another program needs that webhook, give panebridge a bot of its own; @BotFather makes one with /newbot.",
		}}
	case running:
		return []Finding{{Check: name, Detail: fmt.Sprintf("the daemon reads them, %d wait", hook.Pending)}}
	}
	call, cancel = context.WithTimeout(ctx, rivalFor+examineFor)
	defer cancel()
	rival, err := l.probe.Rival(call, rivalFor)
	switch {
	case err != nil:
		return []Finding{{Check: name, Severity: Doubtful, Detail: err.Error(), Fix: "Try again later; if it stays, look at the network."}}
	case rival:
		return []Finding{{
			Check: name, Severity: Broken, Detail: "another program reads them (409), so that each would get only some", Fix: "End it (a second panebridge, another bot program with this token), or have @BotFather revoke the token and put the new one into " + tokenPlace(cfg) + ".",
		}}
	}
	return []Finding{{Check: name, Detail: fmt.Sprintf("no other program reads them, %d wait", hook.Pending)}}
}

// TelegramChat is a chat to look at.
type TelegramChat struct {
	ID     int64
	Topics bool // each session is to have a topic there
}

// chatsOf are the chats that a configuration names.
func chatsOf(cfg *config.Config) []TelegramChat {
	var list []TelegramChat
	for _, c := range telegram.ConfigOf(cfg).Chats {
		list = append(list, TelegramChat{c.ID, c.Topics})
	}
	return list
}

// Chat looks at a chat and what the bot may do there. The findings say what stands in
// the way; if nothing does, it's one that says so. They have the same Check.
func (l *TelegramLook) Chat(ctx context.Context, c TelegramChat) (telegram.Seen, []Finding) {
	name := fmt.Sprintf("telegram chat %d", c.ID)
	seen, err := l.probe.Chat(ctx, l.Bot, c.ID)
	if err != nil {
		return seen, []Finding{{
			Check: name, Severity: Broken, Detail: err.Error(), Fix: fmt.Sprintf("Check the number; add @%s to the group, or in a private chat send it /start.", l.Bot.User),
		}}
	}
	var all []Finding
	found := func(s Severity, detail, fix string) {
		all = append(all, Finding{Check: name, Severity: s, Detail: detail, Fix: fix})
	}
	if seen.ID != c.ID {
		found(Broken, fmt.Sprintf("the group was upgraded: its number is %d now", seen.ID), fmt.Sprintf("Write %d instead of %d in the configuration.", seen.ID, c.ID))
	}
	if !seen.MayWrite {
		found(Broken, "the bot may not write there", "Make it an administrator, or allow members to send messages in the group's permissions.")
	}
	switch {
	case !c.Topics:
	case !seen.Topics && seen.Private:
		found(Broken, "the bot's private chats have no topics", "Turn on Threaded Mode for the bot at @BotFather, or say topics: false for the chat.")
	case !seen.Topics && seen.Basic:
		found(Broken, "topics are off", "Turn Topics on in the group's settings, which gives the group a new number to be written down instead, or say topics: false for the chat.")
	case !seen.Topics:
		found(Broken, "topics are off", "Turn Topics on in the group's settings, or say topics: false for the chat.")
	case !seen.MayTopic:
		found(Broken, "the bot may not manage topics", `Make it an administrator with the right "Manage Topics".`)
	}
	if !seen.Private && !seen.Admin && !l.Bot.HearsAll {
		found(Doubtful, "privacy mode is on and the bot is no administrator, so it hears only commands and answers to its own messages",
			"Make it an administrator, or turn privacy mode off (/setprivacy at @BotFather) and then remove it from the group and add it again.")
	}
	if len(all) == 0 {
		all = []Finding{{Check: name, Detail: wellAt(seen)}}
	}
	return seen, all
}

// wellAt is what the bot may do in a chat where nothing stands in its way.
func wellAt(seen telegram.Seen) string {
	can := []string{"the bot may write"}
	if seen.Topics && seen.MayTopic {
		can = append(can, "may make topics")
	}
	if !seen.Private {
		can = append(can, "hears everything")
	}
	return fmt.Sprintf("%q: %s", seen.Title, strings.Join(can, ", "))
}
