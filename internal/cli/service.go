package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/service"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// serviceManager is what the commands need of systemd or launchd.
type serviceManager interface {
	Files(s service.Spec) ([]service.UnitFile, error)
	Install(ctx context.Context, s service.Spec, replace bool) error
	Uninstall(ctx context.Context) error
	Restart(ctx context.Context) error
	Status(ctx context.Context) (lines []string, runs bool, err error)
	// CheckManager returns an error if the manager itself doesn't answer.
	CheckManager(ctx context.Context) error
}

// serviceFlags say whose service is meant.
type serviceFlags struct{ system string }

func newService(p *invocation) *cobra.Command {
	return newGroup(
		"service", "Have systemd or launchd run the daemon",
		newServiceInstall(p), newServiceUninstall(p), newServiceStatus(p), newServiceLogs(p), newServiceRestart(p), newServiceStarter(p),
	)
}

func (f *serviceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.system, "system", "", "the machine's service, which runs as `USER`; needs root (else your own)")
}

// serviceInstallFlags are those of `service install`.
type serviceInstallFlags struct {
	serviceFlags

	path                      string
	print, replace, unchecked bool
}

func newServiceInstall(p *invocation) *cobra.Command {
	var f serviceInstallFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the daemon as a service, and start it",
		Long: `Install the daemon as a service of yours, or with --system of the machine, and start it. Each
thing that's done is said. Done a second time, it changes what has to be changed; a file that
was edited by hand is refused. If something fails, what was done until then is undone.

Under systemd that's two units: the daemon with its hardening, and what starts tmux servers for
it, without. Agents go on whatever becomes of the daemon. The configuration is checked first, with
the few variables that a service has.`,
		Example: "  panebridge service install --print\n  panebridge service install\n  sudo panebridge service install --system alex",
		Args:    takes(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.installService(cmd.Context(), f) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.print, "print", false, "print what would be written, and do nothing")
	flags.BoolVar(&f.replace, "replace", false, "write over files that were edited by hand, which are kept beside")
	flags.BoolVar(&f.unchecked, "unchecked", false, "don't check the configuration, which may need variables of an EnvironmentFile= of yours")
	flags.StringVar(&f.path, "path", "", "`PATH` in which tmux and the agents are found (else yours now; with --system usual folders)")
	return cmd
}

func newServiceUninstall(p *invocation) *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the daemon, and remove its service",
		Long:  "Stop the daemon, and remove its service. Agents go on, and the state folder stays.",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			m, _, err := p.manager(f, true)
			if err == nil {
				err = m.Uninstall(ctx)
			}
			if err != nil {
				return err
			}
			dir, err := p.serviceStateDir(f)
			if err != nil {
				return err
			}
			return p.printf("agents go on in their tmux servers; what panebridge knows stays in %s\n", dir)
		},
	}
	f.add(cmd)
	return cmd
}

func newServiceStatus(p *invocation) *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the service is",
		Long:  "Show how the service is, as its manager knows it. `panebridge status` shows how the daemon is.\n\nExit codes: 0 it runs, 1 it isn't installed, 3 it doesn't run.",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, _, err := p.manager(f, false)
			if err != nil {
				return err
			}
			lines, runs, err := m.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := p.printf("%s\n", strings.Join(lines, "\n")); err != nil || runs {
				return err
			}
			return silently(exitNotRunning)
		},
	}
	f.add(cmd)
	return cmd
}

func newServiceLogs(p *invocation) *cobra.Command {
	var f serviceFlags
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the service's log",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, s, err := p.manager(f, false)
			if err != nil {
				return err
			}
			var args []string
			switch m := m.(type) {
			case service.Systemd:
				args = m.LogCommand(strconv.Itoa(lines), follow)
			case service.Launchd:
				args = m.LogCommand(s, strconv.Itoa(lines), follow)
			}
			show := exec.CommandContext(cmd.Context(), args[0], args[1:]...)
			show.Stdout, show.Stderr = p.stdio.Out, p.stdio.Err
			if err := show.Run(); err != nil {
				return fmt.Errorf("show the log by %s: %w", args[0], err)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with lines as they come")
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many of the last lines")
	return cmd
}

func newServiceRestart(p *invocation) *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "Start the daemon anew, after an upgrade say",
		Long:  "Start the daemon anew, after an upgrade say, and wait until it's ready. Agents go on, and texts that wait are typed by the new one.",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, _, err := p.manager(f, true)
			if err != nil {
				return err
			}
			return m.Restart(cmd.Context())
		},
	}
	f.add(cmd)
	return cmd
}

// newServiceStarter makes the command that panebridge-tmux.service runs.
func newServiceStarter(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:    "starter SOCKET",
		Short:  "Start tmux servers for a daemon that runs as a service",
		Hidden: true,
		Args:   takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			log := newLogger(p.stdio.Err, "auto", slog.LevelInfo, p.colour())
			l, err := tmux.ListenStarter(ctx, args[0])
			if err != nil {
				return err
			}
			sd := systemd{log}
			sd.ready()
			defer sd.stopping()
			return tmux.Starter{Program: tmuxProgram, Log: log}.Serve(ctx, l)
		},
	}
}

