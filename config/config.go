package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Config is the whole configuration. Its zero value is not valid; begin with
// [Form.Default].
type Config struct {
	Tmux       Tmux                `yaml:"tmux" doc:"The tmux servers whose sessions panebridge can mirror."`
	Sessions   Sessions            `yaml:"sessions" doc:"Which tmux sessions panebridge takes in, and how much of each it keeps."`
	Polling    Polling             `yaml:"polling" reload:"yes" doc:"How the panes are read."`
	Mirrors    []Mirror            `yaml:"mirrors" reload:"yes" doc:"Which sessions are mirrored to which chats, by rule; people can bind others there."`
	Adapters   Adapters            `yaml:"adapters" doc:"Where sessions are shown."`
	Agents     map[string]Agent    `yaml:"agents" keys:"name" eg:"claude" reload:"yes" doc:"Programs that can be started as a session, by name."`
	Profiles   map[string]Profile  `yaml:"profiles" keys:"profile_name" eg:"qwen: {input: {ghost: [\"#6c7086\"]}}" doc:"What the screens of agent programs look like: changes to panebridge's own profiles, and new ones, by name; docs/agents.md says how. No ${NAME} is replaced in them."`
	Access     Access              `yaml:"access" reload:"yes" doc:"Who may do what in chats; nobody else may do anything."`
	People     map[string][]string `yaml:"people" keys:"name" is:"person" eg:"me: [\"telegram:123\", \"discord:456\"]" reload:"yes" doc:"Names for people over platforms."`
	Inbound    Inbound             `yaml:"inbound" doc:"How what is written in chats gets to the sessions."`
	Voice      Voice               `yaml:"voice" doc:"How voice notes become text."`
	Wait       Wait                `yaml:"wait" reload:"yes" doc:"Waiting for a session's output."`
	Mail       Mail                `yaml:"mail" doc:"Messages between sessions."`
	Notices    Notices             `yaml:"notices" doc:"What the directors of fleets are told."`
	Prompts    Prompts             `yaml:"prompts" reload:"yes" doc:"What becomes of questions that agents ask and nobody answers."`
	Attention  Attention           `yaml:"attention" reload:"yes" doc:"How chats show which sessions need somebody."`
	Redis      Redis               `yaml:"redis" doc:"Where several processes share one bot's limits."`
	Redact     Redact              `yaml:"redact" reload:"yes" doc:"Masking of secrets in what is shown in chats."`
	Monitoring Monitoring          `yaml:"monitoring" doc:"How others see whether panebridge works."`
	Log        Log                 `yaml:"log" doc:"What the daemon says about itself, on standard error."`
}

// Env looks up an environment variable, as [os.LookupEnv] does. It is never nil.
type Env func(name string) (value string, set bool)

// Default returns the configuration that an empty file stands for.
func (f Form) Default() *Config {
	return &Config{
		Tmux:       defaultTmux(),
		Access:     defaultAccess(),
		Sessions:   defaultSessions(),
		Polling:    defaultPolling(),
		Adapters:   f.defaultAdapters(),
		Inbound:    defaultInbound(),
		Voice:      defaultVoice(),
		Prompts:    defaultPrompts(),
		Attention:  defaultAttention(),
		Wait:       defaultWait(),
		Mail:       defaultMail(),
		Notices:    defaultNotices(),
		Redis:      defaultRedis(),
		Redact:     defaultRedact(),
		Monitoring: defaultMonitoring(),
		Log:        defaultLog(),
	}
}

// Parse reads a configuration from YAML. The name stands for the file in
// problems. What is wrong with the text is an [*Errors], all of it at once.
func (f Form) Parse(name string, data []byte, env Env) (*Config, error) {
	cfg := f.Default()
	d := decoder{form: f, file: name, env: env}
	d.document(data, cfg)
	if len(d.problems) > 0 {
		return nil, newErrors(d.problems)
	}
	return cfg, nil
}

// Load reads the configuration in a file, which must exist. Secrets that a service manager has handed over
// (LoadCredential= of systemd) take the place of the files that it names.
func (f Form) Load(path string, env Env) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	cfg, err := f.Parse(path, data, env)
	if err != nil {
		return nil, err
	}
	cfg.takeCredentials(env)
	return cfg, nil
}

const (
	// maxFile is how long a configuration may be, in bytes: more than anybody writes.
	maxFile = 16 << 20
	// pipeWithin is until all of one must have come through a pipe (--config <(…)).
	pipeWithin = 10 * time.Second
)

// readFile reads a configuration. It waits for a pipe for pipeWithin at most, and for nothing
// else that isn't a regular file.
func readFile(path string) (data []byte, err error) {
	defer func() {
		if err != nil {
			data, err = nil, fmt.Errorf("read configuration: %w", err)
		}
	}()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	piped := info.Mode()&os.ModeNamedPipe != 0
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil, fmt.Errorf("%s is a folder; give the file in it, such as %s", path, filepath.Join(path, "config.yaml"))
	case piped:
		if err := f.SetReadDeadline(time.Now().Add(pipeWithin)); err != nil {
			return nil, err
		}
	case !mode.IsRegular() && !isDevNull(info):
		return nil, fmt.Errorf("%s is neither a file nor a pipe", path)
	case mode.IsRegular():
		if err := checkTrust(path, info); err != nil {
			return nil, err
		}
	}
	switch data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("not all of it came through the pipe %s within %s", path, pipeWithin)
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s has more than %d MB", path, maxFile>>20)
	case piped && len(data) == 0:
		return nil, fmt.Errorf("nothing came through the pipe %s", path)
	}
	return data, nil
}

// checkTrust refuses a file that others than this user and root have written, or can: it names programs that are
// run. A group that can is doctor's matter: on many systems each user has one of their own.
func checkTrust(path string, info os.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && s.Uid != 0 && int(s.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, and panebridge runs as %d, as which the programs would run that it names: run it as that user (in a container: --user %[2]d:%[4]d), or chown %[3]d %[1]s", path, s.Uid, os.Geteuid(), s.Gid)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("everybody can write to %s, which names programs that are run: chmod o-w %[1]s", path)
	}
	return nil
}

// isDevNull reports whether a file is the one in which nothing is.
func isDevNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// Find loads the configuration from where [Path] says it is, and says where
// that was. A missing file is an error only if somebody named it.
func (f Form) Find(flag string, env Env) (cfg *Config, path string, err error) {
	path, named, err := Path(flag, env)
	if err != nil {
		return nil, "", err
	}
	cfg, err = f.Load(path, env)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return f.Default(), path, nil
	}
	return cfg, path, err
}
