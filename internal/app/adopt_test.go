package app_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

func (d *daemon) tmux(args ...string) string {
	d.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-f", "/dev/null", "-S", d.socket}, args...)...).CombinedOutput()
	if err != nil {
		d.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// living are the names of the sessions that haven't ended.
func (d *daemon) living() map[string]sessions.ID {
	d.Helper()
	all, err := d.api.Sessions(d.ctx())
	if err != nil {
		d.Fatal(err)
	}
	out := map[string]sessions.ID{}
	for _, s := range all {
		if s.State != sessions.StateEnded {
			out[s.Name] = s.ID
		}
	}
	return out
}

// Panes are adopted by pattern, also those that come later; what was closed by
// hand stays closed; and a session keeps its id over a restart of the daemon.
func TestAdoptByPattern(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.stop()
	d.cfg.Sessions.Adopt = []string{"agent-*"}
	d.tmux("new-session", "-d", "-s", "agent-1", "-x", "80", "-y", "24", "echo first; exec cat")
	d.tmux("new-session", "-d", "-s", "other", "exec cat")
	d.start()
	d.await("the first", func() bool { return d.living()["agent-1"] != "" })
	d.tmux("new-session", "-d", "-s", "agent-10", "echo tenth; exec cat")
	d.await("the later one", func() bool { return d.living()["agent-10"] != "" })
	got := d.living()
	if len(got) != 2 {
		t.Fatalf("adopted %v", got)
	}
	one := got["agent-1"]
	d.await("its text", d.has(one, "first"))
	if mark := d.tmux("show-options", "-pqv", "-t", "=agent-1:", "@panebridge_id"); mark != string(one) {
		t.Errorf("the pane is marked %q, the session is %s", mark, one)
	}

	if err := d.api.CloseSession(d.ctx(), "agent-10"); err != nil {
		t.Fatal(err)
	}
	d.tmux("has-session", "-t", "=agent-10")
	d.stop()
	d.start()
	d.awaitTmux()
	d.tmux("new-session", "-d", "-s", "agent-2", "exec cat")
	d.await("another", func() bool { return d.living()["agent-2"] != "" })
	got = d.living()
	if got["agent-1"] != one || got["agent-10"] != "" {
		t.Errorf("after the restart: %v", got)
	}
	if again, err := d.api.Adopt(d.ctx(), api.Create{Tmux: "agent-10"}); err != nil || len(again) != 1 {
		t.Errorf("adopt by hand: %v, %v", again, err)
	}
	if _, err := d.api.Adopt(d.ctx(), api.Create{Tmux: "agent-10"}); err == nil {
		t.Error("adopted a second time")
	}
	if _, err := d.api.Adopt(d.ctx(), api.Create{Tmux: "agent"}); err == nil {
		t.Error("a prefix of a name was taken for it")
	}
}

// With agent-1 gone, nothing that's meant for it reaches agent-10.
func TestGoneSessionIsNotItsNeighbour(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	d.tmux("new-session", "-d", "-s", "agent-1", "exec cat")
	d.tmux("new-session", "-d", "-s", "agent-10", "exec cat")
	for _, n := range []string{"agent-1", "agent-10"} {
		d.await("adoption", func() bool {
			_, err := d.api.Adopt(d.ctx(), api.Create{Tmux: n})
			return err == nil
		})
	}
	ids := d.living()
	d.say("agent-10", "stay")
	d.await("stay", d.has(ids["agent-10"], "stay"))
	d.tmux("kill-session", "-t", "=agent-1")
	d.await("end of agent-1", func() bool { return d.living()["agent-1"] == "" })
	if _, err := d.api.Input(d.ctx(), string(ids["agent-1"]), "stray", true); err == nil {
		t.Error("the gone session took an input")
	}
	d.say("agent-10", "last")
	d.await("last", d.has(ids["agent-10"], "last"))
	for _, l := range d.lines(ids["agent-10"]) {
		if l == "stray" {
			t.Error("the stray input reached the neighbour")
		}
	}
}

// A session that's named after its tmux session is renamed with it, one made here and
// one that was adopted; one that was given another name keeps that.
func TestTmuxRenamesSessions(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	made, err := d.api.NewSession(d.ctx(), api.Create{Name: "made", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]sessions.ID{"made": made.ID}
	for _, name := range []string{"found", "given"} {
		d.tmux("new-session", "-d", "-s", name, "exec cat")
		req := api.Create{Tmux: name}
		if name == "given" {
			req.Name = "mine"
		}
		list, err := d.api.Adopt(d.ctx(), req)
		if err != nil || len(list) != 1 {
			t.Fatalf("adopt %s: %v, %v", name, list, err)
		}
		ids[name] = list[0].ID
	}
	d.tmux("rename-session", "-t", "="+d.cfg.Sessions.TmuxPrefix+"made", d.cfg.Sessions.TmuxPrefix+"made-2")
	d.tmux("rename-session", "-t", "=given", "given-2")
	d.tmux("rename-session", "-t", "=found", "found-2")
	d.await("the new names", func() bool {
		got := d.living()
		return got["made-2"] == ids["made"] && got["found-2"] == ids["found"] && got["mine"] == ids["given"]
	})
	d.stop()
	d.start()
	d.awaitTmux()
	if got := d.living(); got["made-2"] != ids["made"] || got["found-2"] != ids["found"] || got["mine"] != ids["given"] {
		t.Errorf("after a restart the names are %v", got)
	}
}
