package tmux

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/sessions"
)

// folderVariable tells startScript the folder. tmux itself isn't told: its -c is a format,
// whose escapes differ between versions, and without a word it starts a program elsewhere
// if it can't enter the folder. tmux keeps a pane's command and not its environment, so
// that a program that's started anew can be given another folder.
const folderVariable = "PANEBRIDGE_FOLDER"

// startScript runs its arguments as a program, in the folder that it's told or not at all,
// and ends with that program's status, but not before tmux has read all its output. The
// program gets neither the script's variables nor the shell's own commands in its stead.
//
// tmux 3.3a drops what it hasn't read when a pane's program ends: `seq 1 1000` lost its end
// in one of six runs, and even three lines were lost in one of thirty. So the terminal is
// asked for its status (DSR), which tmux answers in order, behind all that was printed;
// after two seconds without an answer the script ends all the same.
//
// tmux 3.3a also loses the exit status, in one of four runs, when it sees the
// terminal closed before it hears of the program's end. Therefore a sleep keeps
// the terminal open for a moment longer.
//
// The traps keep the shell alive when the program is interrupted from the
// keyboard; traps with a command are reset in the program, so it gets the
// signals as ever.
const startScript = `trap : INT QUIT TSTP
if [ -z "$` + folderVariable + `" ] || cd -P -- "$` + folderVariable + `" 2>/dev/null; then
PWD=${` + folderVariable + `:-$PWD}; unset ` + folderVariable + ` OLDPWD
(exec "$@"); s=$?
else echo "` + notEntered + `"; s=125; fi
trap '' INT QUIT TSTP
stty -echo -icanon min 0 time 20 2>/dev/null && printf '\033[5n' && head -c 4 >/dev/null
trap '' HUP; sleep 0.5 & exit $s`

// What a pane shows whose folder can't be entered, and how it ends.
const (
	notEntered       = "panebridge can't enter the session's folder"
	notEnteredStatus = 125
)

// withStartScript wraps a program's arguments in startScript.
func withStartScript(command []string) []string {
	return append([]string{"sh", "-c", startScript, "sh"}, command...)
}

// checkStart refuses what a program can't be started with as it is.
func checkStart(req sessions.PaneRequest) error {
	var errs []error
	if req.Cwd != "" && !filepath.IsAbs(req.Cwd) {
		errs = append(errs, fmt.Errorf("%w folder %q: give an absolute path", sessions.ErrInvalid, req.Cwd))
	}
	errs = append(errs, checkText("folder", req.Cwd))
	for i, arg := range req.Command {
		errs = append(errs, checkText("argument "+strconv.Itoa(i), arg))
	}
	if len(req.Command) > 0 && (req.Command[0] == "" || req.Command[0][0] == '-') { // bash's exec would take it for an option
		errs = append(errs, fmt.Errorf("%w program %.60q: give its name or path, which doesn't begin with -", sessions.ErrInvalid, req.Command[0]))
	}
	for _, kv := range req.Env {
		errs = append(errs, checkVariable(kv))
	}
	return errors.Join(errs...)
}

// takenNames are variables that tmux, or a shell that begins, sets itself whatever it's
// given: measured with dash and with bash as sh, which takes all of BASH_… as well.
var takenNames = []string{ //nolint:gochecknoglobals // a constant table
	"PWD", "SHELL", "TMUX_PANE", "OLDPWD", folderVariable,
	"IFS", "OPTIND", "PPID", // and these are both shells'
	"BASH", "BASHOPTS", "BASHPID", "COMP_WORDBREAKS", "EPOCHREALTIME", "EPOCHSECONDS", "HISTCMD", "LINENO", "OPTERR",
	"PS1", "PS2", "PS4", "RANDOM", "SHELLOPTS", "SHLVL", "SRANDOM", "_",
}

func isTakenName(name string) bool {
	return slices.Contains(takenNames, name) || strings.HasPrefix(name, "BASH_") && name != "BASH_ENV"
}

func checkVariable(kv string) error {
	name, value, ok := strings.Cut(kv, "=")
	switch {
	case !ok || !envNames.MatchString(name):
		return fmt.Errorf("%w environment variable %.60q: write NAME=value, with letters, digits and _ in the name, which doesn't begin with a digit", sessions.ErrInvalid, name)
	case isTakenName(name):
		return fmt.Errorf("%w environment variable %s: tmux and the shell set it themselves; begin the command with `env %s=…` instead", sessions.ErrInvalid, name, name)
	}
	return checkText("environment variable "+name, value)
}

// startOptions are those of new-window and respawn-pane. A pane that's made begins in /,
// which there is, and goes from there to its folder.
func startOptions(req sessions.PaneRequest) string {
	var b strings.Builder
	if len(req.Command) > 0 {
		b.WriteString(" -c /")
	}
	for _, kv := range req.Env {
		b.WriteString(" -e " + quote(kv))
	}
	if req.Cwd != "" {
		b.WriteString(" -e " + quote(folderVariable+"="+req.Cwd))
	}
	if len(req.Command) > 0 {
		b.WriteString(" --" + quoteAll(withStartScript(req.Command)))
	}
	return b.String()
}

// How often it's looked whether a pane is in its folder. A shell takes about 2 ms to go there.
const (
	enteredFirst = time.Millisecond
	enteredMost  = 20 * time.Millisecond
)