// installService installs it, or prints what would be.
func (p *invocation) installService(ctx context.Context, f serviceInstallFlags) error {
	ctx, stop := untilSignal(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	m, s, err := p.manager(f.serviceFlags, !f.print)
	if err != nil {
		return err
	}
	if f.path != "" {
		s.Path = f.path
	}
	if !f.unchecked {
		if err := p.checkServiceConfig(ctx, &s); err != nil {
			return err
		}
	}
	if f.print {
		files, err := m.Files(s)
		if err != nil {
			return usageErrorf("%w", err)
		}
		for i, file := range files {
			if i > 0 {
				file.Path = "\n# " + file.Path
			} else {
				file.Path = "# " + file.Path
			}
			if err := p.printf("%s\n%s", file.Path, file.Text); err != nil {
				return err
			}
		}
		return nil
	}
	if err := m.Install(ctx, s, f.replace); err != nil {
		return err
	}
	return p.printf("state is in %s; `panebridge page` prints an address that lets a browser in\n", s.StateDir)
}

// manager returns the machine's service manager, and the settings of a service of the user that's meant. Changes says
// that it's to change something.
func (p *invocation) manager(f serviceFlags, changes bool) (serviceManager, service.Spec, error) {
	s := service.Spec{}
	var who *user.User
	var err error
	if f.system != "" {
		who, err = user.Lookup(f.system)
		if err == nil && changes && os.Geteuid() != 0 {
			err = errors.New("a service of the machine is root's to change: call it with sudo")
		}
	} else {
		who, err = user.Current()
	}
	if err != nil {
		return nil, s, usageErrorf("find the service's user: %w", err)
	}
	s.Home = who.HomeDir
	if s.Program, err = ownPath(); err != nil {
		return nil, s, err
	}
	if s.StateDir, err = p.serviceStateDir(f); err != nil {
		return nil, s, err
	}
	if f.system != "" {
		s.User = who.Username
		s.Path = strings.Join([]string{filepath.Join(who.HomeDir, ".local", "bin"), filepath.Join(who.HomeDir, "bin"), "/usr/local/bin", "/usr/bin", "/bin"}, ":")
		s.Config, err = absoluteOrNone(p.configFlag)
	} else {
		s.Path, _ = p.env("PATH")
		s.TmuxDir, _ = p.env("TMUX_TMPDIR")
		path, named, found := config.Path(p.configFlag, p.env)
		base, _ := p.env("XDG_CONFIG_HOME") // which the service manager may not know
		if err = found; err == nil && (named || base != "" && exists(path)) {
			s.Config, err = absoluteOrNone(path)
		}
	}
	if err != nil {
		return nil, s, usageErrorf("%w", err)
	}
	say := func(line string) { p.say(line) }
	if runtime.GOOS == "darwin" {
		l := service.Launchd{Call: p.callManager, Folder: service.UserJobs(s.Home), Domain: "gui/" + who.Uid, Say: say}
		if f.system != "" {
			l.Folder, l.Domain = service.SystemJobs, "system"
		}
		return l, s, nil
	}
	if _, err := exec.LookPath("systemctl"); err != nil {
		return nil, s, errors.New("neither systemd nor launchd is here: have what starts services on this machine run `panebridge run`")
	}
	d := service.Systemd{Call: p.callManager, Folder: service.SystemUnits, System: f.system != "", User: who.Username, Say: say}
	if !d.System {
		base, _ := p.env("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) {
			base = filepath.Join(s.Home, ".config")
		}
		d.Folder = service.UserUnits(base)
	}
	return d, s, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func absoluteOrNone(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// serviceStateDir is the state folder of the user that's meant.
func (p *invocation) serviceStateDir(f serviceFlags) (string, error) {
	if f.system == "" || p.stateDirFlag != "" {
		return p.stateDir()
	}
	who, err := user.Lookup(f.system)
	if err != nil {
		return "", usageErrorf("find the service's user: %w", err)
	}
	dir, err := config.StateDir("", homeOnly(who.HomeDir))
	if err != nil {
		return "", usageErrorf("%w", err)
	}
	return absolute(dir)
}

// homeOnly is the environment of who has set nothing.
func homeOnly(home string) config.Env {
	return func(name string) (string, bool) {
		if name == "HOME" {
			return home, true
		}
		return "", false
	}
}

// serviceEnv is what of an environment the service has.
func (p *invocation) serviceEnv(s service.Spec) config.Env {
	return func(name string) (string, bool) {
		switch name {
		case "HOME":
			return s.Home, true
		case "PATH":
			return s.Path, true
		}
		return "", false
	}
}

// checkServiceConfig looks whether the daemon could read its configuration, and takes from it which files have secrets.
func (p *invocation) checkServiceConfig(ctx context.Context, s *service.Spec) error {
	path, named, err := config.Path(s.Config, p.serviceEnv(*s))
	if err != nil {
		return usageErrorf("%w", err)
	}
	text, err := regular.ReadAnybodys(path, 16<<20) // as long as one may be
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	var cfg *config.Config
	if err == nil {
		cfg, err = all.Form().Parse(path, text, p.serviceEnv(*s))
	}
	if err := explainConfig(path, err); err != nil {
		return errors.Join(err, errors.New("a service has none of your shell's variables: put secrets into files (token_file), or into an EnvironmentFile= of the unit, and give --unchecked"))
	}
	if s.User == "" {
		return nil
	}
	for _, key := range cfg.Keys() {
		file, _ := key.Value.(string)
		if key.Format == config.SecretFile && file != "" {
			s.Credentials = append(s.Credentials, service.Credential{Key: key.Path, File: file})
		}
	}
	return nil
}

// managerWithin is how long one call of a service manager may take: a start waits for the daemon to be ready.
const managerWithin = 11 * time.Minute

// callManager calls a service manager's program.
func (p *invocation) callManager(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, managerWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=")
	if runtimeDir := "/run/user/" + strconv.Itoa(os.Geteuid()); os.Getenv("XDG_RUNTIME_DIR") == "" && exists(runtimeDir) {
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+runtimeDir) // a login by su hasn't set it
	}
	var errs strings.Builder
	cmd.Stderr, cmd.WaitDelay = &errs, time.Second
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("`%s %s`: %s", program, strings.Join(args, " "), cmp.Or(strings.TrimSpace(errs.String()), err.Error()))
	}
	return string(out), err
}
