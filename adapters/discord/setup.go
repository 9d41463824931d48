package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/sessions"
)

// setup is one run of `panebridge init`.
type setup struct {
	platform.SetupHost
	flags setupFlags

	config *Config // says where the bot is
	probe  *Probe  // nil: Discord hasn't said who the bot is
	bot    BotAccount
	found  SetupAnswers
	kind   ChannelKind // the channel's
	left   bool        // something is still to be put right
}

// setupFlags answer questions beforehand.
type setupFlags struct {
	tokenFile, server, channel, admin string
	mirrorGiven                       bool // "" is an answer, too
}

// newSetup is Descriptor.Setup.
func newSetup() platform.Setup {
	s := &setup{}
	f := &s.flags
	return platform.Setup{
		Short: "Set up the bot on Discord, question by question",
		Long: `Ask for a bot's token, look whether it's shown what people write, print the link
that lets it onto your server with just the rights it needs, wait until it's there,
offer the server's channels, and write the configuration. The token goes into a
file of its own beside it that only you can read. A configuration that's there
isn't changed: you're told what to add to it. Nothing is written before the end, so
Ctrl-C leaves nothing behind. Where Discord can't be reached the token is kept, and
the next init goes on with it.

Flags answer questions beforehand, and where standard input isn't a terminal its
lines answer the rest, in the order they're asked. With --token-file, --server,
--channel, --admin and --mirror nothing is asked. Exit code 1 when a check fails
that nothing can be set up without.`,
		Example: "  panebridge init discord\n  panebridge init discord --token-file ~/discord-token --server 112233445566778899 --channel 223344556677889900 --admin 334455667788990011 --mirror 'agent-*'",
		Flags: []platform.Flag{
			{Name: "token-file", Help: "`FILE` that holds the bot's token; it stays there", Value: &f.tokenFile},
			{Name: "server", Help: "`ID` of the server", Value: &f.server},
			{Name: "channel", Help: "`ID` of a text or forum channel there", Value: &f.channel},
			{Name: "admin", Help: "your `ID` on Discord: you may do everything", Value: &f.admin},
			{Name: "mirror", Help: "mirror sessions whose names match this `PATTERN` to the channel; \"\" for none by itself", Value: &s.found.Mirror, Given: &f.mirrorGiven},
			{Name: "api-url", Help: "`ADDRESS` of Discord's API, if it's another", Value: &s.found.APIURL},
			{Name: "proxy", Help: "`ADDRESS` of a proxy to reach Discord through", Value: &s.found.Proxy},
		},
		Run: s.runSetup,
	}
}

// runSetup goes through all steps. Where Discord can't be reached it keeps the token.
func (s *setup) runSetup(ctx context.Context, host platform.SetupHost) error {
	s.SetupHost = host
	if err := s.readFlags(); err != nil {
		return err
	}
	err := s.SayWhatExists()
	if err == nil {
		err = s.runSteps(ctx)
	}
	if err == nil || ctx.Err() != nil || !exchange.IsUnreachable(err) {
		return err
	}
	return s.KeepForLater(err, s.firstConfig(), s.TokenFileOf(Name))
}

// readFlags takes in what they say of ids and of where the bot is.
func (s *setup) readFlags() (err error) {
	f := &s.flags
	f.admin = strings.TrimPrefix(f.admin, Name+":")
	for flag, id := range map[string]string{"server": f.server, "channel": f.channel, "admin": f.admin} {
		if id != "" && !isID(id) {
			return s.UsageErrorf("--%s %q is not an id of Discord's: %s", flag, id, copyID)
		}
	}
	s.config = Form().Default().(*Config) //nolint:forcetypeassert // Form makes it
	s.config.APIURL, s.config.Proxy = cmp.Or(s.found.APIURL, s.config.APIURL), s.found.Proxy
	if f.tokenFile == "" {
		return nil
	}
	if s.config.TokenFile, err = filepath.Abs(f.tokenFile); err != nil {
		return fmt.Errorf("find --token-file: %w", err)
	}
	return nil
}

