package tmux_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// A program that's started anew is in the same pane, with what it was asked for; what was
// there before has ended.
func TestRespawn(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	dir := shortTemp(t)
	info, err := s.client.Create(s.ctx(), "pb_000000000001", sessions.PaneRequest{
		Session: "made", Width: 80, Height: 24, HistoryLimit: 1000, Env: []string{"WHICH=first"},
		Command: []string{"sh", "-c", "echo $WHICH $$; exec cat"},
	})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(text string) {
		t.Helper()
		s.await(text, func() bool { return strings.Contains(s.tmux("capture-pane", "-p", "-t", info.ID), text) })
	}
	shows("first")
	pid := s.tmux("display-message", "-p", "-t", info.ID, "#{pane_pid}")
	err = s.client.Respawn(s.ctx(), info.ID, sessions.PaneRequest{
		Cwd: dir, Env: []string{"WHICH=the 'second'"}, Command: []string{"sh", "-c", "echo $WHICH in $PWD; exec cat"},
	})
	if err != nil {
		t.Fatal(err)
	}
	shows("the 'second' in " + dir)
	if now := s.tmux("display-message", "-p", "-t", info.ID, "#{pane_pid} #{@panebridge_id} #{pane_dead}"); strings.HasPrefix(now, pid+" ") || !strings.HasSuffix(now, " pb_000000000001 0") {
		t.Errorf("the pane is %s, and its program was %s", now, pid)
	}
	if err := s.client.Respawn(s.ctx(), info.ID, sessions.PaneRequest{Cwd: dir, Env: []string{"WHICH=a third"}}); err != nil { // the same command again
		t.Fatal(err)
	}
	shows("a third in " + dir)
	if err := s.client.Respawn(s.ctx(), "%99", sessions.PaneRequest{Cwd: dir}); err == nil {
		t.Error("a pane that isn't there was respawned")
	}
}
