package discord

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
)

// examineFor bounds each check, so that a network that swallows everything doesn't hold up the others.
const examineFor = 15 * time.Second

// examine looks at the bot as it's configured, and at all channels that the section names.
func examine(ctx context.Context, section config.Section, _ bool) []findings.Finding {
	const portal = "discord.com/developers/applications"
	dc := section.(*Config) //nolint:forcetypeassert // Form makes it
	all := findings.ExamineTokenFile(Name, dc.TokenFile)
	text, err := platform.Token(dc.Token, dc.TokenFile, Name)
	if err != nil {
		return all // which was said
	}
	p, err := NewProbe(Options{Token: Token(text), APIURL: dc.APIURL, Proxy: dc.Proxy, Guild: dc.Guild})
	if err != nil {
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: err.Error(), Fix: "Take the token from " + portal + " (the application, Bot, Reset Token)."})
	}
	defer p.Close()
	call, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	bot, err := p.Bot(call)
	switch {
	case exchange.IsUnauthorized(err):
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: "Discord doesn't know the token", Fix: "Take a new one from " + portal + " (the application, Bot, Reset Token)."})
	case err != nil:
		return append(all, findings.Finding{Check: Name, Severity: findings.Broken, Detail: err.Error(), Fix: "Look whether this machine reaches " + dc.APIURL + ", and whether adapters.discord.proxy and HTTPS_PROXY are right."})
	}
	all = append(all, findings.Finding{Check: Name, Detail: fmt.Sprintf("the token is that of %s (%s)", bot.Name, bot.ID)})
	if !bot.Content {
		all = append(all, findings.Finding{
			Check: Name, Severity: findings.Broken, Detail: "the bot isn't shown what people write", Fix: "Switch on Message Content Intent at " + portal + " (the application, Bot).",
		})
	}
	all = append(all, examineGuild(ctx, p, bot, dc.Guild)...)
	for _, c := range dc.Channels {
		call, cancel := context.WithTimeout(ctx, examineFor)
		all = append(all, examineChannel(call, p, bot, dc.Guild, Channel(c))...)
		cancel()
	}
	return all
}

// examineGuild looks whether the bot is on the server. Without it, not even what's
// written in private chats is of use: Discord lets nobody write to a bot that's on no
// server of theirs.
func examineGuild(ctx context.Context, p *Probe, bot Bot, guild string) []findings.Finding {
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	on, err := p.IsOn(ctx, guild)
	switch {
	case err != nil:
		return []findings.Finding{{Check: Name, Severity: findings.Broken, Detail: "whether the bot is on the server can't be seen: " + err.Error(), Fix: "Try it again."}}
	case on:
		return nil
	}
	return []findings.Finding{{Check: Name, Severity: findings.Broken, Detail: "the bot isn't on the server " + guild, Fix: "Correct adapters.discord.guild, or let the bot in: " + bot.Invite()}}
}

func examineChannel(ctx context.Context, p *Probe, bot Bot, guild string, c Channel) []findings.Finding {
	name := "discord channel " + c.ID
	seen, err := p.Channel(ctx, bot, c.ID)
	if err != nil {
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "Check the id, and let the bot in: " + bot.Invite()}}
	}
	var all []findings.Finding
	for _, l := range seen.Lacks(c, guild) {
		severity := findings.Broken
		if l.Slight {
			severity = findings.Doubtful
		}
		all = append(all, findings.Finding{Check: name, Severity: severity, Detail: l.Detail, Fix: l.Fix})
	}
	if len(all) == 0 {
		all = []findings.Finding{{Check: name, Detail: "#" + seen.Title + ": the bot may do there what it has to"}}
	}
	return all
}