func (s *setup) runSteps(ctx context.Context) error {
	if err := s.UseToken(ctx, botText, &s.config.TokenFile, s.TokenFileOf(Name), errTokenRefused, func(token config.Secret) error { return s.findBot(ctx, token) }); err != nil {
		return err
	}
	defer s.probe.Close()
	if err := s.CheckToken(s.firstConfig()); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.examineBot, s.findServer, s.findChannel, s.examineChannel, s.findAdmin, s.askMirror} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	first := s.firstConfig()
	s.found.TokenFile = first.TokenFile
	first.Mirrors, first.YAML = s.found.Mirror != "", s.found.YAML()
	if s.kind == ChannelText { // a forum takes posts only
		first.Greet = func(ctx context.Context, text string) error { return s.probe.SendText(ctx, s.found.Channel.ID, text) }
	}
	return s.Write(ctx, first)
}

// firstConfig is what has been found out so far.
func (s *setup) firstConfig() platform.FirstConfig {
	return platform.FirstConfig{
		Token: s.config.Token, TokenFile: cmp.Or(s.config.TokenFile, s.TokenFileOf(Name)), Undone: s.left, Written: func() {},
	}
}

const botText = `A bot is made at https://discord.com/developers/applications: New Application, then
on its page "Bot" Reset Token, which shows the token once. On the same page switch on
Message Content Intent: without it nobody's text reaches the bot.
`

// errTokenRefused is the error of a token that Discord doesn't know, or that is none.
var errTokenRefused = errors.New(`it isn't a token that Discord knows: the application's page "Bot" gives a new one (Reset Token)`)

// copiedToken is the token in what somebody has copied: a line of a request or of a file, say, or with quotes.
func copiedToken(text config.Secret) config.Secret {
	if found := tokenWithin.FindAllString(text.Reveal(), 2); len(found) == 1 {
		return config.NewSecret(found[0])
	}
	return text
}

// findBot asks Discord whose the token is.
func (s *setup) findBot(ctx context.Context, token config.Secret) error {
	s.config.Token = copiedToken(token)
	opt, err := s.config.options()
	if err != nil {
		return err
	}
	if !tokenForm.MatchString(string(opt.Token)) {
		return errTokenRefused
	}
	p, err := NewProbe(opt)
	if err != nil {
		return err
	}
	if s.bot, err = p.Bot(ctx); err != nil {
		p.Close()
		if exchange.IsUnauthorized(err) {
			err = errTokenRefused
		}
		return err
	}
	s.probe = p
	return s.Printf("The bot is %s.\n", s.bot.Name)
}

// examineBot looks whether the bot is shown what people write.
func (s *setup) examineBot(ctx context.Context) error {
	first := true
	_, err := s.ExamineUntilSound(ctx, "as it is", func(ctx context.Context) (left, broken bool, err error) {
		if !first {
			if s.bot, err = s.probe.Bot(ctx); err != nil {
				return false, false, err
			}
		}
		first = false
		if s.bot.Content {
			return false, false, nil
		}
		return true, true, s.PrintFinding(unreadFinding())
	})
	return err
}

const (
	// lookEvery is how often it's looked whether the bot is on a server now: calls that Discord counts, by hand.
	lookEvery = 3 * time.Second
	// restAtMost is how long a person waits for Discord without being told.
	restAtMost = 10 * time.Second
	// maxOffered is how many channels are offered to choose from.
	maxOffered = 40
)

