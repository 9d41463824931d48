package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
)

// initFlags answer questions beforehand.
type initFlags struct {
	tokenFile, apiURL, proxy string
	chat                     int64
	admin                    string
	mirror                   string
	mirrorGiven              bool // "" is an answer, too
}

func newInit(p *commandLine) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
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
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.mirrorGiven = cmd.Flags().Changed("mirror")
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			err := p.init(ctx, f)
			if s, ok := errors.AsType[*stopSignal](context.Cause(ctx)); ok && err != nil {
				written := "nothing was written"
				if errors.Is(err, errSomeKept) {
					written = "nothing was written but the oldest messages that waited for the bot, into the daemon's database"
				}
				p.notef("\npanebridge: stopped (%v); %s", s.sig, written)
				return silently(exitFailed)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` that holds the bot's token; it stays there")
	flags.Int64Var(&f.chat, "chat", 0, "`NUMBER` of the chat; groups have negative ones")
	flags.StringVar(&f.admin, "admin", "", "your `NUMBER` on Telegram: you may do everything")
	flags.StringVar(&f.mirror, "mirror", "", "mirror sessions whose names match this `PATTERN` to the chat; \"\" for none by itself")
	flags.StringVar(&f.apiURL, "api-url", "", "`ADDRESS` of a Bot API server of your own")
	flags.StringVar(&f.proxy, "proxy", "", "`ADDRESS` of a proxy to reach Telegram through")
	_ = cmd.MarkFlagFilename("token-file") // fails only for a flag that isn't there
	return cmd
}

// adminNumber reads --admin; 0: it isn't given.
func (f initFlags) adminNumber() (int64, error) {
	if f.admin == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(f.admin, "telegram:"), 10, 64)
	if err != nil || n <= 0 {
		return 0, usageErrorf("--admin is a person's number on Telegram, such as 123456789, not %q: names can be taken by anybody", f.admin)
	}
	return n, nil
}

// telegram is what of the configuration says where the bot is.
func (f initFlags) telegram() (*telegram.Config, error) {
	cfg := telegram.ConfigOf(all.Form().Default())
	if f.apiURL != "" {
		cfg.APIURL = f.apiURL
	}
	cfg.Proxy = f.proxy
	if f.tokenFile == "" {
		return cfg, nil
	}
	var err error
	if cfg.TokenFile, err = absoluteFile(f.tokenFile); err != nil {
		return cfg, err
	}
	if _, err := os.Stat(cfg.TokenFile); err != nil {
		return cfg, usageErrorf("read --token-file: %w", err)
	}
	return cfg, nil
}

func (p *commandLine) init(ctx context.Context, f initFlags) error {
	if err := closeMemory(); err != nil {
		return err
	}
	path, _, err := config.Path(p.configFlag, p.env)
	if err != nil {
		return usageErrorf("%w", err)
	}
	if path, err = absoluteFile(path); err != nil {
		return err
	}
	w := &wizard{commandLine: p, ask: newAsker(p), flags: f}
	if w.admin, err = f.adminNumber(); err != nil {
		return err
	}
	if w.telegram, err = f.telegram(); err != nil {
		return err
	}
	if w.stateDir, err = p.stateDir(); err != nil {
		return err
	}
	w.file = path
	_, err = os.Lstat(path)
	w.there = err == nil
	if w.there {
		if err := p.printf("There is a configuration already, %s. It won't be changed:\nat the end you'll see what to add to it.\n\n", path); err != nil {
			return err
		}
	}
	if err := w.run(ctx); err != nil {
		return fmt.Errorf("set up Telegram: %w", err)
	}
	return nil
}
