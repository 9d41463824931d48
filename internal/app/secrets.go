package app

import (
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// secret is a text that the configuration has, or a file that it names.
type secret struct{ name, text string }

// ownSecrets are panebridge's own: nothing that runs in a pane may have one. They're all that the sections of a
// configuration have of secrets, but for what it gives to agents.
func ownSecrets(cfg *config.Config) []secret {
	var out []secret
	add := func(name, text string) {
		if text != "" {
			out = append(out, secret{name, text})
		}
	}
	for _, key := range cfg.Keys() {
		if strings.HasPrefix(key.Path, agentsPath) {
			continue
		}
		if text, file := key.Value.(string); file && key.Format == "proxy_url" {
			if u, err := url.Parse(text); err == nil {
				password, _ := u.User.Password()
				add("proxy password", password)
			}
			add("proxy password", passwordIn(text)) // as it's escaped there
			continue
		}
		text := secretAt(key) // what can't be read is said elsewhere
		add(secretTitle(key.Path), text)
		if _, behind, _ := strings.Cut(text, key.After); key.After != "" {
			add(secretTitle(key.Path), behind)
		}
	}
	return out
}

const agentsPath = "agents."

// secretAt is the secret that a key has, or the file that it names; "": there's none, or the file can't be read.
func secretAt(key config.Key) string {
	switch value := key.Value.(type) {
	case config.Secret:
		return strings.TrimSpace(value.Reveal())
	case string:
		if key.Format != "secret_file" || value == "" {
			return ""
		}
		text, _ := regular.Read(value, findings.MaxSecretFile)
		return strings.TrimSpace(string(text))
	}
	return ""
}

// secretTitle is what people read in a secret's place: its platform's title and "token".
func secretTitle(path string) string {
	if strings.HasPrefix(path, "redis.") {
		return "Redis password"
	}
	for _, p := range all.Platforms() {
		if key, ok := strings.CutPrefix(path, "adapters."+p.Name+"."); ok {
			return p.Title + " " + strings.ReplaceAll(strings.TrimSuffix(key, "_file"), "_", " ")
		}
	}
	return path
}

// agentSecrets are those that the configuration gives to agents, each to its own.
func agentSecrets(cfg *config.Config) []secret {
	var out []secret
	for _, agent := range cfg.Agents {
		for name, value := range agent.Env {
			if secretName.MatchString(name) && value.Reveal() != "" {
				out = append(out, secret{name, value.Reveal()})
			}
		}
	}
	return out
}

// kept are those of agents' secrets that no other pane may have: not what's only called
// one, such as the path of a key or AUTH=1.
func kept(agents []secret) []secret {
	const least = 6 // bytes, as in redact.Masker
	return slices.DeleteFunc(agents, func(s secret) bool { return len(s.text) < least || strings.HasPrefix(s.text, "/") })
}

// learnSecrets has the secrets of a configuration known, and hidden in whatever leaves
// the host. Those of an earlier one stay known: they may still be in force.
func (d *daemon) learnSecrets(cfg *config.Config) {
	own := ownSecrets(cfg)
	for _, s := range slices.Concat(own, agentSecrets(cfg)) {
		d.masker.Add(s.name, s.text)
		d.logMasker.Add(s.name, s.text)
	}
	addSecrets(&d.secrets, own, kept(agentSecrets(cfg)))
	if text, err := regular.Read(cfg.Redis.TLSKeyFile, findings.MaxSecretFile); err == nil {
		d.secrets.Add("key of Redis' certificate", string(text)) // the masker knows such keys by their form
	}
}

func addSecrets(to *redact.Known, lists ...[]secret) {
	for _, s := range slices.Concat(lists...) {
		to.Add(s.name, s.text)
	}
}

// hasSecret reports whether a value has a secret in it.
func (d *daemon) hasSecret(value string) bool {
	_, found := d.secrets.Find(value)
	return found
}

// paneEnvironment is the environment (NAME=value) of the tmux servers that the daemon
// starts, and so of all panes there.
func (d *daemon) paneEnvironment() []string {
	return slices.DeleteFunc(tmux.LoginEnvironment(os.Environ(), d.opt.Config.Tmux.Environment), func(kv string) bool {
		_, value, _ := strings.Cut(kv, "=")
		return d.hasSecret(value)
	})
}

// lookUpPane is os.LookupEnv for a pane's environment.
func (d *daemon) lookUpPane(name string) (string, bool) {
	for _, kv := range d.paneEnvironment() {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// CheckSecrets says where a configuration gives a secret of panebridge's own to an agent:
// in its environment, or in a command that everybody on the machine can see. file is where
// it was read from; "": nowhere.
func CheckSecrets(cfg *config.Config, file string, env config.Env) error {
	var own redact.Known
	addSecrets(&own, ownSecrets(cfg))
	var found []config.Problem
	look := func(path, text, instead string) {
		if name, has := own.Find(text); has {
			found = append(found, config.Problem{Path: path, Message: "must not have panebridge's own " + name + " in it: " + instead})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		a, at := cfg.Agents[name], "agents."+name+"."
		for _, variable := range slices.Sorted(maps.Keys(a.Env)) {
			look(at+"env."+variable, a.Env[variable].Reveal(), "whatever runs in the agent's pane could read it; give the agent a secret of its own")
		}
		for _, list := range []struct {
			key  string
			args []string
		}{{"command", a.Command}, {"flags", a.Flags}, {"resume", a.Resume}} {
			for i, arg := range list.args {
				look(fmt.Sprintf("%s%s[%d]", at, list.key, i), arg, "everybody on this machine could read it; give the agent a secret of its own, in env")
			}
		}
	}
	return locateProblems(found, file, env)
}

// locateProblems is the error of what's wrong with a configuration; nil: nothing is.
func locateProblems(found []config.Problem, file string, env config.Env) error {
	switch {
	case len(found) == 0:
		return nil
	case file == "":
		return fmt.Errorf("%w: %s: %s", sessions.ErrInvalid, found[0].Path, found[0].Message)
	default:
		return all.Form().Locate(file, env, found)
	}
}

// ExamineEnvironment says which variables of this environment (NAME=value) a tmux server
// doesn't get though it would without the secret in them.
func ExamineEnvironment(cfg *config.Config, environ []string) []findings.Finding {
	var known redact.Known
	addSecrets(&known, ownSecrets(cfg), kept(agentSecrets(cfg)))
	var out []findings.Finding
	for _, kv := range tmux.LoginEnvironment(environ, cfg.Tmux.Environment) {
		variable, value, _ := strings.Cut(kv, "=")
		if name, has := known.Find(value); has {
			out = append(out, findings.Finding{
				Check: "environment", Severity: findings.Doubtful, Detail: variable + " has the " + name + " in it, so no tmux server that panebridge starts gets it",
				Fix: "Give " + variable + " another value where panebridge is started; a name in tmux.environment doesn't help.",
			})
		}
	}
	return out
}

// IsOwn returns what reports whether a value has a secret of panebridge's own in it.
func IsOwn(cfg *config.Config) func(value string) bool {
	var own redact.Known
	addSecrets(&own, ownSecrets(cfg))
	return func(value string) bool {
		_, found := own.Find(value)
		return found
	}
}

// hidePage keeps secret what's a part of every address that lets a browser in.
func (d *daemon) hidePage(secret string) {
	d.masker.Add("panebridge's page", secret)
	d.logMasker.Add("panebridge's page", secret)
	d.secrets.Add("page's address", secret)
}

// hidePush keeps secret by what push services know the daemon.
func (d *daemon) hidePush(key string) {
	d.masker.Add("panebridge's key for push services", key)
	d.logMasker.Add("panebridge's key for push services", key)
}

// hideCode keeps a pairing code out of whatever leaves the host by way of a session.
func (d *daemon) hideCode(code string) {
	d.masker.Add("pairing code", code)
	d.logMasker.Add("pairing code", code)
}

// newMasker makes what hides secrets in whatever leaves the host, and the daemon's own
// in its log.
func (d *daemon) newMasker() error {
	var err error
	if d.masker, err = redact.New(maskOptions(d.config.Redact)); err != nil {
		return err
	}
	if d.logMasker, err = redact.New(redact.Options{Off: true}); err != nil {
		return err
	}
	d.opt.Log = slog.New(masked.NewHandler(d.opt.Log.Handler(), d.logMasker))
	d.learnSecrets(d.config)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		proxy, _ := d.opt.Env(name)
		d.logMasker.Add("proxy password", passwordIn(proxy))
	}
	return nil
}

// passwordIn is the password in an address, which may be one that can't be read.
func passwordIn(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest, '@')
	_, password, _ := strings.Cut(rest[:max(at, 0)], ":")
	return password
}

// secretName tells variables that hold a secret from NODE_ENV=production.
var secretName = regexp.MustCompile(`(?i)key|token|secret|pass|cred|auth`)

// pairingRule finds a pairing code as it's printed, whatever the daemon knows of it: one that
// has been restarted doesn't know those it made before.
func pairingRule() redact.MaskRule {
	const letter = `[2-9A-HJKMNP-TV-Z]` // those of inbound's codes
	return redact.MaskRule{Name: "pairing code", Pattern: `/pair +(` + letter + `{8})(?:[^0-9A-Za-z]|$)`}
}

func maskOptions(cfg config.Redact) redact.Options {
	o := redact.Options{Off: !cfg.Enabled, Allow: cfg.Allow}
	for _, r := range cfg.Rules {
		o.Rules = append(o.Rules, redact.MaskRule{Name: r.Name, Pattern: r.Pattern})
	}
	if cfg.Enabled {
		o.Rules = append(o.Rules, pairingRule())
	}
	return o
}
