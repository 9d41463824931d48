package app_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// A fleet of two levels, of real agents: the primary directs the manager, who directs the worker.
// What the primary sends is sent on, the manager hears of the worker's end, and the primary of the
// manager's alone. Mail that comes while somebody writes in the worker's box is unread, and a ping
// kept, until the box is free; then the ping is typed, and the worker is said to have received it.
func TestLiveFleetOfTwoLevels(t *testing.T) {
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	for _, c := range [][3]string{{"claude", "codex", "opencode"}, {"codex", "claude", "claude"}} {
		t.Run(strings.Join(c[:], "-"), func(t *testing.T) { liveLevels(t, c) })
	}
}

func liveLevels(t *testing.T, agents [3]string) {
	t.Helper()
	r := emptyFleetRig(t, true)
	primary, manager, worker := r.begin("primary", agents[0], "levels"), r.begin("manager", agents[1], "levels"), r.begin("worker", agents[2], "levels")
	r.must(r.db.AddFleet(r.ctx(), "top", primary.id, time.Now()))
	r.must(r.db.AddMember(r.ctx(), "top", manager.id, false, time.Now()))
	r.must(r.db.AddFleet(r.ctx(), "team", manager.id, time.Now()))
	r.must(r.db.AddMember(r.ctx(), "team", worker.id, false, time.Now()))
	r.allowAll()
	heard := func(by *fleetAgent, from string, kind inbox.NoticeType, msg string) bool {
		return slices.ContainsFunc(r.notices(by), func(n inbox.Notice) bool {
			return n.From == from && n.Type == kind && strings.Contains(n.Msg, msg)
		})
	}
	r.must(primary.run.Submit(t.Context(), "Please have the manager see to it"))
	r.until("the worker's end at the manager", func() bool { return heard(manager, "worker", inbox.Complete, "") })
	if !heard(manager, "worker", inbox.Info, "counted the files") {
		t.Errorf("the manager hasn't heard what the worker said:\n%s", r.printed(manager))
	}
	r.until("the manager's end at the primary", func() bool { return heard(primary, "manager", inbox.Complete, "") })
	if !heard(primary, "manager", inbox.Info, "the worker has counted") {
		t.Errorf("the primary hasn't heard what the manager said:\n%s", r.printed(primary))
	}
	if slices.ContainsFunc(r.notices(primary), func(n inbox.Notice) bool { return n.From != "manager" }) {
		t.Errorf("the primary has heard of others than the manager:\n%s", r.printed(primary))
	}
	for _, to := range []*fleetAgent{manager, worker} {
		all, err := r.db.Mail(r.ctx(), inbox.Query{To: inbox.Address(to.id)})
		r.must(err)
		if len(all) != 1 || all[0].Status != inbox.Completed || all[0].Preview != inbox.PreviewTyped {
			t.Errorf("the mail is %+v", all)
		}
	}
	r.idle(r.all...)

	r.must(worker.run.Paste(t.Context(), "half a thou"))
	r.must(worker.run.Still(t.Context(), time.Second))
	before := time.Now()
	r.must(manager.run.Submit(t.Context(), "Please hurry the worker"))
	r.until("a ping", func() bool { return strings.Contains(r.printed(manager), `"kept"`) })
	if at := r.memberOf(manager, worker); at.Unread != 1 || !at.LastReceived.Before(before) {
		t.Errorf("mail can't be shown to the worker, which is %+v", at)
	}
	if !strings.Contains(r.printed(manager), `"kept": true`) {
		t.Errorf("the ping isn't kept:\n%s", r.printed(manager))
	}
	r.idle(manager)
	for range len("half a thou") {
		r.tmux("send-keys", "-t", worker.run.Pane, "BSpace")
	}
	r.until("the ping in the worker's pane", func() bool { return worker.run.Model.Asked("panebridge poll") })
	r.until("the mail that it has polled, or that was typed before", func() bool { return strings.Contains(r.printed(worker), "Please count once more.") })
	r.idle(r.all...)
	r.must(manager.run.Submit(t.Context(), "Please look at the worker"))
	r.until("the fleet once more", func() bool {
		return strings.Count(r.printed(manager), `"last_received"`) > 1 && r.memberOf(manager, worker).LastReceived.After(before)
	})
	if at := r.memberOf(manager, worker); at.Unread != 0 || at.LastReceived.After(time.Now()) {
		t.Errorf("the worker was shown all; it's %+v", at)
	}
}

// idle waits until agents are.
func (r *fleetRig) idle(agents ...*fleetAgent) {
	r.Helper()
	for _, a := range agents {
		r.until("end of a turn", func() bool {
			s, err := r.api.Session(r.ctx(), string(a.id))
			return err == nil && s.State == sessions.StateIdle && !a.run.Model.Busy()
		})
	}
}

// memberState is what `panebridge members --json` says of one.
type memberState struct {
	ID           sessions.ID `json:"id"`
	LastReceived time.Time   `json:"last_received"`
	Unread       int         `json:"unread"`
}

// memberOf is what an agent has read last of one of its members.
func (r *fleetRig) memberOf(by, of *fleetAgent) (last memberState) {
	text := r.printed(by)
	for {
		_, rest, found := strings.Cut(text, "\n[\n")
		if !found {
			return last
		}
		text = rest
		var all []memberState
		if json.NewDecoder(strings.NewReader("[\n"+rest)).Decode(&all) != nil {
			continue
		}
		if i := slices.IndexFunc(all, func(m memberState) bool { return m.ID == of.id }); i >= 0 {
			last = all[i]
		}
	}
}
