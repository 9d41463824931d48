package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions/tmux"
)

const (
	// storeLookEvery is how often the store is asked whether it answers, and whether its file is
	// still there.
	storeLookEvery = 5 * time.Second
	// storeCheckEvery is how often all of it is read, and storeCheckAfter when it is first, and again where it
	// couldn't be.
	storeCheckEvery = 24 * time.Hour
	storeCheckAfter = time.Minute
)

// healthWatch knows how the parts are without asking them at the moment of the
// question, so that a hung part doesn't hang the answer.
type healthWatch struct {
	clients  []*tmux.Client
	store    *store.Store
	salvaged salvaged
	search   *searchWatch
	more     func() []api.HealthPart // the other parts
	silence  func() time.Duration    // a server that takes longer to answer is hung
	log      *slog.Logger

	mu       sync.Mutex
	storeErr error
	storeOK  time.Time
	asides   []store.Aside
}

func newHealthWatch(clients []*tmux.Client, db *store.Store, salvaged salvaged, search *searchWatch, silence func() time.Duration, more func() []api.HealthPart, log *slog.Logger) *healthWatch {
	return &healthWatch{clients: clients, store: db, salvaged: salvaged, search: search, more: more, silence: silence, log: log, storeOK: time.Now()}
}

// run looks at the store now and then, and has what it holds be written anew if its file was
// deleted, until ctx ends.
func (h *healthWatch) run(ctx context.Context) error {
	look, check := time.NewTicker(storeLookEvery), time.NewTimer(storeCheckAfter)
	defer look.Stop()
	defer check.Stop()
	h.lookForAsides()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			h.search.look(time.Now())
		case <-check.C:
			check.Reset(h.checkStore(ctx))
		}
		h.lookForAsides()
		err := h.lookAtStore(ctx)
		if ctx.Err() != nil {
			return nil
		}
		h.mu.Lock()
		if h.storeErr = err; err == nil {
			h.storeOK = time.Now()
		}
		h.mu.Unlock()
	}
}

// checkStore reads all of the database, and returns when it's to be done next.
func (h *healthWatch) checkStore(ctx context.Context) (next time.Duration) {
	err := h.store.Check(ctx)
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, store.ErrDamaged):
		h.log.Error("the database isn't sound", "err", err)
	default: // no file can be opened any more, say, or somebody holds it
		h.log.Warn("whether the database is sound couldn't be found out; it's tried again", "in", storeCheckAfter, "err", err)
		return storeCheckAfter
	}
	return storeCheckEvery
}

// lookForAsides takes in what lies beside the database that was put aside.
func (h *healthWatch) lookForAsides() {
	all, err := h.store.Asides()
	if err != nil {
		h.log.Debug("look for what was put aside", "err", err) // the folder has gone, which the store's part says
		return
	}
	h.mu.Lock()
	h.asides = all
	h.mu.Unlock()
}

// asidePart says what was put aside and what to do about it; nil: nothing was. All works without it.
func (h *healthWatch) asidePart() *api.HealthPart {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, a := range h.asides {
		all = append(all, a.String())
	}
	if len(all) == 0 {
		return nil
	}
	return &api.HealthPart{Name: api.PartAside, State: api.HealthOK, Detail: strings.Join(all, "; ")}
}

func (h *healthWatch) lookAtStore(ctx context.Context) error {
	err := h.store.Health(ctx)
	if store.IsRescuable(err) {
		h.log.Error("a file of the database is gone or replaced, or a part of it is gone, and what it held is written anew", "err", err)
		if rescue := h.store.Rescue(ctx); rescue != nil {
			return fmt.Errorf("%w; %w", err, rescue)
		}
		h.log.Info("the database was written anew")
		err = h.store.Health(ctx)
	}
	if err != nil {
		return err
	}
	_, err = h.store.ClosedPanes(ctx) // it can be read
	return err
}

// document is the health as it is now.
func (h *healthWatch) document() api.Health {
	doc := api.Health{State: api.HealthOK}
	for _, c := range h.clients {
		doc.Parts = append(doc.Parts, h.tmux(c))
	}
	doc.Parts = append(doc.Parts, h.storePart())
	if p := h.asidePart(); p != nil {
		doc.Parts = append(doc.Parts, *p)
	}
	if p := h.search.part(time.Now()); p != nil {
		doc.Parts = append(doc.Parts, *p)
	}
	doc.Parts = append(doc.Parts, h.more()...)
	for _, p := range doc.Parts {
		if worse(p.State, doc.State) {
			doc.State = p.State
		}
	}
	return doc
}

func worse(a, b api.HealthState) bool {
	rank := map[api.HealthState]int{api.HealthOK: 0, api.HealthDegraded: 1, api.HealthDown: 2}
	return rank[a] > rank[b]
}

