package service

import "strings"

// The units' names, which are also those of the folders of sockets and credentials.
const (
	DaemonUnit = "panebridge.service"
	TmuxUnit   = "panebridge-tmux.service"
)

// BadConfig is the exit code of a daemon that can't read its command line or configuration, which
// a new start doesn't mend.
const BadConfig = "2"

// starterSocket is where the starter listens: %t is the user's run-time folder, or /run.
const starterSocket = "%t/panebridge-tmux/starter"

// Units are those of systemd, the daemon's first.
func Units(s Spec) []Unit { return []Unit{daemonUnit(s), tmuxUnit(s)} }

func daemonUnit(s Spec) Unit {
	about := []Setting{
		{"Description", "panebridge mirrors coding-agent sessions"},
		{"Documentation", "https://github.com/panebridge/panebridge/blob/main/docs/service.md"},
		{"Wants", TmuxUnit},
		{"After", TmuxUnit},
	}
	if s.User != "" {
		about = append(about, Setting{"Wants", "network-online.target"}, Setting{"After", "network-online.target"})
	}
	// A daemon that fails on and on is left alone: ten starts within five minutes.
	about = append(about, Setting{"StartLimitIntervalSec", "300"}, Setting{"StartLimitBurst", "10"})
	runs := []Setting{
		{"Type", "notify"},
		{"NotifyAccess", "main"},
		{"ExecStart", commandLine(s.Program, s.arguments()...) + " --starter " + starterSocket},
		{"ExecReload", "kill -HUP $MAINPID"},
	}
	runs = append(runs, s.identity()...)
	runs = append(
		runs,
		// A Go program that crashes would exit with 2, as one with a bad configuration does: so it's ended by SIGABRT.
		Setting{"Environment", "GOTRACEBACK=crash"},
		Setting{"Restart", "on-failure"},
		Setting{"RestartSec", "2"},
		Setting{"RestartPreventExitStatus", BadConfig},
		// A database is migrated before the daemon is ready.
		Setting{"TimeoutStartSec", "600"},
		// It ends within nine seconds by itself.
		Setting{"TimeoutStopSec", "15"},
		Setting{"WatchdogSec", "60"},
		Setting{"TimeoutAbortSec", "10"},
		// A tmux client that's killed can take its server along: it ends by itself when the daemon has.
		Setting{"KillMode", "process"},
		Setting{"UMask", "0077"},
	)
	for _, c := range s.Credentials {
		runs = append(runs, Setting{"LoadCredential", c.Key + ":" + literal(c.File)})
	}
	runs = append(runs, hardening...)
	if s.User != "" {
		runs = append(runs, systemHardening...)
	}
	return Unit{DaemonUnit, []Section{{"Unit", about}, {"Service", runs}, s.wanted()}}
}

func tmuxUnit(s Spec) Unit {
	about := []Setting{
		{"Description", "tmux servers of panebridge, which go on when it stops"},
		{"Documentation", "https://github.com/panebridge/panebridge/blob/main/docs/service.md"},
		{"StartLimitIntervalSec", "0"},
	}
	runs := []Setting{
		{"Type", "notify"},
		{"NotifyAccess", "main"},
		{"ExecStart", commandLine(s.Program, "service", "starter") + " " + starterSocket},
	}
	runs = append(runs, s.identity()...)
	runs = append(
		runs,
		Setting{"RuntimeDirectory", "panebridge-tmux"},
		Setting{"RuntimeDirectoryMode", "0700"},
		Setting{"Restart", "always"},
		Setting{"RestartSec", "1"},
		// What it started goes on, whatever ends it: a stop, a new build, or an agent that the kernel kills for its memory.
		Setting{"KillMode", "process"},
		Setting{"OOMPolicy", "continue"},
		Setting{"TasksMax", "infinity"},
	)
	return Unit{TmuxUnit, []Section{{"Unit", about}, {"Service", runs}, s.wanted()}}
}

// identity is as whom, where, and with which variables both units run.
func (s Spec) identity() []Setting {
	var out []Setting
	if s.User != "" {
		out = append(out, Setting{"User", literal(s.User)})
	}
	out = append(out, Setting{"WorkingDirectory", "~"})
	if s.Path != "" {
		out = append(out, Setting{"Environment", assignment("PATH", s.Path)})
	}
	if s.TmuxDir != "" {
		out = append(out, Setting{"Environment", assignment("TMUX_TMPDIR", s.TmuxDir)})
	}
	return out
}

func (s Spec) wanted() Section {
	by := "default.target"
	if s.User != "" {
		by = "multi-user.target"
	}
	return Section{"Install", []Setting{{"WantedBy", by}}}
}

func commandLine(program string, args ...string) string {
	words := []string{word(program)}
	for _, a := range args {
		words = append(words, word(a))
	}
	return strings.Join(words, " ")
}

// hardening is what a user's own manager can take from a service as well. It leaves out what
// needs a user namespace there, which is all that changes mounts: from within one the kernel tells nothing
// of the agents' processes, and tmux' sockets are in /tmp. It lets memory be written and then executed, as the command for
// voice notes may be any program.
var hardening = []Setting{ //nolint:gochecknoglobals // a constant table
	{"NoNewPrivileges", "yes"},
	{"LockPersonality", "yes"},
	{"RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK"},
	{"RestrictNamespaces", "yes"},
	{"RestrictRealtime", "yes"},
	{"RestrictSUIDSGID", "yes"},
	{"SystemCallArchitectures", "native"},
	{"SystemCallFilter", "@system-service"},
	{"SystemCallErrorNumber", "EPERM"},
}

// systemHardening is what root's manager takes besides. /home, /tmp and folders elsewhere that sessions work in
// stay as they are, and so does /proc, by which the daemon knows what runs in panes.
var systemHardening = []Setting{ //nolint:gochecknoglobals // a constant table
	{"CapabilityBoundingSet", ""},
	{"AmbientCapabilities", ""},
	{"ProtectSystem", "full"},
	{"ProtectControlGroups", "yes"},
	{"ProtectKernelTunables", "yes"},
	{"ProtectKernelModules", "yes"},
	{"ProtectKernelLogs", "yes"},
	{"ProtectClock", "yes"},
	{"ProtectHostname", "yes"},
	{"PrivateDevices", "yes"},
	{"KeyringMode", "private"},
}
