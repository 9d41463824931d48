package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/sessions"
)

// setup is one run of `panebridge init`.
type setup struct {
	platform.SetupHost
	flags setupFlags

	config   *Config // says where the bot is
	probe    *Probe  // nil: Telegram hasn't said who the bot is
	bot      BotAccount
	messages *waitingMessages
	found    SetupAnswers
	heard    int64 // number of the message by which the person was recognised; 0: none, or it was a command
	left     bool  // something is still to be put right
}

// setupFlags answer questions beforehand.
type setupFlags struct {
	tokenFile, admin string
	chat             int64
	mirrorGiven      bool // "" is an answer, too
}

// newSetup is Descriptor.Setup.
func newSetup() platform.Setup {
	s := &setup{}
	f := &s.flags
	return platform.Setup{
		Short: "Set up the bot on Telegram, question by question",
		Long: `Ask for a bot's token, find out by a message who you are and where you want to
have your sessions, look whether the bot has the rights it needs, and write the
configuration. The token goes into a file of its own beside it that only you can
read. A configuration that's there isn't changed: you're told what to add to it.
Nothing is written before the end, so Ctrl-C leaves nothing behind. Where Telegram
can't be reached the token is kept, and the next init goes on with it.

The message by which you're known is nobody's input. What else waits for the bot goes
into the daemon's database, and is handled when that starts; where more waits than
Telegram shows at once the oldest goes there before you're asked.

Flags answer questions beforehand, and where standard input isn't a terminal its
lines answer the rest, in the order they're asked. With --token-file, --chat,
--admin and --mirror nothing is asked. Exit code 1 when a check fails that nothing
can be set up without.`,
		Example: "  panebridge init\n  panebridge init --token-file ~/telegram-token --chat -1001234567890 --admin 123456789 --mirror 'agent-*'",
		Flags: []platform.Flag{
			{Name: "token-file", Help: "`FILE` that holds the bot's token; it stays there", Value: &f.tokenFile},
			{Name: "chat", Help: "`NUMBER` of the chat; groups have negative ones", Value: &f.chat},
			{Name: "admin", Help: "your `NUMBER` on Telegram: you may do everything", Value: &f.admin},
			{Name: "mirror", Help: "mirror sessions whose names match this `PATTERN` to the chat; \"\" for none by itself", Value: &s.found.Mirror, Given: &f.mirrorGiven},
			{Name: "api-url", Help: "`ADDRESS` of a Bot API server of your own", Value: &s.found.APIURL},
			{Name: "proxy", Help: "`ADDRESS` of a proxy to reach Telegram through", Value: &s.found.Proxy},
		},
		Run: s.runSetup,
	}
}

// runSetup goes through all steps. Where Telegram can't be reached it keeps the token.
func (s *setup) runSetup(ctx context.Context, host platform.SetupHost) error {
	s.SetupHost = host
	if err := s.readFlags(); err != nil {
		return err
	}
	err := s.SayWhatExists()
	if err == nil {
		err = s.runSteps(ctx)
	}
	if err != nil && s.messages != nil && s.messages.told > 0 {
		err = partlyKept{err}
	}
	if err == nil || ctx.Err() != nil || !exchange.IsUnreachable(err) {
		return err
	}
	return s.KeepForLater(err, s.firstConfig(), s.tokenFile())
}

// partlyKept is an error that's an ErrPartlyKept, too, and says nothing of it.
type partlyKept struct{ error }

func (e partlyKept) Unwrap() []error { return []error{e.error, platform.ErrPartlyKept} }

