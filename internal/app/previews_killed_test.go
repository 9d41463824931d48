package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/standin"
)

// The daemon, and then a command that types without it, are killed when a preview stands
// in an agent's input box and isn't submitted. The next daemon, or command, submits it;
// nothing is typed twice, and what's sent later is told as well.
func TestPreviewsAreFinishedAfterAKill(t *testing.T) {
	slow(t)
	agents, all := []string{"claude", "opencode"}, drawtest.Stressed()
	if all {
		agents = standin.Agents
	}
	r := &previewRig{daemon: newDaemon(t), sent: map[string]int{}, refused: map[string]int{}}
	for i, agent := range agents {
		r.join(agent, agent, uint64(i)) // with these seeds none asks something first
	}
	for _, m := range r.members {
		r.await("input box of "+m.session.Name, func() bool { return m.said(t, standin.Ready, "") > 0 })
	}
	r.stop()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\nadapters: {web: {enabled: false}}\n", r.socket)
	if err := os.WriteFile(filepath.Join(r.dir, "none.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, m := range r.members {
		if all || i == 0 {
			r.killDaemon(exe, m)
		}
		if all || i == 1 {
			r.killCommand(exe, m)
		}
	}
}

// said counts entries of a kind in which a text is.
func (m *previewMember) said(t *testing.T, kind standin.Kind, text string) (n int) {
	t.Helper()
	entries, err := standin.ReadJournal(m.play.Journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == kind && strings.Contains(e.Text, text) {
			n++
		}
	}
	return n
}

// other is the name of another member, who sends.
func (r *previewRig) other(m *previewMember) string {
	if m == r.members[0] {
		m = r.members[1]
	} else {
		m = r.members[0]
	}
	return m.session.Name
}

// killDaemon has a daemon killed, and the next finish what it left.
func (r *previewRig) killDaemon(exe string, m *previewMember) {
	r.Helper()
	daemon := r.run(exe)
	send := r.process(exe, "send", "--from", r.other(m), "--to", m.session.Name, "--text", "one for "+m.session.Name)
	if err := send.Start(); err != nil {
		r.Fatal(err)
	}
	r.killTyping(m, "one for", send, daemon) // the command, left alone, would finish it
	left := r.left(m)
	daemon = r.run(exe)
	r.finished(m, left)
	_ = daemon.Process.Signal(os.Interrupt)
	_ = daemon.Wait()
}

// killCommand has a command killed that types by itself, and the next finish what it left.
func (r *previewRig) killCommand(exe string, m *previewMember) {
	r.Helper()
	cmd := r.process(exe, "send", "--from", r.other(m), "--to", m.session.Name, "--text", "two for "+m.session.Name)
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.killTyping(m, "two for", cmd)
	left := r.left(m)
	said, err := r.command("send", "--from", r.other(m), "--to", m.session.Name, "--text", "three for "+m.session.Name)
	if err != nil {
		r.Fatal(err)
	}
	r.finished(m, left)
	if n := m.said(r.T, standin.Submitted, "three for"); n != 1 {
		r.Errorf("%s: what was sent behind it was submitted %d times; the command said %s", m.session.Name, n, said)
	}
}

func (r *previewRig) run(exe string) *exec.Cmd {
	r.Helper()
	cmd := r.process(exe, "run")
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = cmd.Process.Kill() })
	r.await("daemon", func() bool {
		all, err := r.api.Sessions(r.ctx())
		return err == nil && len(all) == len(r.members)
	})
	return cmd
}

// killTyping kills processes as soon as a preview of its stands in the agent's box.
func (r *previewRig) killTyping(m *previewMember, text string, all ...*exec.Cmd) {
	r.Helper()
	r.await("preview in the box of "+m.session.Name, func() bool { return m.said(r.T, standin.Pressed, text) > 0 })
	for _, cmd := range all {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// left is the mail whose preview is being typed by nobody.
func (r *previewRig) left(m *previewMember) inbox.Mail {
	r.Helper()
	db, _ := mailOf(r.daemon)
	defer db.Close()
	all, err := db.LeftPreviews(r.ctx(), inbox.Address(m.session.ID))
	if err != nil || len(all) != 1 || m.said(r.T, standin.Submitted, all[0].ID) > 0 {
		r.Fatalf("%s: %+v was left, %v", m.session.Name, all, err)
	}
	return all[0]
}

// finished waits until a preview that was left is submitted.
func (r *previewRig) finished(m *previewMember, left inbox.Mail) {
	r.Helper()
	var now inbox.Mail
	r.await("end of typing", func() bool {
		db, _ := mailOf(r.daemon)
		defer db.Close()
		var err error
		now, err = db.One(r.ctx(), left.ID)
		return err == nil && now.Preview != inbox.PreviewTyping
	})
	typed, submitted := m.said(r.T, standin.Pressed, left.ID), m.said(r.T, standin.Submitted, left.ID)
	if now.Preview != inbox.PreviewTyped || now.Why != "" || typed != 1 || submitted != 1 {
		r.Errorf("%s: the preview is %s (%s); it was typed %d times and submitted %d times", m.session.Name, now.Preview, now.Why, typed, submitted)
	}
}
