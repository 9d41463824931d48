package tmux

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// loginVariables are what a login of a user sets, on a terminal or a desktop, and what
// of the machine its programs need: ADR 15 says why each kind of them.
var loginVariables = []string{ //nolint:gochecknoglobals // a constant table
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "MAIL", "LANG", "LANGUAGE", "LOCALE_ARCHIVE", "TZ",
	"TERM", "COLORTERM", "TERMINFO", "TERMINFO_DIRS", "TMPDIR", "TMUX_TMPDIR", "ZDOTDIR",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "KRB5CCNAME",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "__CF_USER_TEXT_ENCODING",
	"WSL_DISTRO_NAME", "WSL_INTEROP", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"PANEBRIDGE_CONFIG",
}

// proxyVariables are part of a login's environment unless they have a password.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} //nolint:gochecknoglobals // a constant table

// LoginEnvironment returns what of an environment (NAME=value) a tmux server gets: what
// a login of the user has, and the variables that are named.
func LoginEnvironment(environ, named []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(named, name) || ofLogin(name, value) {
			out = append(out, kv)
		}
	}
	return out
}

func ofLogin(name, value string) bool {
	if slices.Contains(proxyVariables, strings.ToUpper(name)) {
		return !hasPassword(value)
	}
	return slices.Contains(loginVariables, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// hasPassword reports whether a proxy's address has a password, or can't be read.
func hasPassword(address string) bool {
	if !strings.Contains(address, "@") {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return true
	}
	_, has := u.User.Password()
	return has
}

// split parts an environment into the variables without secrets, and the names of
// those with one.
func (c *Client) split(environ []string) (clean, secret []string) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if c.opt.Secret != nil && c.opt.Secret(value) {
			secret = append(secret, name)
			continue
		}
		clean = append(clean, kv)
	}
	return clean, secret
}

// serverEnv is the environment of a server that this client starts.
func (c *Client) serverEnv() []string {
	environ := c.opt.Environment
	if environ == nil {
		environ = LoginEnvironment(os.Environ(), nil)
	}
	clean, secret := c.split(environ)
	if len(secret) > 0 {
		c.log.Warn("variables that have secrets aren't passed to the tmux server", "server", c.Name(), "variables", secret)
	}
	return clean
}

// clientEnv is the environment of a client process.
func (c *Client) clientEnv() []string {
	clean, _ := c.split(clientEnv(os.Environ()))
	return clean
}

// clientEnv is what a client process needs of an environment. Every variable is a
// message of its own while the client introduces itself, and a tmux before 3.4 crashes
// if a session or window comes or goes in the middle of that: so the shorter, the
// better.
func clientEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMUX_TMPDIR":
			out = append(out, kv)
		}
	}
	return out
}

// SecretVariables returns the names of the variables in the server's environment that
// have a secret (Options.Secret): somebody else has started it with them, or somebody
// has set them since.
func (c *Client) SecretVariables(ctx context.Context) ([]string, error) {
	if c.opt.Secret == nil {
		return nil, nil
	}
	reply, err := c.do(ctx, &request{line: "show-environment -g -s", blocks: 1})
	if err != nil {
		return nil, fmt.Errorf("read the tmux server's environment: %w", err)
	}
	_, names := c.split(parseEnvironment(reply[0].lines))
	return names, nil
}

// withhold returns the commands that keep variables with secrets from the panes that are
// made from then on in the session of a target, quoted as it has to be. Those of other
// sessions, which aren't ours, stay as they are.
func (c *Client) withhold(ctx context.Context, target string) ([]string, error) {
	names, err := c.SecretVariables(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	c.log.Info("variables of the tmux server that have secrets are kept from the session", "server", c.Name(), "variables", names)
	var out []string
	for _, name := range names {
		out = append(out, "set-environment -r -t "+target+" -- "+quote(name)+" ; ")
	}
	return out, nil
}

// parseEnvironment reads what show-environment -s prints: NAME="value"; export NAME;
// with the characters that a shell expands escaped. A value may have several lines.
func parseEnvironment(lines []string) []string {
	var out []string
	text := strings.Join(lines, "\n")
	for text != "" {
		name, rest, found := strings.Cut(text, "=\"")
		if !found {
			break
		}
		if i := strings.LastIndexByte(name, '\n'); i >= 0 { // lines before are of variables that are unset
			name = name[i+1:]
		}
		value, behind := unescape(rest)
		out = append(out, name+"="+value)
		_, text, _ = strings.Cut(behind, "\n")
	}
	return out
}

// unescape reads a value up to the quote that ends it, and returns what's behind that.
func unescape(text string) (value, behind string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:]
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
