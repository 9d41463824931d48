package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// fleetRig is a director and a member, each a real agent program, in one daemon.
type fleetRig struct {
	*daemon
	director, member *fleetAgent
	all              []*fleetAgent
	db               *store.Inbox
}

// fleetAgent is one of them.
type fleetAgent struct {
	run *agentlab.Run
	id  sessions.ID
	log string // what its panebridge commands have printed
}

// Two real agents work together with the commands of the skill: the director sends a
// message and listens; the member is told of it in its pane, reads it, does what it asks
// for, settles it and leaves a notice, which ends the director's listening. Whatever they
// ask permission for is allowed. With notices.auto the director hears the end of the
// member's turn, too.
func TestLiveFleet(t *testing.T) {
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	for _, c := range []struct {
		director, member string
		auto             bool
	}{
		{"claude", "claude", false},
		{"claude", "codex", true},
		{"codex", "claude", true},
	} {
		t.Run(fmt.Sprintf("%s-%s-auto=%t", c.director, c.member, c.auto), func(t *testing.T) {
			r := newFleetRig(t, c.director, c.member, c.auto)
			task := "Please have the member count the files"
			if c.auto {
				task = "Please have the member count, and stay"
			}
			r.must(r.director.run.Submit(t.Context(), task))
			m := r.worked()
			if c.auto {
				r.await("end of the member's turn as a notice", func() bool {
					return r.heard(func(n inbox.Notice) bool { return n.From == "member" && n.Type == inbox.Complete })
				})
				return
			}
			r.await("the director to go on", func() bool {
				all := r.director.run.Model.Requests()
				last := all[len(all)-1]
				return last.Step == 2 && !last.End.IsZero()
			})
			if n := strings.Count(r.printed(r.director), `"type"`); n != 1 {
				t.Errorf("the director heard %d notices, not one:\n%s", n, r.printed(r.director))
			}
			if sent := `"notification_sent": true`; !strings.Contains(r.printed(r.director), sent) {
				t.Errorf("the director wasn't told that the preview of %s was typed:\n%s", m.ID, r.printed(r.director))
			}
		})
	}
}

func newFleetRig(t *testing.T, director, member string, auto bool) *fleetRig {
	t.Helper()
	r := emptyFleetRig(t, auto)
	r.director, r.member = r.begin("director", director, "fleet"), r.begin("member", member, "fleet")
	r.must(r.db.AddFleet(r.ctx(), "web", r.director.id, time.Now()))
	r.must(r.db.AddMember(r.ctx(), "web", r.member.id, false, time.Now()))
	r.allowAll()
	return r
}

// emptyFleetRig is the daemon without an agent.
func emptyFleetRig(t *testing.T, auto bool) *fleetRig {
	t.Helper()
	d := newDaemon(t)
	d.stop()
	d.cfg.Notices.Auto = auto
	d.start()
	r := &fleetRig{daemon: d}
	r.tmux("-f", "/dev/null", "new-session", "-d", "-s", "keep", "exec cat")
	d.awaitTmux()
	r.db, _ = mailOf(d)
	return r
}

// allowAll allows what the agents ask for, until the test ends.
func (r *fleetRig) allowAll() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	r.Cleanup(func() { stop(); <-done })
	go func() { defer close(done); r.allow(ctx) }()
}

