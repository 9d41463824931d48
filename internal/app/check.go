package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// CheckConfig says what's wrong with a configuration beyond its form, as a daemon would that
// begins with it: all problems of a kind at once, in its file.
func CheckConfig(cfg *config.Config, file string, env config.Env) error {
	for _, check := range []func(*config.Config, string, config.Env) error{CheckServers, CheckPage, CheckPlatforms, checkMirrors, CheckSecrets, CheckProfiles} {
		if err := check(cfg, file, env); err != nil {
			return err
		}
	}
	return nil
}

// CheckServers says which tmux servers of a configuration are one under two names, and whose
// socket can't be: its path is too long for the system.
func CheckServers(cfg *config.Config, file string, env config.Env) error {
	const most = len(syscall.RawSockaddrUnix{}.Path) - 1
	var found []config.Problem
	first := map[string]int{}
	for i, s := range cfg.Tmux.Servers {
		at := fmt.Sprintf("tmux.servers[%d]", i)
		path := filepath.Clean(tmux.New(tmux.Options{SocketName: s.SocketName, SocketPath: s.SocketPath}).SocketPath())
		if len(path) > most {
			found = append(found, config.Problem{Path: at, Message: fmt.Sprintf("its socket %s has a path of %d bytes, and the system takes %d: name a shorter one", path, len(path), most)})
		}
		whole := resolvePath(path)
		if j, seen := first[whole]; seen {
			found = append(found, config.Problem{Path: at, Message: fmt.Sprintf("must name another socket than servers[%d]: both are %s", j, whole)})
			continue
		}
		first[whole] = i
	}
	return locateProblems(found, file, env)
}

// resolvePath is a file's path without links, as far as there is one.
func resolvePath(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// CheckPlatforms says what's wrong with the chat platforms of a configuration that are
// enabled: a token that can't be read or is none, a proxy that's no address.
func CheckPlatforms(cfg *config.Config, file string, env config.Env) error {
	_, found := platformsOf(cfg)
	return locateProblems(found, file, env)
}

// platformsOf makes the adapters of a configuration, which connect to nothing, or says why
// they can't be made.
func platformsOf(cfg *config.Config) (made []adapters.Adapter, found []config.Problem) {
	host := platform.Host{Knows: func(adapters.Target) bool { return true }} // which chats have let the bot in, only the store can say
	for _, p := range all.Enabled(cfg) {
		one, err := p.New(context.Background(), cfg.Adapters.Section(p.Name), host) // it reads and calls nothing
		if err == nil {
			made = append(made, one.Outbound())
			continue
		}
		if unread, ok := errors.AsType[*platform.TokenFileError](err); ok {
			found = append(found, config.Problem{Path: "adapters." + p.Name + ".token_file", Message: unread.Why.Error()})
			continue
		}
		for _, one := range joined(err) {
			found = append(found, config.Problem{Path: "adapters." + p.Name, Message: one.Error()})
		}
	}
	return made, found
}

// joined are the errors that were joined to one, which may be wrapped in one more; else
// what's wrapped, or the error itself.
func joined(err error) []error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

// checkMirrors says which mirrors go to a platform that's off, or to what's no chat there.
func checkMirrors(cfg *config.Config, file string, env config.Env) error {
	made, _ := platformsOf(cfg) // what's wrong with them is said before
	settings, err := hubSettings(cfg)
	if err != nil {
		return err
	}
	opt := adapters.HubOptions{Settings: settings}
	for _, a := range made {
		opt.Outlets = append(opt.Outlets, adapters.Outlet{Adapter: a, Budget: qos.NewLocalBudget(nil)})
	}
	_, err = adapters.NewHub(opt)
	var errs []error
	for i, r := range settings.Rules {
		for _, a := range made {
			if a.Name() != r.To.Adapter {
				continue
			}
			if bad := a.Check(r.To); bad != nil {
				errs = append(errs, &adapters.RuleError{Index: i, Err: bad})
			}
		}
	}
	if err = errors.Join(append(errs, err)...); err == nil {
		return nil
	}
	if found, all := problems(err, ""); all {
		return locateProblems(found, file, env)
	}
	return err
}

// ExamineChats looks at the bots of the platforms that are on, and at their chats; running says that a daemon does, too.
func ExamineChats(ctx context.Context, cfg *config.Config, running bool) []findings.Finding {
	var found []findings.Finding
	for _, p := range all.Enabled(cfg) {
		if p.Examine != nil {
			found = append(found, p.Examine(ctx, cfg.Adapters.Section(p.Name), running)...)
		}
	}
	return found
}

// ExamineStore looks at the database in a state folder, whether a daemon uses it or not; nothing if
// there's none yet, or if statedir.Check refuses the folder: then it may be anything.
func ExamineStore(ctx context.Context, stateDir string) []findings.Finding {
	return append(examineDatabase(ctx, stateDir), examineAsides(stateDir)...)
}

// examineAsides says what lies beside the database that was put aside.
func examineAsides(stateDir string) (all []findings.Finding) {
	const name = api.PartAside
	asides, err := store.Asides(statedir.DatabasePath(stateDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		all = append(all, findings.Finding{Check: name, Severity: findings.Doubtful, Detail: err.Error(), Fix: "See to the state folder."})
	}
	for _, a := range asides {
		all = append(all, findings.Finding{Check: name, Severity: findings.Doubtful, Detail: a.String(), Fix: "rm " + a.Path + "*"})
	}
	return all
}

func examineDatabase(ctx context.Context, stateDir string) []findings.Finding {
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
		return []findings.Finding{{Check: name, Detail: path + " is sound"}}
	case errors.Is(err, store.ErrTooNew):
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "Install the newer panebridge again, restore a backup of before it, or give another --state-dir."}}
	case errors.Is(err, store.ErrStrange):
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "`panebridge run` refuses it until that's so."}}
	case errors.Is(err, store.ErrDamaged):
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "Restart panebridge: it saves what can be read, and keeps the damaged database beside the new one."}}
	}
	return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "See to its file and its disk; see docs/troubleshooting.md."}}
}