// findServer waits until the bot is on a server, and asks which if it's on several.
func (s *setup) findServer(ctx context.Context) error {
	all, err := s.serversSoon(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 || s.flags.server != "" && !hasServer(all, s.flags.server) {
		if all, err = s.awaitServer(ctx); err != nil {
			return err
		}
	}
	if s.flags.server != "" {
		for _, one := range all {
			if one.ID == s.flags.server {
				s.found.Server = one
			}
		}
		return s.Printf("The bot is on the server %q.\n", s.found.Server.Name)
	}
	if len(all) == 1 {
		s.found.Server = all[0]
		return s.Printf("The bot is on the server %q. Another one: %s\n", all[0].Name, s.bot.Invite())
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.Name
		if slices.ContainsFunc(all, func(other Server) bool { return other.ID != one.ID && other.Name == one.Name }) {
			names[i] += " (id " + one.ID + ")"
		}
	}
	i, err := s.choose(ctx, "On which server do you want to have your sessions?", names, "give --server")
	if err == nil {
		s.found.Server = all[i]
	}
	return err
}

// serversSoon returns the bot's servers. Discord takes this call once a second, and somebody may have begun setup
// twice: what it asks to be waited is waited for, if that's short.
func (s *setup) serversSoon(ctx context.Context) ([]Server, error) {
	for {
		all, err := s.probe.Servers(ctx)
		rest := exchange.RetryAfter(err)
		if rest <= 0 || rest > restAtMost {
			return all, err
		}
		if err := sessions.Pause(ctx, rest); err != nil {
			return nil, context.Cause(ctx)
		}
	}
}

func hasServer(all []Server, id string) bool {
	for _, one := range all {
		if one.ID == id {
			return true
		}
	}
	return false
}

// awaitServer has the person let the bot in, and waits until it's on a server, or on the one that was named.
func (s *setup) awaitServer(ctx context.Context) ([]Server, error) {
	if err := s.Printf("\nLet the bot onto your server, with the rights it needs and no others (whoever manages the\nserver may do that):\n\n  %s\n\n", s.bot.Invite()); err != nil {
		return nil, err
	}
	if !s.HasPerson() {
		return nil, errors.New("the bot is on no server that it could be used on: let it in by that address, and try again")
	}
	if err := s.Printf("Waiting until it's there…\n"); err != nil {
		return nil, err
	}
	for {
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return nil, context.Cause(ctx)
		}
		all, err := s.probe.Servers(ctx)
		if rest := exchange.RetryAfter(err); rest > 0 {
			_ = sessions.Pause(ctx, rest)
			continue
		}
		if err != nil || len(all) > 0 && (s.flags.server == "" || hasServer(all, s.flags.server)) {
			return all, err
		}
	}
}

// findChannel asks in which channel sessions are to be shown.
func (s *setup) findChannel(ctx context.Context) error {
	s.found.Channel = ChannelConfig{ID: s.flags.channel, Threads: true}
	if s.flags.channel != "" {
		return nil
	}
	for {
		all, err := s.probe.Channels(ctx, s.found.Server.ID)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			names := make([]string, len(all))
			for i, c := range all {
				names[i] = "#" + c.Title
				if c.Kind == ChannelForum {
					names[i] += " (a forum: each session is a post)"
				}
				if slices.ContainsFunc(all, func(other ProbedChannel) bool {
					return other.ID != c.ID && other.Title == c.Title && other.Kind == c.Kind
				}) {
					names[i] += " (id " + c.ID + ")"
				}
			}
			i, err := s.choose(ctx, "In which channel do you want to have your sessions?", names, "give --channel")
			if err == nil {
				s.found.Channel.ID = all[i].ID
			}
			return err
		}
		const lacks = "there's no text or forum channel that the bot sees"
		if !s.HasPerson() {
			return errors.New(lacks + `: make one, or give the bot's role "View Channel" there`)
		}
		if _, err := s.Ask(ctx, "\nOn the server "+lacks+`: make one, or give the bot's role "View Channel" there, and press Enter to look again.`, ""); err != nil {
			return err
		}
	}
}

// choose asks for one of several things, by its number, and returns which. The first is what Enter alone means.
func (s *setup) choose(ctx context.Context, question string, names []string, orFlags string) (int, error) {
	names = names[:min(len(names), maxOffered)]
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "\n  %2d  %s", i+1, name)
	}
	if err := s.Printf("\n%s%s\n", question, b.String()); err != nil {
		return 0, err
	}
	for {
		text, err := s.Ask(ctx, "Its number [1]", orFlags)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(cmp.Or(text, "1"))
		if err == nil && n >= 1 && n <= len(names) {
			return n - 1, nil
		}
		problem := fmt.Sprintf("%q isn't a number from 1 to %d", text, len(names))
		if !s.HasPerson() {
			return 0, fmt.Errorf("%s: %s", problem, orFlags)
		}
		if err := s.Printf("This is wrong: %s.\n", problem); err != nil {
			return 0, err
		}
	}
}

