package cli_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/panebridge/panebridge/internal/cli"
)

// fewAtOnce runs four tests at once at most: scripts look at what's said within seconds.
type fewAtOnce struct{ *testing.M }

func (f fewAtOnce) Run() int {
	flag.Parse() //nolint:revive // before it sets one: it's TestMain's part
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	return f.M.Run()
}

func TestMain(m *testing.M) {
	testscript.Main(fewAtOnce{m}, map[string]func(){
		"panebridge": func() {
			stdio := cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
			os.Exit(cli.Main(context.Background(), cli.Build{Version: "v1.2.3-test", Commit: "0123456789abcdef0123456789abcdef01234567"}, os.Args[1:], stdio, os.LookupEnv))
		},
	})
}

// The scripts run the program as people do, each with a home, a state folder
// and a tmux server of its own, all below $S. Besides the usual commands they
// have
//
//	exits CODE COMMAND…          run a command that must end with that exit code
//	eventually PATTERN COMMAND…  run a command until it succeeds and its standard output matches
//	telegram start|STATE         begin a stand-in for Telegram, or change what its bot may (telegramCommand)
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"eventually": eventually,
			"telegram":   telegramCommand,
		},
	})
}

func setup(env *testscript.Env) error {
	// A socket's path has about 100 bytes, which the script's own folder might
	// use up.
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(dir) })
	for _, socket := range []string{"t", "demo/tmux.sock"} {
		socket = filepath.Join(dir, socket)
		env.Defer(func() { _ = exec.CommandContext(context.Background(), "tmux", "-S", socket, "kill-server").Run() })
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	bin, _, _ := strings.Cut(env.Getenv("PATH"), string(filepath.ListSeparator))
	env.Values[forumKey{}] = &scriptForum{}
	env.Setenv("BIN", bin)
	env.Setenv("S", dir)
	env.Setenv("HOME", home)
	env.Setenv("SHELL", "/bin/sh")
	env.Setenv("TMUX_TMPDIR", dir)
	env.Setenv("PANEBRIDGE_STATE_DIR", filepath.Join(dir, "st"))
	return nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// run returns the exit code of a command.
func run(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	ts.Check(err)
	return 0
}

func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	// Only a hung test takes so long.
	last, began := "", time.Now()
	for end := began.Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if run(ts, args[1:]) == 0 && pattern.MatchString(ts.ReadFile("stdout")) {
			if took := time.Since(began); took > 5*time.Second {
				ts.Logf("only after %s; before, it was %q", took.Round(time.Second), last)
			}
			return
		}
		last = ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if time.Now().After(end) {
			run(ts, []string{"panebridge", "status"})
			ts.Logf("what the daemon says of itself:\n%s%s", ts.ReadFile("stdout"), ts.ReadFile("stderr"))
			ts.Fatalf("no match for %q within a minute", args[0])
		}
	}
}
