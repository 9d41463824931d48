package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// initSteps are what `init` does once there's a configuration. Each can be left out, and done later by a command of its
// own. A person is asked about those that no flag has answered; without one, they're left out.
type initSteps struct {
	*invocation

	ask   *asker
	flags *pflag.FlagSet
	of    initStepFlags

	// next says, as the end of a sentence, how a session that's mirrored is seen; help where to find out more.
	next, help string
}

// ofChat has the steps speak of a chat. mirrors says that sessions come to it by themselves.
func (s initSteps) ofChat(mirrors bool) initSteps {
	s.next, s.help = "then write /bind SESSION in the chat", "/help, written to the bot, says what it can do."
	if mirrors {
		s.next = "its topic or thread appears in the chat"
	}
	return s
}

// ofPage has the steps speak of the page.
func (s initSteps) ofPage() initSteps {
	s.next, s.help = "it's on the page", "`panebridge page` prints an address that lets a browser in."
	return s
}

// initStepFlags answer the questions of the steps beforehand.
type initStepFlags struct {
	test, service bool
	hooks, adopt  []string
}

// everything stands for all there is, in a flag that takes names.
const everything = "all"

func (f *initStepFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.hooks, "hooks", nil, "install the hooks of these `AGENTS`: names with commas between, or all that are found")
	flags.BoolVar(&f.service, "service", false, "have systemd or launchd run the daemon, now and at each start of the machine")
	flags.StringSliceVar(&f.adopt, "adopt", nil, "mirror these tmux `SESSIONS`: names with commas between, or all; the daemon has to run")
}

// isGiven reports whether a flag has answered a question.
func (s initSteps) isGiven(flag string) bool { return s.flags.Changed(flag) }

// askOrFlag asks whether to do something, unless a flag says so.
func (s initSteps) askOrFlag(ctx context.Context, flag string, given bool, question string) (bool, error) {
	if s.isGiven(flag) || !s.ask.HasPerson() {
		return given, nil
	}
	return s.ask.AskYesNo(ctx, question, true, "give --"+flag)
}

// greetChat sends a message to the chat that was set up. That it can't is said, and is no error: the configuration is there.
func (s initSteps) greetChat(ctx context.Context, greet func(ctx context.Context, text string) error) error {
	if greet == nil {
		return nil
	}
	yes, err := s.askOrFlag(ctx, "test-message", s.of.test, "\nSend a message to the chat, to see that it comes?")
	if err != nil || !yes {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "this machine"
	}
	if err := greet(ctx, "panebridge is set up on "+name+". Once it runs, /help says what you can do here."); err != nil {
		return s.sayf("It wasn't sent: %v\n", err)
	}
	return s.sayf("It's sent: look whether it's there.\n")
}

// run does the other steps, and says what's left to do.
func (s initSteps) run(ctx context.Context) error {
	if err := s.installHooks(ctx); err != nil {
		return err
	}
	runs, err := s.startDaemon(ctx)
	if err != nil {
		return err
	}
	if runs {
		return s.adoptSessions(ctx)
	}
	run := "panebridge run"
	if s.configFlag != "" {
		run += " --config " + s.configFlag
	}
	if s.stateDirFlag != "" {
		run += " --state-dir " + s.stateDirFlag
	}
	if len(s.of.adopt) > 0 {
		s.notef("panebridge: the daemon doesn't run yet, so no session was adopted")
	}
	return s.sayf("\nNext:\n  %s\n  panebridge sessions adopt NAME    (a tmux session; %s)\n\n%s\n", run, s.next, s.help)
}

// installHooks has the agents that are found tell what they do.
func (s initSteps) installHooks(ctx context.Context) error {
	names, err := s.agentsWithoutHooks()
	if err != nil {
		return err
	}
	chosen := s.of.hooks
	if len(chosen) == 1 && chosen[0] == everything {
		chosen = names
	}
	if !s.isGiven("hooks") && s.ask.HasPerson() && len(names) > 0 {
		yes, err := s.ask.AskYesNo(
			ctx, fmt.Sprintf("\nBy hooks in their settings %s can tell at once and for sure what they're doing. Install them? Of each file a copy stays.", strings.Join(names, " and ")), true, "give --hooks",
		)
		if err != nil {
			return err
		}
		if yes {
			chosen = names
		}
	}
	if len(chosen) == 0 {
		if len(names) > 0 {
			return s.sayf("\nHooks, later: panebridge hooks install %s\n", strings.Join(names, " "))
		}
		return nil
	}
	err = s.changeHooks(ctx, changeFlags{hooksFlags: hooksFlags{scope: scopeUser}, yes: true}, chosen, hooksInstallation())
	if ctx.Err() == nil && err != nil {
		s.notef("panebridge: not all hooks are installed: %v\nLater: panebridge hooks install AGENT", err)
		return nil
	}
	return err
}

// agentsWithoutHooks are those in the PATH that could have hooks, and haven't.
func (s initSteps) agentsWithoutHooks() (names []string, err error) {
	profiles, err := agent.LoadSet()
	if err != nil {
		return nil, err
	}
	path, _ := s.env("PATH")
	found := slices.Sorted(maps.Keys(app.FindAgents(path, profiles).Found))
	found = slices.DeleteFunc(found, func(name string) bool { return !slices.Contains(agent.HookAgents(), name) })
	list, err := s.hooksOf(hooksFlags{scope: scopeUser}, found)
	if err != nil {
		return nil, err
	}
	for _, to := range list {
		if status, err := to.Status(); err == nil && (status == agent.HooksNotInstalled || status == agent.HooksOutdated) {
			names = append(names, to.Agent)
		}
	}
	return names, nil
}