// tmux tells how one server is. It counts as hung when a request has waited a
// whole tick: the look at all panes is one each tick, so that shows within two.
func (h *healthWatch) tmux(c *tmux.Client) api.HealthPart {
	s := c.Status()
	p := api.HealthPart{Name: "tmux:" + c.Name(), State: api.HealthOK, LastSuccess: s.LastOK}
	switch {
	case s.Connected && s.Silent > h.silence():
		p.State = api.HealthDown
		p.Detail = fmt.Sprintf("the tmux server hasn't answered for %.1f s; it may be stopped (kill -CONT %d) or very busy", s.Silent.Seconds(), s.Identity.PID)
	case s.Connected:
		p.Detail = "tmux " + s.Version
	case s.Absent:
		p.Detail = "no tmux server is running on " + c.SocketPath() + "; it's taken up when one is"
	default:
		p.State, p.Detail = api.HealthDown, s.Err.Error()
	}
	return p
}

func (h *healthWatch) storePart() api.HealthPart {
	h.mu.Lock()
	defer h.mu.Unlock()
	failing := h.store.Failing()
	p := api.HealthPart{Name: "store", State: api.HealthOK, LastSuccess: h.storeOK}
	switch {
	case h.storeErr == nil && failing != nil:
		p.State, p.Detail = api.HealthDown, failing.Error()
	case errors.Is(h.storeErr, store.ErrLittleRoom):
		p.State, p.Detail = api.HealthDegraded, h.storeErr.Error()
	case h.storeErr != nil:
		p.State, p.Detail = api.HealthDown, h.storeErr.Error()
	case h.salvaged.said != "" && (h.salvaged.kept == "" || h.lies(h.salvaged.kept)):
		p.State, p.Detail = api.HealthDegraded, h.salvaged.said
	}
	return p
}

// lies reports whether a damaged database is still where it was put. The caller holds mu.
func (h *healthWatch) lies(kept string) bool {
	return slices.ContainsFunc(h.asides, func(a store.Aside) bool { return a.Path == kept })
}

// otherParts are the parts of the health beside tmux and the store.
func (d *daemon) otherParts() []api.HealthPart {
	all := append(d.chatParts(), d.mirrorParts()...)
	if d.inbound != nil {
		if h := d.inbound.QuestionsHealth(); h.Condition != intake.Well {
			all = append(all, partOf("questions", h))
		}
		if h := d.inbound.RepliesHealth(); h.Condition != intake.Well {
			all = append(all, partOf("replies", h))
		}
	}
	all = append(all, d.redisParts()...)
	for _, part := range []*api.HealthPart{machinePart(), d.folderPart()} {
		if part != nil {
			all = append(all, *part)
		}
	}
	return all
}

// folderPart says what's wrong with the state folder; nil: nothing is.
func (d *daemon) folderPart() *api.HealthPart {
	err := d.folder.Err()
	if err == nil {
		return nil
	}
	return &api.HealthPart{Name: "state folder", State: api.HealthDown, Detail: err.Error()}
}

// What a machine or a process can run out of, and so much of it is kept for what's begun yet.
const (
	spareTerminals = 8  // panes
	spareFiles     = 64 // descriptors: some clients, and a database's
)

// machinePart says of what the machine, or this process, has little left; nil: of nothing, or
// that can't be read here. What's there for a moment only is looked up at each call.
func machinePart() *api.HealthPart {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	m := machineUse{mostFiles: int(min(limit.Cur, 1<<30))}
	m.terminals, m.mostTerminals, m.terminalsErr = host.CountTerminals()
	m.files, m.filesErr = host.CountDescriptors()
	return machineFrom(m)
}

// machineUse is what's in use of a machine and of this process, as the system tells it.
type machineUse struct {
	terminals, mostTerminals int
	terminalsErr             error
	files, mostFiles         int
	filesErr                 error
}

// machineFrom is machinePart of what the system says.
func machineFrom(m machineUse) *api.HealthPart {
	var all []string
	if m.terminalsErr == nil && m.terminals+spareTerminals > m.mostTerminals {
		all = append(all, fmt.Sprintf("%d of %d pseudo-terminals are in use, and without one no pane is made: close panes that nobody needs, or have more with sysctl kernel.pty.max", m.terminals, m.mostTerminals))
	}
	if errors.Is(m.filesErr, syscall.EMFILE) || errors.Is(m.filesErr, syscall.ENFILE) {
		all = append(all, fmt.Sprintf("none of %d file descriptors is left, and who asks is answered one at a time: raise the limit (ulimit -n; LimitNOFILE of a systemd unit)", m.mostFiles))
	}
	if m.filesErr == nil && m.files+spareFiles > m.mostFiles {
		all = append(all, fmt.Sprintf("%d of %d file descriptors are in use, and without one nobody is answered: raise the limit (ulimit -n; LimitNOFILE of a systemd unit)", m.files, m.mostFiles))
	}
	if len(all) == 0 {
		return nil
	}
	return &api.HealthPart{Name: "machine", State: api.HealthDegraded, Detail: strings.Join(all, "; ")}
}