// ExamineExposure looks for secrets that others can read: in a configuration that others may open, and
// on the way to a platform.
func ExamineExposure(cfg *config.Config, path string) (all []findings.Finding) {
	info, err := os.Stat(path)
	if err == nil && isOthersToWrite(info) {
		all = append(all, findings.Finding{Check: "configuration", Severity: findings.Doubtful, Detail: "a group of users can write to " + path + ", which names programs that are run", Fix: "chmod g-w " + path})
	}
	if err == nil && info.Mode().Perm()&0o044 != 0 {
		text, err := regular.Read(path, findings.MaxSecretFile)
		for _, one := range inlineSecrets(cfg) {
			if err == nil && one.text != "" && bytes.Contains(text, []byte(one.text)) {
				all = append(all, findings.Finding{Check: "configuration", Severity: findings.Doubtful, Detail: "other users can read " + path + ", in which " + one.name + " stands", Fix: "chmod 600 " + path + ", or write it as ${VARIABLE} or into a file of its own."})
			}
		}
	}
	for _, key := range cfg.Keys() {
		text, _ := key.Value.(string)
		if u, err := url.Parse(text); err == nil && key.Format == "http_url" && u.Scheme == "http" && !config.IsLoopback(u.Hostname()) {
			all = append(all, findings.Finding{Check: "configuration", Severity: findings.Doubtful, Detail: key.Path + " is " + text + ": the bot's token goes there in plain text, with all that's said", Fix: "Use https, or a server on this machine."})
		}
	}
	return all
}

// inlineSecrets are those that a configuration may have in its own text, by where they stand in it.
func inlineSecrets(cfg *config.Config) []secret {
	var all []secret
	for _, key := range cfg.Keys() {
		text, _ := key.Value.(string)
		value, is := key.Value.(config.Secret)
		name := key.Path[strings.LastIndexByte(key.Path, '.')+1:]
		switch {
		case key.Format == "proxy_url":
			all = append(all, secret{"a password in " + key.Path, passwordIn(text)})
		case is && !strings.HasPrefix(key.Path, agentsPath):
			all = append(all, secret{key.Path, value.Reveal()})
		case is && secretName.MatchString(name):
			all = append(all, kept([]secret{{key.Path, value.Reveal()}})...)
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
	for _, p := range d.config.Adapters.Platforms {
		for _, key := range d.config.Keys() {
			if file, _ := key.Value.(string); key.Path == "adapters."+p.Name+".token_file" {
				all = append(all, findings.ExamineTokenFile(p.Name, file)...)
			}
		}
	}
	for _, f := range all {
		if f.Severity == findings.Doubtful {
			d.opt.Log.Warn("the configuration isn't safe", "component", "config", "found", f.Detail, "fix", f.Fix)
		}
	}
}