// startDaemon has the service manager run the daemon, if that's wanted. It reports whether the daemon runs with the new
// configuration.
func (s initSteps) startDaemon(ctx context.Context) (runs bool, err error) {
	c, err := s.dial()
	if err != nil {
		return false, err
	}
	defer c.Close()
	if s.isServiceOf(ctx) {
		if err := s.sayf("\nIt runs as a service already, which is started anew with the configuration.\n"); err != nil {
			return false, err
		}
		m, _, err := s.manager(serviceFlags{}, true)
		if err == nil {
			err = m.Restart(ctx)
		}
		return err == nil, err
	}
	if _, err := c.Health(ctx); err == nil {
		return false, s.sayf("\nA daemon runs already, begun by hand: end it, and start it anew with the configuration.\n")
	}
	if why := s.whyNoService(ctx); why != "" {
		if s.of.service {
			s.notef("panebridge: no service was installed: %s", why)
		}
		return false, nil
	}
	yes, err := s.askOrFlag(ctx, "service", s.of.service, "\nHave panebridge run as a service of yours, now and whenever this machine starts?")
	if err != nil {
		return false, err
	}
	if !yes {
		return false, s.sayf("\nAs a service, later: panebridge service install\n")
	}
	if err := s.installService(ctx, serviceInstallFlags{}); err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		s.notef("panebridge: the service isn't installed: %v", err)
		return false, nil
	}
	return true, nil
}

// isServiceOf reports whether the daemon runs as a service of this user's.
func (s initSteps) isServiceOf(ctx context.Context) bool {
	m, spec, err := s.manager(serviceFlags{}, false)
	if err != nil || !s.isHome(spec.Home) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, serviceLookTime)
	defer cancel()
	_, runs, err := m.Status(ctx)
	return err == nil && runs
}

// isHome reports whether the user's home folder is the one by which this command was given its files.
func (s initSteps) isHome(folder string) bool {
	home, _ := s.env("HOME")
	return home == folder
}

// serviceLookTime is how long a service manager may take to say how it is.
const serviceLookTime = 5 * time.Second

// whyNoService says why there's no service manager that would run the daemon; "": there's one.
func (s initSteps) whyNoService(ctx context.Context) string {
	m, spec, err := s.manager(serviceFlags{}, true)
	if err != nil {
		return err.Error()
	}
	if !s.isHome(spec.Home) {
		return "HOME isn't your home folder, " + spec.Home + ", where a service looks"
	}
	ctx, cancel := context.WithTimeout(ctx, serviceLookTime)
	defer cancel()
	if err := m.CheckManager(ctx); err != nil {
		return err.Error()
	}
	return ""
}

// adoptSessions has the daemon mirror tmux sessions that are there.
func (s initSteps) adoptSessions(ctx context.Context) error {
	names := s.tmuxSessions(ctx)
	chosen, err := s.chooseSessions(ctx, names)
	if err != nil {
		return err
	}
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	for _, name := range chosen {
		list, err := c.Adopt(ctx, api.Create{Tmux: name})
		if err == nil {
			err = s.printSessions(list...)
		}
		if err != nil {
			s.notef("panebridge: %s isn't mirrored: %v", name, err)
		}
	}
	if len(chosen) > 0 {
		return s.sayf("\nOthers, later: panebridge sessions adopt NAME    (%s)\n%s\n", s.next, s.help)
	}
	return s.sayf("\nNext:\n  panebridge sessions adopt NAME    (a tmux session; %s)\n\n%s\n", s.next, s.help)
}

// chooseSessions returns which of these sessions to adopt.
func (s initSteps) chooseSessions(ctx context.Context, names []string) (chosen []string, err error) {
	chosen = s.of.adopt
	if !s.isGiven("adopt") && s.ask.HasPerson() && len(names) > 0 {
		text, err := s.ask.Ask(ctx, fmt.Sprintf("\nThere are tmux sessions: %s. Which shall be mirrored? Their names, all, or none [none]:", strings.Join(names, ", ")), "give --adopt")
		if err != nil {
			return nil, err
		}
		if text != "none" {
			chosen = namesIn(text, names)
		}
	}
	if len(chosen) == 1 && chosen[0] == everything {
		return names, nil
	}
	return chosen, nil
}

// namesIn are the names in what a person wrote: with commas between, or blanks where that's no name.
func namesIn(text string, known []string) (names []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); slices.Contains(known, part) {
			names = append(names, part)
		} else {
			names = append(names, strings.Fields(part)...)
		}
	}
	return names
}

// tmuxSessions are the names of the sessions on the configured tmux servers that aren't mirrored yet. What a server
// doesn't tell soon isn't offered.
func (s initSteps) tmuxSessions(ctx context.Context) (names []string) {
	cfg, _, err := s.loadConfig()
	if err != nil {
		return nil // the daemon says what's wrong with it
	}
	for _, server := range cfg.Tmux.Servers {
		c := tmux.New(tmux.Options{SocketName: server.SocketName, SocketPath: server.SocketPath, Program: tmuxProgram})
		panes, err := listPanes(ctx, c)
		if err != nil {
			s.notef("panebridge: the sessions of the tmux server %s can't be listed: %v", c.Name(), err)
		}
		for _, pane := range panes {
			if pane.Mark == "" && pane.Session != "" && !slices.Contains(names, pane.Session) {
				names = append(names, pane.Session)
			}
		}
	}
	slices.Sort(names)
	return names
}

// listPanes connects to a tmux server and lists its panes; none if it doesn't run.
func listPanes(ctx context.Context, c *tmux.Client) (panes []sessions.PaneInfo, err error) {
	status := whileConnected(ctx, c, func(ctx context.Context) { panes, err = c.Panes(ctx) })
	if !status.Connected && !status.Absent {
		err = status.Err
	}
	return panes, err
}