// examineChannel looks at the channel, and lets a person put right what's wrong.
func (s *setup) examineChannel(ctx context.Context) (err error) {
	s.left, err = s.ExamineUntilSound(ctx, "in this channel", func(ctx context.Context) (left, broken bool, err error) {
		all, seen := examineChannel(ctx, s.probe, s.bot, s.found.Server.ID, s.found.Channel)
		s.found.Title, s.kind = seen.Title, seen.Kind
		for _, f := range all {
			broken = broken || f.Severity == findings.Broken
		}
		if ctx.Err() != nil {
			return false, false, context.Cause(ctx)
		}
		left, err = s.PrintFindings(all)
		return left, broken, err
	})
	return err
}

const idText = `
Who are you on Discord? With Developer Mode on (Settings, Advanced), Copy User ID in the
menu of your own name gives your id.
`

// findAdmin asks who may do everything: whoever made the application, most often.
func (s *setup) findAdmin(ctx context.Context) error {
	s.found.Admin = s.flags.admin
	if s.found.Admin != "" {
		return nil
	}
	const orFlags = "give --admin"
	if owner := s.bot.Owner; owner.ID != "" {
		ours, err := s.AskYesNo(ctx, fmt.Sprintf("\nThe bot was made by %s (id %s). Is that you? You may do everything then.", owner.Name, owner.ID), true, orFlags)
		if err != nil {
			return err
		}
		if ours {
			s.found.Admin, s.found.Name = owner.ID, owner.Name
			return nil
		}
	}
	if err := s.Printf("%s\n", idText); err != nil {
		return err
	}
	for {
		id, err := s.Ask(ctx, "Your id", orFlags)
		if err != nil {
			return err
		}
		problem := fmt.Sprintf("%q is not an id of Discord's: %s", id, copyID)
		if isID(id) {
			name, on, err := s.probe.PersonOn(ctx, s.found.Server.ID, id)
			if err != nil {
				return err
			}
			if on {
				s.found.Admin, s.found.Name = id, name
				return s.Printf("You're %s.\n", name)
			}
			problem = fmt.Sprintf("nobody with the id %s is on the server %q", id, s.found.Server.Name)
		}
		if !s.HasPerson() {
			return errors.New(problem)
		}
		if err := s.Printf("This is wrong: %s.\n\n", problem); err != nil {
			return err
		}
	}
}

// askMirror asks which sessions are mirrored to the channel by themselves.
func (s *setup) askMirror(ctx context.Context) (err error) {
	if !s.flags.mirrorGiven {
		s.found.Mirror, err = s.AskMirror(ctx, "this channel", "thread")
	}
	return err
}

// SetupAnswers are what a first configuration says of Discord. Titles and names only stand in comments, and have no
// line ends.
type SetupAnswers struct {
	TokenFile string // an absolute path
	APIURL    string // "": Discord's
	Proxy     string // "": none
	Server    Server
	Channel   ChannelConfig
	Title     string // the channel's
	Admin     string // a person's id
	Name      string
	Mirror    string // pattern of the names of sessions that are mirrored to the channel; "": none by itself
}

// YAML is the configuration.
func (f SetupAnswers) YAML() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("adapters:")
	line("  discord:")
	line("    enabled: true")
	line("    token_file: %s", platform.YAMLText(f.TokenFile))
	if f.APIURL != "" {
		line("    api_url: %s", platform.YAMLText(f.APIURL))
	}
	if f.Proxy != "" {
		line("    proxy: %s", platform.YAMLText(f.Proxy))
	}
	line("    guild: %q%s", f.Server.ID, platform.YAMLComment(f.Server.Name))
	line("    channels:")
	line("      - {id: %q, threads: %t}%s", f.Channel.ID, f.Channel.Threads, platform.YAMLComment(f.Title))
	line("access:")
	line("  admins: [%q]%s", Name+":"+f.Admin, platform.YAMLComment(f.Name))
	if f.Mirror != "" {
		line("mirrors:")
		line("  - {session: %s, to: %q, view: stream, input: true}", platform.YAMLText(f.Mirror), Name+":"+f.Channel.ID)
	}
	return b.String()
}