// awaitEntered waits until a pane that has just been started is in its folder, and fails
// if it can't enter it. Where processes can't be looked at it doesn't wait: such a pane
// shows notEntered and ends.
func (l *liveConn) awaitEntered(ctx context.Context, pane string, pid int, folder string) error {
	if folder == "" || !canLook(l.identity.PID) {
		return nil
	}
	for pause := enteredFirst; ; pause = min(2*pause, enteredMost) {
		if host.IsIn(pid, folder) {
			return nil
		}
		s, err := l.snapshot(ctx, pane, sessions.RowWindow{Start: -1}) // the last row scrolls when the pane is dead
		switch {
		case err != nil:
			return fmt.Errorf("look whether it's in its folder: %w", err)
		case folderRefused(s):
			return notEnteredError(folder)
		case s.Dead && (s.DeadStatus >= 0 || s.DeadSignal != ""): // and so it was in its folder
			return nil
		}
		if !sleepFor(ctx, pause) {
			return fmt.Errorf("wait until it's in its folder: %w: %w", sessions.ErrUnavailable, ctx.Err())
		}
	}
}

// folderRefused reports whether startScript hasn't entered the folder. What's above the screen
// may be an earlier program's, until this one has ended.
func folderRefused(s sessions.Snapshot) bool {
	rows := s.Rows
	if !s.Dead {
		rows = rows[max(0, len(rows)-s.Height):]
	} else if s.DeadStatus != notEnteredStatus {
		return false
	}
	return strings.Contains(strings.Join(rows, ""), notEntered)
}

// notEnteredError says that a folder can't be entered, and why if it's seen from here too.
func notEnteredError(folder string) error {
	err := sessions.CheckFolder(folder)
	if err == nil {
		err = fmt.Errorf("%w folder %q: the tmux server's user can't enter it", sessions.ErrInvalid, folder)
	}
	return err
}

// canLook reports whether this process sees those of the tmux server.
func canLook(server int) bool {
	name, err := host.ReadName(server)
	return err == nil && strings.HasPrefix(name, "tmux") && host.Knows(host.ProcessFolders)
}

// Respawn ends what runs in a pane and starts a program there. The pane keeps its id,
// its options and its history. It returns when the program is in its folder; if it can't
// be entered, that's an error with sessions.ErrInvalid, and the pane is dead.
func (c *Client) Respawn(ctx context.Context, pane string, req sessions.PaneRequest) error {
	if err := c.respawn(ctx, pane, req); err != nil {
		return fmt.Errorf("start a program in pane %.40q anew: %w", pane, err)
	}
	return nil
}

func (c *Client) respawn(ctx context.Context, pane string, req sessions.PaneRequest) error {
	if err := checkPane(pane); err != nil {
		return err
	}
	if err := checkStart(req); err != nil {
		return err
	}
	l, err := c.current()
	if err != nil {
		return err
	}
	withheld, err := c.withholdSecrets(ctx, pane)
	if err != nil {
		return err
	}
	// A command that was kept by tmux since before there was folderVariable knows none.
	reply, err := l.runCommand(ctx, &commandLine{blocks: 2 + len(withheld), line: strings.Join(withheld, "") + "respawn-pane -k -t " + pane + startOptions(req) +
		" ; display-message -p -t " + pane + " '#{pane_pid} #{m:*" + folderVariable + "*,#{pane_start_command}}'"})
	if err != nil {
		return explainScarce(err)
	}
	pid, goes, _ := strings.Cut(strings.Join(reply[1+len(withheld)].lines, ""), " ")
	n, err := strconv.Atoi(pid)
	if err != nil {
		return fmt.Errorf("%w: process %.80q", errProtocol, pid)
	}
	if goes != "1" {
		return nil
	}
	return l.awaitEntered(ctx, pane, n, req.Cwd)
}

// explainScarce says what of the machine is used up where tmux refuses a pane for that: it
// tells of a terminal that can't be had as of a disk that's full ("No space left on device").
func explainScarce(err error) error {
	refused, ok := errors.AsType[*CommandError](err)
	if !ok {
		return err
	}
	why := ""
	switch m := refused.Message; {
	case strings.Contains(m, "fork failed: No space left on device"):
		why = "no pseudo-terminal is left: close panes that nobody needs, or have more (sysctl kernel.pty.max; of a container, the option max of its devpts)"
	case strings.Contains(m, "Resource temporarily unavailable"):
		why = "this user may begin no more processes: end some, or raise the limit (ulimit -u; TasksMax of a systemd unit)"
	case strings.Contains(m, "Too many open files"):
		why = "the tmux server may open no more files: close panes that nobody needs, or start it with a higher limit (ulimit -n)"
	case strings.Contains(m, "Cannot allocate memory"):
		why = "this machine has no memory left for another process: end some"
	default:
		return err
	}
	return fmt.Errorf("%w: %s (%w)", sessions.ErrUnavailable, why, err)
}

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

// splitSecrets parts an environment into the variables without secrets, and the names of
// those with one.
func (c *Client) splitSecrets(environ []string) (clean, secret []string) {
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
	clean, secret := c.splitSecrets(environ)
	if len(secret) > 0 {
		c.log.Warn("variables that have secrets aren't passed to the tmux server", "server", c.Name(), "variables", secret)
	}
	return clean
}

// clientEnv is the environment of a client process.
func (c *Client) clientEnv() []string {
	clean, _ := c.splitSecrets(clientEnv(os.Environ()))
	return clean
}

// clientEnv is what a client process needs of an environment. Every variable is a
// message of its own while the client introduces itself, and a tmux before 3.7 crashes
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
	reply, err := c.runCommand(ctx, &commandLine{line: "show-environment -g -s", blocks: 1})
	if err != nil {
		return nil, fmt.Errorf("read the tmux server's environment: %w", err)
	}
	_, names := c.splitSecrets(parseEnvironment(reply[0].lines))
	return names, nil
}

// withholdSecrets returns the commands that keep variables with secrets from the panes that are
// made from then on in the session of a target, quoted as it has to be. Those of other
// sessions, which aren't ours, stay as they are.
func (c *Client) withholdSecrets(ctx context.Context, target string) ([]string, error) {
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
