package app_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
)

// What stands in the way on Discord is found, each with what to do about it, and the
// token is never shown.
func TestExamineDiscord(t *testing.T) {
	world := discordtest.New(discordtest.Options{})
	guild := world.Guild("house")
	text, forum, mute := guild.TextChannel("agents"), guild.ForumChannel("posts"), guild.TextChannel("quiet")
	mute.Deny(discordtest.SendMessages)
	cfg := all.Form().Default()
	dc := discordConfig(cfg)
	dc.Enabled, dc.Token, dc.APIURL, dc.Guild = true, config.NewSecret(world.Token()), onAPort(t, world)+"/api", guild.ID
	dc.Channels = []discordChannel{{ID: text.ID, Threads: true}, {ID: forum.ID, Threads: false}, {ID: mute.ID}, {ID: "999999999999999999"}}

	want := map[string]findings.Severity{
		"discord": findings.Fine, "discord channel " + text.ID: findings.Fine, "discord channel " + forum.ID: findings.Broken,
		"discord channel " + mute.ID: findings.Broken, "discord channel 999999999999999999": findings.Broken,
	}
	got := map[string]findings.Severity{}
	for _, f := range discord.Descriptor().Examine(t.Context(), discordConfig(cfg), false) {
		got[f.Check] = max(got[f.Check], f.Severity)
		if f.Severity != findings.Fine && f.Fix == "" || strings.Contains(f.Detail+f.Fix, world.Token()) {
			t.Errorf("%+v", f)
		}
	}
	for check, severity := range want {
		if s, ok := got[check]; !ok || s != severity {
			t.Errorf("%s is %v (said: %v), want %v", check, s, ok, severity)
		}
	}
	dc.Guild, dc.Channels = "999999999999999999", nil
	if all := discord.Descriptor().Examine(t.Context(), discordConfig(cfg), false); len(all) != 2 || all[1].Severity != findings.Broken || !strings.Contains(all[1].Fix, "oauth2/authorize") {
		t.Errorf("of a server that the bot isn't on it's said %+v", all)
	}
	dc.Token = config.NewSecret(strings.Repeat("A", 24) + ".BBBBBB." + strings.Repeat("C", 30))
	if all := discord.Descriptor().Examine(t.Context(), discordConfig(cfg), false); len(all) != 1 || all[0].Severity != findings.Broken || !strings.Contains(all[0].Fix, "Reset Token") {
		t.Errorf("of a wrong token it's said %+v", all)
	}
}
