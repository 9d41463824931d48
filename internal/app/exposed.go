package app

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"syscall"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// ExamineStore looks at the database in a state folder, whether a daemon uses it or not; nothing if
// there's none yet, or if statedir.Check refuses the folder: then it may be anything.
func ExamineStore(ctx context.Context, stateDir string) []Finding {
	return append(examineDatabase(ctx, stateDir), examineAsides(stateDir)...)
}

// examineAsides says what lies beside the database that was put aside.
func examineAsides(stateDir string) (all []Finding) {
	const name = api.PartAside
	asides, err := store.Asides(statedir.DatabasePath(stateDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		all = append(all, Finding{name, Doubtful, err.Error(), "See to the state folder."})
	}
	for _, a := range asides {
		all = append(all, Finding{name, Doubtful, a.String(), "rm " + a.Path + "*"})
	}
	return all
}

func examineDatabase(ctx context.Context, stateDir string) []Finding {
	const name = "database"
	path := statedir.DatabasePath(stateDir)
	if statedir.Check(stateDir) != nil {
		return nil
	}
	err := store.Examine(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		return []Finding{{Check: name, Detail: path + " is sound"}}
	case errors.Is(err, store.ErrTooNew):
		return []Finding{{name, Broken, err.Error(), "Run the newer panebridge that made it, or give another --state-dir."}}
	case errors.Is(err, store.ErrStrange):
		return []Finding{{name, Broken, err.Error(), "`panebridge run` refuses it until that's so."}}
	case errors.Is(err, store.ErrDamaged):
		return []Finding{{name, Broken, err.Error(), "Restart panebridge: it saves what can be read, and keeps the damaged database beside the new one."}}
	}
	return []Finding{{name, Broken, err.Error(), "See to its file and its disk; see docs/troubleshooting.md."}}
}

// ExamineExposure looks for secrets that others can read: in a configuration that others may open, and
// on the way to a platform.
func ExamineExposure(cfg *config.Config, path string) (all []Finding) {
	tg, dc := telegram.ConfigOf(cfg), discord.ConfigOf(cfg)
	info, err := os.Stat(path)
	if err == nil && isOthersToWrite(info) {
		all = append(all, Finding{"configuration", Doubtful, "a group of users can write to " + path + ", which names programs that are run", "chmod g-w " + path})
	}
	if err == nil && info.Mode().Perm()&0o044 != 0 {
		text, err := regular.Read(path, maxSecretFile)
		for _, one := range inlineSecrets(cfg) {
			if err == nil && one.text != "" && bytes.Contains(text, []byte(one.text)) {
				all = append(all, Finding{"configuration", Doubtful, "other users can read " + path + ", in which " + one.name + " stands", "chmod 600 " + path + ", or write it as ${VARIABLE} or into a file of its own."})
			}
		}
	}
	for _, one := range [][2]string{{"adapters.telegram.api_url", tg.APIURL}, {"adapters.discord.api_url", dc.APIURL}} {
		if u, err := url.Parse(one[1]); err == nil && u.Scheme == "http" && !config.IsLoopback(u.Hostname()) {
			all = append(all, Finding{"configuration", Doubtful, one[0] + " is " + one[1] + ": the bot's token goes there in plain text, with all that's said", "Use https, or a server on this machine."})
		}
	}
	return all
}

// inlineSecrets are those that a configuration may have in its own text, by where they stand in it.
func inlineSecrets(cfg *config.Config) []secret {
	tg, dc := telegram.ConfigOf(cfg), discord.ConfigOf(cfg)
	all := []secret{
		{"adapters.telegram.token", tg.Token.Reveal()},
		{"adapters.discord.token", dc.Token.Reveal()},
		{"redis.password", cfg.Redis.Password.Reveal()},
		{"a password in adapters.telegram.proxy", passwordIn(tg.Proxy)},
		{"a password in adapters.discord.proxy", passwordIn(dc.Proxy)},
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		env := cfg.Agents[name].Env
		for _, variable := range slices.Sorted(maps.Keys(env)) {
			if secretName.MatchString(variable) {
				all = append(all, kept([]secret{{"agents." + name + ".env." + variable, env[variable].Reveal()}})...)
			}
		}
	}
	return all
}

// isOthersToWrite reports whether a group can write to a file, unless it's one that a user has alone: such a
// one has the user's number, by custom.
func isOthersToWrite(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o020 != 0 && info.Mode().IsRegular() && s.Gid != s.Uid
}

// warnOfExposure says in the log what others can read of the configuration's secrets, and that they can write to it.
func (d *daemon) warnOfExposure() {
	all := ExamineExposure(d.config, d.opt.ConfigPath)
	all = append(append(all, examineTokenFile(telegram.Name, telegram.ConfigOf(d.config).TokenFile)...), examineTokenFile(discord.Name, discord.ConfigOf(d.config).TokenFile)...)
	for _, f := range all {
		if f.Severity == Doubtful {
			d.opt.Log.Warn("the configuration isn't safe", "component", "config", "found", f.Detail, "fix", f.Fix)
		}
	}
}
