package tmux_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// A socket, the folder that it's in and a configuration file are found whatever they're
// called, by the name and by the path.
func TestServersAreReachedWhateverTheyAreCalled(t *testing.T) {
	if testing.Short() {
		t.Skip("a server for each")
	}
	st := newStand(t)
	t.Setenv("TMUX_TMPDIR", st.dir)
	all := hostile
	if !drawtest.Stressed() {
		all = few(all) // each is a server or two
	}
	for _, text := range all {
		folder, ok := st.folderOf(text)
		if !ok {
			continue
		}
		conf := filepath.Join(folder, text)
		if err := os.WriteFile(conf, []byte("set-option -g @conf read\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		options := []tmux.Options{{SocketPath: filepath.Join(folder, "s"+text), ConfigFile: conf}}
		if !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) { // what the configuration allows
			options = append(options, tmux.Options{SocketName: text, ConfigFile: conf})
		}
		for _, opt := range options {
			st.run(tmux.New(opt))
			st.socket = st.client.SocketPath()
			st.t.Cleanup(func() { _ = tmuxAt(opt).command("kill-server").Run() })
			req, file := st.request(text)
			info, err := st.client.Create(st.ctx(), "pb_000000000001", req)
			if err != nil {
				t.Errorf("%q: %v", st.socket, err)
				continue
			}
			st.agrees(fmt.Sprintf("at %q", st.socket), req, st.heard(file))
			if conf := st.tmux("show-options", "-gv", "@conf"); conf != "read" {
				t.Errorf("%q: its configuration file isn't read: %q", st.socket, conf)
			}
			st.quiet(text)
			if err := st.client.Kill(st.ctx(), info.ID); err != nil {
				t.Error(err)
			}
			st.tmux("kill-server")
		}
	}
}

// tmuxAt is a server's socket.
func tmuxAt(opt tmux.Options) *server { return &server{socket: tmux.New(opt).SocketPath()} }

// A channel is waited for by its name, whatever that is.
func TestChannelsAreWaitedForWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	for _, text := range quick(append(hostile, "", strings.Repeat("#(pwn);", 500))) {
		st.tmux("wait-for", "-S", "--", argument(text)) // tmux keeps it
		ctx, cancel := context.WithCancel(st.ctx())
		if err := tmux.WaitFor(ctx, tmux.Options{SocketPath: st.socket}, text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		cancel()
		st.quiet(text)
	}
}

// Buffers of others are left alone, and one that's called like ours goes, whatever else is
// in its name.
func TestBuffersOfOthersAreLeft(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	for _, text := range quick(hostile) {
		st.tmux("set-buffer", "-b", argument(text), "--", "theirs")
		st.tmux("set-buffer", "-b", argument("_panebridge_"+text), "--", "old")
		st.connect()()
		if got := strings.TrimSuffix(st.raw("show-buffer", "-b", argument(text)), "\n"); got != "theirs" {
			t.Errorf("%q is %q", text, got)
		}
		st.tmux("delete-buffer", "-b", argument(text))
		st.quiet(text)
	}
	if !st.client.Status().Connected {
		t.Error("the connection is lost")
	}
}
