package tmux_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// A folder that can't be entered is an error. No program is started elsewhere, and nothing
// is left of the session.
func TestFolderThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	file := st.newFile()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, folder := range map[string]string{
		"gone": filepath.Join(st.dir, "gone"), "a file": file, "with a name that's too long": filepath.Join(st.dir, strings.Repeat("x", 300)),
		"that runs if it's a format": filepath.Join(st.dir, "#(pwn)"), "relative": "bin", "with NUL": st.dir + "/bin\x00", "too long to be given": "/" + strings.Repeat("x/", 1<<17),
	} {
		before := st.tmux("list-panes", "-a")
		req, witness := st.request("x")
		req.Cwd = folder
		_, err := st.client.Create(st.ctx(), "pb_000000000001", req)
		if !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), "folder") {
			t.Errorf("a folder %s: %v", what, err)
		}
		if after := st.tmux("list-panes", "-a"); after != before {
			t.Errorf("a folder %s: it left\n%s\nof\n%s", what, after, before)
		}
		if _, err := os.Stat(witness); err == nil {
			t.Errorf("a folder %s: the program was started", what)
		}
	}
	st.quiet("folders")
}

// What tmux refuses in the middle leaves nothing of the session either.
func TestNothingIsLeftOfWhatTmuxRefuses(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	before := st.tmux("list-panes", "-a")
	req, _ := st.request("x")
	req.HistoryLimit = -1
	if _, err := st.client.Create(st.ctx(), "pb_000000000001", req); err == nil {
		t.Error("it's made")
	}
	if after := st.tmux("list-panes", "-a"); after != before {
		t.Errorf("it left\n%s\nof\n%s", after, before)
	}
}

// The folder of a program that's to be started anew has gone.
func TestFolderIsGoneAtARespawn(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	req, file := st.request("there")
	info, err := st.client.Create(st.ctx(), "pb_000000000001", req)
	if err != nil {
		t.Fatal(err)
	}
	st.heard(file)
	if err := os.Remove(req.Cwd); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{nil, req.Command} {
		again, witness := st.request("x")
		again.Cwd, again.Command = req.Cwd, command
		if err := st.client.Respawn(st.ctx(), info.ID, again); !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), "no such folder") {
			t.Errorf("with command %q: %v", command, err)
		}
		st.await("end", func() bool { return st.snapshot(info.ID).Dead })
		s, err := st.client.Snapshot(st.ctx(), info.ID, sessions.RowWindow{Start: -1})
		if err != nil || s.DeadStatus != 125 || !strings.Contains(strings.Join(s.Rows, ""), "can't enter") {
			t.Errorf("with command %q: status %d, and it shows %q; %v", command, s.DeadStatus, s.Rows, err)
		}
		if _, err := os.Stat(witness); err == nil {
			t.Errorf("with command %q: the program was started", command)
		}
	}
	if err := os.Mkdir(req.Cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	again, file := st.request("x")
	again.Cwd, again.Command = req.Cwd, nil
	if err := st.client.Respawn(st.ctx(), info.ID, again); err != nil {
		t.Fatal(err)
	}
	again.Command = req.Command
	st.agrees("with the folder back", again, st.heard(file))
}

// A folder that nobody lets the tmux server's user into, whoever asks.
func TestFolderWithoutPermission(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	folder := st.mkdir(t, filepath.Join(st.dir, "closed"))
	if err := os.Chmod(folder, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // who may enter any folder: then the server is somebody else's
		const nobody = 65534
		dir := shortTemp(t)
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		st.socket = filepath.Join(dir, "s")
		cmd := st.command("-f", "/dev/null", "new-session", "-d", "-s", "nobody", "cat", "-")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Dir = "/"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("tmux", "-S", st.socket, "kill-server").Run() })
		st.connectTo(st.socket)
	}
	before := st.tmux("list-panes", "-a")
	req, _ := st.request("x")
	req.Cwd = folder
	if _, err := st.client.Create(st.ctx(), "pb_000000000001", req); !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), "enter it") {
		t.Errorf("got %v", err)
	}
	if after := st.tmux("list-panes", "-a"); after != before {
		t.Errorf("it left\n%s\nof\n%s", after, before)
	}
}