// readFlags takes in what they say of the person and of where the bot is.
func (s *setup) readFlags() (err error) {
	f := s.flags
	if f.admin != "" {
		if s.found.Admin, err = strconv.ParseInt(strings.TrimPrefix(f.admin, Name+":"), 10, 64); err != nil || s.found.Admin <= 0 {
			return s.UsageErrorf("--admin is a person's number on Telegram, such as 123456789, not %q: names can be taken by anybody", f.admin)
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
	if _, err := os.Stat(s.config.TokenFile); err != nil {
		return s.UsageErrorf("read --token-file: %w", err)
	}
	return nil
}

// tokenFile is where a token goes that's given now: beside the configuration.
func (s *setup) tokenFile() string { return s.TokenFileOf(Name) }

func (s *setup) runSteps(ctx context.Context) error {
	if err := s.findBot(ctx); err != nil {
		return err
	}
	defer s.probe.Close()
	if err := s.CheckToken(s.firstConfig()); err != nil {
		return err
	}
	if err := s.findChat(ctx); err != nil {
		return err
	}
	if err := s.examineChat(ctx); err != nil {
		return err
	}
	if err := s.askMirror(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := s.handOver(ctx); err != nil {
		return err
	}
	first := s.firstConfig()
	s.found.TokenFile = first.TokenFile
	first.Mirrors, first.YAML = s.found.Mirror != "", s.found.YAML()
	first.Written = func() {
		if s.heard != 0 {
			_ = s.probe.AcknowledgeUpdates(ctx, s.messages.waiting.Last) // the daemon knows them, should they come again
		}
	}
	first.Greet = func(ctx context.Context, text string) error { return s.probe.SendText(ctx, s.found.Chat.ID, text) }
	return s.Write(ctx, first)
}

// firstConfig is what has been found out so far.
func (s *setup) firstConfig() platform.FirstConfig {
	return platform.FirstConfig{Token: s.config.Token, TokenFile: cmp.Or(s.config.TokenFile, s.tokenFile()), Undone: s.left}
}

const botText = `A bot is made by @BotFather on Telegram: write /newbot to it, and it gives you a
token, as in 7000000001:AAF…
`

// findBot asks for the token until Telegram knows it; without a person there, once.
func (s *setup) findBot(ctx context.Context) error {
	return s.UseToken(ctx, botText, &s.config.TokenFile, s.tokenFile(), errTokenRefused, func(token config.Secret) (err error) {
		s.config.Token = token
		if s.probe, s.bot, err = probeBot(ctx, s.config); err != nil {
			return err
		}
		s.messages = newMessages(s.probe, s.bot, s.KeepUpdates)
		return s.Printf("The bot is %s, @%s.\n", s.bot.Name, s.bot.User)
	})
}

const messageText = `
Now write any message to @%s: in a private chat with it, or, better, in a group that
you have added it to, with topics turned on (in the group's settings) and the bot as
an administrator who may manage topics. If nothing happens in a group, write
/start@%s there: it may not hear more than that yet.
`

const noMessage = "give --chat and --admin"

// findChat finds out by a message which chat to use, and whose it is, as far as flags
// haven't said so.
func (s *setup) findChat(ctx context.Context) error {
	s.found.Chat.ID = s.flags.chat
	if s.found.Chat.ID != 0 && s.found.Admin != 0 {
		return nil
	}
	if err := s.offerWebhookRemoval(ctx); err != nil {
		return err
	}
	if err := s.Printf(messageText, s.bot.User, s.bot.User); err != nil {
		return err
	}
	for {
		done, err := s.nextMessage(ctx)
		switch {
		case errors.Is(err, errNotKept):
			return s.adviseNotKept(err)
		case errors.Is(err, errRival):
			return fmt.Errorf("%w: end it (is a panebridge running with this bot?) and try again, or %s", err, noMessage)
		case err != nil:
			return err
		case done:
			return nil
		}
	}
}

// nextMessage waits for a message and asks about it; true: it was the one.
func (s *setup) nextMessage(ctx context.Context) (bool, error) {
	h, err := s.messages.nextMessage(ctx)
	switch {
	case err != nil:
		return false, err
	case s.flags.chat != 0 && h.Chat != s.flags.chat, s.found.Admin != 0 && h.Person != s.found.Admin:
		return false, nil
	}
	where := "in a private chat with the bot"
	if !h.Private {
		where = fmt.Sprintf("in the group %q", h.Title)
	}
	text := "something without text"
	if h.Text != "" {
		text = "“" + h.Text + "”"
	}
	if h.Person == 0 {
		return false, s.Printf("\nSomebody has written %s %s, but Telegram doesn't say who: turn off \"Remain anonymous\" in\nyour administrator's rights, or write as yourself.\n", text, where)
	}
	who := h.Name
	if h.User != "" {
		who += " (@" + h.User + ")"
	}
	if s.found.Admin == 0 { // anybody can write to a bot
		question := fmt.Sprintf("\n%s, number %d, has written %s %s.\nIs that you, and do you want to have your sessions there?", who, h.Person, text, where)
		ours, err := s.AskYesNo(ctx, question, false, noMessage)
		if err != nil || !ours {
			return false, err
		}
	}
	s.found.Admin, s.found.Name, s.found.Chat.ID = h.Person, h.Name, h.Chat
	if !strings.HasPrefix(h.Text, "/") { // the bot answers a command
		s.heard = h.Update
	}
	return true, nil
}

// offerWebhookRemoval offers to take a webhook away, which would get the message.
func (s *setup) offerWebhookRemoval(ctx context.Context) error {
	hook, err := s.probe.Webhook(ctx)
	if err != nil || hook.Host == "" {
		return err
	}
	question := fmt.Sprintf("\nA webhook at %s takes this bot's messages, so another program uses it, or did. Without\nthe webhook that program hears nothing more. Take it away?", hook.Host)
	take, err := s.AskYesNo(ctx, question, false, noMessage)
	switch {
	case err != nil:
		return err
	case !take:
		return errors.New("a webhook takes this bot's messages: make another bot with @BotFather (/newbot), or " + noMessage)
	}
	return s.probe.DeleteWebhook(ctx)
}

// examineChat looks at the chat, and lets a person put right what's wrong.
func (s *setup) examineChat(ctx context.Context) (err error) {
	s.left, err = s.ExamineUntilSound(ctx, "in this chat", s.lookAtChat)
	return err
}

// lookAtChat says what stands in the way: left, something does; broken, so much that it's no chat for the bot.
func (s *setup) lookAtChat(ctx context.Context) (left, broken bool, err error) {
	// Topics are the way to go in a group. A private chat is as it is.
	s.found.Chat.Topics = s.found.Chat.ID < 0 || s.bot.PrivateTopics
	seen, found := examineChat(ctx, s.probe, s.bot, s.found.Chat)
	if ctx.Err() != nil {
		return false, false, context.Cause(ctx)
	}
	if seen.ID != 0 && seen.ID != s.found.Chat.ID {
		s.found.Chat.ID = seen.ID // it was upgraded
		seen, found = examineChat(ctx, s.probe, s.bot, s.found.Chat)
	}
	if left, err = s.PrintFindings(found); err != nil {
		return false, false, err
	}
	s.found.Title, s.found.Chat.Topics = seen.Title, seen.Topics
	if seen.Private && !seen.Topics {
		err = s.Printf("%s\n", privateText)
	}
	return left, seen.ID == 0 || !seen.MayWrite, err
}

const privateText = `This chat has no topics, so it suits one session at a time. For several, use a group
with topics, or turn on Threaded Mode for the bot at @BotFather.`

// askMirror asks which sessions are mirrored to the chat by themselves. Without topics
// they'd all end up in one stream, so there it isn't offered.
func (s *setup) askMirror(ctx context.Context) error {
	if s.flags.mirrorGiven || !s.found.Chat.Topics {
		return nil
	}
	var err error
	s.found.Mirror, err = s.AskMirror(ctx, "this chat", "topic")
	return err
}

// handOver has the daemon take the message for handled by which the person was recognised, and leaves to it what else
// waits. It's before there's a configuration to start a daemon with.
func (s *setup) handOver(ctx context.Context) error {
	if s.heard == 0 {
		return nil
	}
	others, err := s.messages.handOver(ctx, s.heard)
	switch {
	case err != nil && ctx.Err() == nil:
		return s.adviseNotKept(fmt.Errorf("%w: %w", errNotKept, err))
	case err != nil || others == 0:
		return err
	}
	return s.Printf("\nWhat else was written to the bot waits in %s for the daemon.\n", s.StateDir)
}

// adviseNotKept says what to do about an errNotKept.
func (s *setup) adviseNotKept(err error) error {
	return fmt.Errorf("%w; mend that and try again, or %s", err, noMessage)
}

// waitingMessages are those that wait for the bot, as `init` takes them in one by one.
type waitingMessages struct {
	probe         *Probe
	bot           string // its number
	keepInJournal func(ctx context.Context, updates []intake.Update, handled string) error

	shown   map[int64]bool // numbers of updates that next has returned
	fresh   []HeardMessage // those that it will
	waiting PendingUpdates // at the last look
	told    int64          // updates up to this number are in the database, and Telegram was told so; 0: none
	kept    int            // messages among these
}

func newMessages(p *Probe, b BotAccount, keep func(context.Context, []intake.Update, string) error) *waitingMessages {
	return &waitingMessages{probe: p, bot: strconv.FormatInt(b.ID, 10), keepInJournal: keep, shown: map[int64]bool{}}
}

// handOver leaves what waits to the daemon's next start, and has it take a message that next
// returned for handled, so that it's nobody's input. When it returns nil that's durable; after an error nothing has
// happened, but that after an end of ctx it may yet. It blocks until the database has it, or ctx ends. Others says how
// many messages there are besides.
//
// Telegram can be told only that all up to a number has come. So what waits goes into the database first, with its
// numbers: the daemon takes none of it twice, told or not.
func (m *waitingMessages) handOver(ctx context.Context, update int64) (others int, err error) {
	handled, updates := JournalKey(update), m.waiting.Updates
	if !slices.Contains(m.waiting.Numbers, update) { // it's among those that were kept before
		updates = append(slices.Clone(updates), intake.Update{Key: handled})
	}
	err = m.keepUpdates(ctx, updates, handled)
	return m.kept + len(m.waiting.Heard) - 1, err
}

// keepOldest leaves the older half of what waits to the daemon, as handOver does, and has Telegram forget it: it gives
// no more than it has given, and so none that's newer, before that. The newer half may have the message that's looked
// for: it stays for the next init, should this one be killed.
func (m *waitingMessages) keepOldest(ctx context.Context) error {
	half := slices.Sorted(slices.Values(m.waiting.Numbers))
	half = half[:len(half)/2]
	if len(half) == 0 || half[len(half)-1] <= m.told {
		return errors.New("more updates wait for the bot than Telegram gives at once, and it doesn't take that the oldest have come")
	}
	last := half[len(half)-1]
	var updates []intake.Update
	for i, u := range m.waiting.Updates {
		if m.waiting.Numbers[i] <= last {
			updates = append(updates, u)
		}
	}
	if err := m.keepUpdates(ctx, updates, ""); err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	m.told = last
	for _, h := range m.waiting.Heard {
		if h.Update <= last {
			m.kept++
		}
	}
	return m.probe.AcknowledgeUpdates(ctx, last)
}

// errNotKept is the error of what waits where it couldn't be left to the daemon.
var errNotKept = errors.New("leave to the daemon what waits at Telegram")

// keepUpdates leaves updates to the daemon, the one with the key handled as handled.
func (m *waitingMessages) keepUpdates(ctx context.Context, updates []intake.Update, handled string) error {
	updates = slices.Clone(updates)
	for i := range updates {
		updates[i].Key = intake.UpdateKey(m.bot, updates[i].Key)
	}
	return m.keepInJournal(ctx, updates, intake.UpdateKey(m.bot, handled))
}

// errRival is the error of a bot whose updates another program reads.
var errRival = errors.New("another program reads this bot's messages, and Telegram gives them to one reader only (409)")

const (
	// listenFor is how long one look for updates waits.
	listenFor = 25 * time.Second
	// lookAgain is how long to rest when updates wait: looks for more don't wait then.
	lookAgain = time.Second
	// rivalRest is how long to rest when another reader has ended a look, and rivalTries
	// is how often in a row that's taken for the end of one that has just been stopped.
	rivalRest  = 2 * time.Second
	rivalTries = 3
)

// nextMessage waits for the next message (or that the bot was added to a group) which it
// hasn't returned yet. Of those that wait already the newest is the first. It
// acknowledges nothing, unless more wait than Telegram gives at once: then the oldest are left to the daemon's next
// start before. The error is errRival or an errNotKept where that's why.
func (m *waitingMessages) nextMessage(ctx context.Context) (HeardMessage, error) {
	for met := 0; len(m.fresh) == 0 || m.waiting.Full; {
		got, err := m.probe.PendingUpdates(ctx, listenFor)
		switch {
		case ctx.Err() != nil:
			return HeardMessage{}, context.Cause(ctx)
		case IsConflict(err):
			if met++; met >= rivalTries {
				return HeardMessage{}, errRival
			}
			_ = sessions.Pause(ctx, rivalRest)
			continue
		case exchange.RetryAfter(err) > 0:
			return HeardMessage{}, fmt.Errorf("%w; Telegram wants to be left alone for %s", err, exchange.RetryAfter(err))
		case err != nil:
			return HeardMessage{}, err
		}
		met = 0
		m.waiting = got
		m.addHeard(got.Heard)
		if got.Full {
			if err := m.keepOldest(ctx); err != nil {
				return HeardMessage{}, err
			}
			continue
		}
		if len(m.fresh) == 0 && got.Last > 0 {
			_ = sessions.Pause(ctx, lookAgain)
		}
	}
	h := m.fresh[0]
	m.fresh = m.fresh[1:]
	return h, nil
}

// addHeard keeps what's new, before what it has: that's older.
func (m *waitingMessages) addHeard(list []HeardMessage) {
	var news []HeardMessage
	for _, h := range slices.Backward(list) {
		if !m.shown[h.Update] {
			m.shown[h.Update] = true
			news = append(news, h)
		}
	}
	m.fresh = append(news, m.fresh...)
}

// SetupAnswers are what a first configuration says of Telegram. Titles and names only stand in comments, and have no
// line ends.
type SetupAnswers struct {
	TokenFile string // an absolute path
	APIURL    string // "": Telegram's
	Proxy     string // "": none
	Chat      ChatConfig
	Title     string
	Admin     int64 // a person's number
	Name      string
	Mirror    string // pattern of the names of sessions that are mirrored to the chat; "": none by itself
}

// YAML is the configuration.
func (f SetupAnswers) YAML() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("adapters:")
	line("  telegram:")
	line("    enabled: true")
	line("    token_file: %s", platform.YAMLText(f.TokenFile))
	if f.APIURL != "" {
		line("    api_url: %s", platform.YAMLText(f.APIURL))
	}
	if f.Proxy != "" {
		line("    proxy: %s", platform.YAMLText(f.Proxy))
	}
	line("    chats:")
	line("      - {id: %d, topics: %t}%s", f.Chat.ID, f.Chat.Topics, platform.YAMLComment(f.Title))
	line("access:")
	line("  admins: [%q]%s", "telegram:"+strconv.FormatInt(f.Admin, 10), platform.YAMLComment(f.Name))
	if f.Mirror != "" {
		line("mirrors:")
		line("  - {session: %s, to: %q, view: stream, input: true}", platform.YAMLText(f.Mirror), "telegram:"+strconv.FormatInt(f.Chat.ID, 10))
	}
	return b.String()
}