// begin starts an agent, whose model plays a scenario, and waits until it takes input.
func (r *fleetRig) begin(name, agent, scenario string) *fleetAgent {
	r.Helper()
	exe, err := os.Executable()
	r.must(err)
	state := filepath.Join(r.dir, "state")
	a := &fleetAgent{log: filepath.Join(r.dir, name+".log")}
	bin := filepath.Join(r.dir, name)
	r.must(os.MkdirAll(bin, 0o700))
	r.must(os.WriteFile(filepath.Join(bin, "panebridge"), fmt.Appendf(nil,
		"#!/bin/bash\nset -o pipefail\n%s=1 %s \"$@\" --state-dir %s | tee -a %s\n", playedCLI, exe, state, a.log), 0o700))
	a.run, err = agentlab.Prepare(r.Context(), agentlab.Config{
		Agent: agent, Socket: r.socket, Session: name, Scenario: scenario, Path: bin,
		Hook: fmt.Sprintf("%s=1 %s hook --state-dir %s %s", playedCLI, exe, state, agent),
	})
	r.must(err)
	r.Cleanup(func() {
		if err := a.run.Stop(); err != nil {
			r.Error(err)
		}
	})
	// Codex runs login shells, which set the path anew.
	r.must(os.WriteFile(filepath.Join(a.run.Home, ".profile"), []byte("export PATH="+bin+":$PATH\n"), 0o600))
	pane := r.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", name, "-x", "120", "-y", "40", a.run.Command())
	a.run.Attach(strings.TrimSpace(pane))
	r.await("session", func() bool {
		out, err := r.api.Adopt(r.ctx(), api.Create{Tmux: name})
		if err == nil {
			a.id = out[0].ID
		}
		return err == nil
	})
	r.must(a.run.Ready(r.Context()))
	r.all = append(r.all, a)
	return a
}

// allow allows what the agents ask for, until ctx ends.
func (r *fleetRig) allow(ctx context.Context) {
	for rested(ctx, 300*time.Millisecond) {
		for _, a := range r.all {
			s, err := r.api.Session(ctx, string(a.id))
			if err != nil || s.Prompt == "" {
				continue
			}
			if _, err := r.api.Answer(ctx, s.Prompt, api.AnswerRequest{Option: &api.PromptChoice{N: 1}}); err != nil && ctx.Err() == nil {
				r.Logf("%s in %s: %v", s.Prompt, s.Name, err)
			}
		}
	}
}

// worked waits until the message went there and the notice came back.
func (r *fleetRig) worked() inbox.Mail {
	r.Helper()
	var m inbox.Mail
	r.until("the message to be settled", func() bool {
		all, err := r.db.Mail(r.ctx(), inbox.Query{To: inbox.Address(r.member.id)})
		r.must(err)
		if len(all) > 1 {
			r.Fatalf("%d messages were sent", len(all))
		}
		if len(all) == 1 {
			m = all[0]
		}
		return m.Status == inbox.Completed
	})
	if m.From != inbox.Address(r.director.id) || m.Preview != inbox.PreviewTyped {
		r.Errorf("the message is %+v", m)
	}
	if !r.member.run.Model.Asked("[panebridge msg " + m.ID + " from director") {
		r.Errorf("the member wasn't asked by the preview of %s: %+v", m.ID, r.member.run.Model.Requests())
	}
	if !strings.Contains(r.printed(r.member), m.ID+"  from director to member") || !strings.Contains(r.printed(r.member), m.ID+": completed.") {
		r.Errorf("the member saw:\n%s", r.printed(r.member))
	}
	r.until("the notice to be heard", func() bool {
		return r.heard(func(n inbox.Notice) bool {
			return n.From == "member" && n.Type == inbox.Info && n.Msg == "counted the files"
		})
	})
	return m
}

// heard says whether the director's listeners have printed a notice.
func (r *fleetRig) heard(is func(inbox.Notice) bool) bool {
	return slices.ContainsFunc(r.notices(r.director), is)
}

// notices are those that an agent's listeners have printed.
func (r *fleetRig) notices(a *fleetAgent) (all []inbox.Notice) {
	for line := range strings.Lines(r.printed(a)) {
		var n inbox.Notice
		if json.Unmarshal([]byte(line), &n) == nil && n.Type != "" {
			all = append(all, n)
		}
	}
	return all
}

func (r *fleetRig) printed(a *fleetAgent) string {
	b, _ := os.ReadFile(a.log)
	return string(b)
}

// until waits, and shows what stands on the screens if it's in vain.
func (r *fleetRig) until(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			for _, a := range r.all {
				screen, _ := a.run.Screen(r.ctx())
				r.Logf("screen:\n%s\nprinted:\n%s", screen, r.printed(a))
			}
			r.Fatalf("no %s within two minutes", what)
		}
	}
}

func (r *fleetRig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}
