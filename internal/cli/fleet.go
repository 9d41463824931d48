package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

func newFleet(p *invocation) *cobra.Command {
	cmd := newGroup("fleet", "Group sessions that work together",
		newFleetNew(p), newFleetAdd(p), newFleetRemove(p), newFleetDrop(p), newFleetList(p))
	cmd.Long = `A fleet is a named group of sessions: one may be its director, the others are its
members. Members' ends of turns, questions and exits become notices for the director,
which "panebridge listen" prints. A session is a member of one fleet at most, and may direct
others: so a manager of workers has a director itself.`
	cmd.Example = "  panebridge fleet new web --director lead\n  panebridge fleet add web tester writer\n  panebridge members"
	return cmd
}

func newFleetNew(p *invocation) *cobra.Command {
	var director string
	var nobody, asJSON bool
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Make a fleet; you direct it, if this is called in a session", Args: takes(1, 1),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			if err := checkFleetName(args[0]); err != nil {
				return err
			}
			var lead inbox.Party
			switch {
			case nobody:
			case director != "":
				var err error
				if lead, err = m.all.Find(director); err != nil {
					return err
				}
			default:
				who, err := m.who(whoFlag{})
				if err != nil && !errors.Is(err, inbox.ErrNobody) {
					return err
				}
				lead, _ = m.all.Get(who.Session())
			}
			if err := m.changing(ctx, api.FleetChange{Change: "new", Fleet: args[0], Sessions: named(lead), Director: lead.ID != ""}); err != nil {
				return err
			}
			if err := m.store.AddFleet(ctx, args[0], lead.ID, time.Now()); err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]any{"fleet": args[0], "director": lead.ID})
			}
			if lead.ID == "" {
				return p.printf("Fleet %s is made. It has no director: `panebridge fleet add %s SESSION --director` gives it one.\n", args[0], args[0])
			}
			return p.printf("Fleet %s is made; %s directs it.\n", args[0], lead.Name)
		}),
	}
	cmd.Flags().StringVar(&director, "director", "", "`SESSION` that directs it")
	cmd.Flags().BoolVar(&nobody, "no-director", false, "nobody directs it yet")
	cmd.MarkFlagsMutuallyExclusive("director", "no-director")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// changing returns nil if this program may change a fleet so: in a session's pane that
// takes somebody's word.
func (m *agentInbox) changing(ctx context.Context, change api.FleetChange) error {
	return m.allowed(ctx, func(ctx context.Context, c *client.Client) error { return c.AllowFleetChange(ctx, change) })
}

// named is a session's name, if there's one.
func named(p inbox.Party) []string {
	if p.ID == "" {
		return nil
	}
	return []string{p.Name}
}

// checkFleetName refuses names that a line of a table can't show.
func checkFleetName(name string) error {
	if name == "" || len(name) > 64 || strings.ContainsAny(name, " \t\r\n:") || strings.ToValidUTF8(name, "") != name {
		return usageErrorf("a fleet's name is one word of at most 64 bytes, without a colon, not %q", name)
	}
	return nil
}

func newFleetAdd(p *invocation) *cobra.Command {
	var director, asJSON bool
	cmd := &cobra.Command{
		Use: "add NAME SESSION…", Short: "Take sessions into a fleet", Args: takes(2, -1),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			if director && len(args) > 2 {
				return usageErrorf("a fleet has one director: give one session with --director")
			}
			if err := m.changing(ctx, api.FleetChange{Change: "add", Fleet: args[0], Sessions: args[1:], Director: director}); err != nil {
				return err
			}
			ids := []sessions.ID{}
			for _, name := range args[1:] {
				s, err := m.all.Find(name)
				if err != nil {
					return err
				}
				if err := m.store.AddMember(ctx, args[0], s.ID, director, time.Now()); err != nil {
					return err
				}
				ids = append(ids, s.ID)
			}
			if asJSON {
				return p.printJSON(map[string]any{"fleet": args[0], "added": ids, "director": director})
			}
			return p.printf("%s: in the fleet %s.\n", strings.Join(args[1:], ", "), args[0])
		}),
	}
	cmd.Flags().BoolVar(&director, "director", false, "as its director, in place of who is")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newFleetRemove(p *invocation) *cobra.Command {
	var fleet string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "remove SESSION…", Aliases: []string{"rm"}, Short: "Take sessions out of their fleet", Args: takes(1, -1),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			if err := m.changing(ctx, api.FleetChange{Change: "remove", Fleet: fleet, Sessions: args}); err != nil {
				return err
			}
			ids := []sessions.ID{}
			for _, name := range args {
				s, err := m.all.Find(name)
				if err != nil {
					return err
				}
				if err := m.store.DropMember(ctx, s.ID, fleet); err != nil {
					return err
				}
				ids = append(ids, s.ID)
			}
			if asJSON {
				return p.printJSON(map[string]any{"removed": ids})
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&fleet, "fleet", "", "the `NAME` of the fleet, of those that are in several")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newFleetDrop(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "drop NAME", Short: "Dissolve a fleet; its sessions and their mail stay", Args: takes(1, 1),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			if err := m.changing(ctx, api.FleetChange{Change: "drop", Fleet: args[0]}); err != nil {
				return err
			}
			if err := m.store.DropFleet(ctx, args[0]); err != nil || !asJSON {
				return err
			}
			return p.printJSON(map[string]any{"dropped": args[0]})
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSubscribe(p *invocation) *cobra.Command {
	var who whoFlag
	var off, asJSON bool
	cmd := &cobra.Command{
		Use: "subscribe SESSION…", Short: "Be told of a session's ends of turns, questions and exits", Args: takes(1, -1),
		Long: `Have the ends of turns, questions and exits of sessions become notices for you, which
"panebridge listen" prints: of any session, whatever fleet it's in. The director of a fleet
has those of its members without it.`,
		Example: "  panebridge subscribe tester\n  panebridge listen\n  panebridge subscribe --off tester",
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			me, err := m.speaker(ctx, who)
			if err != nil {
				return err
			}
			change := "subscribe to"
			if off {
				change = "unsubscribe from"
			}
			if err := m.changing(ctx, api.FleetChange{Change: change, Sessions: args}); err != nil {
				return err
			}
			ids := []sessions.ID{}
			for _, name := range args {
				s, err := m.all.Find(name)
				if err != nil {
					return err
				}
				if err := m.store.Subscribe(ctx, s.ID, me, off); err != nil {
					return err
				}
				ids = append(ids, s.ID)
			}
			if asJSON {
				return p.printJSON(map[string]any{"sessions": ids, "subscriber": me, "off": off})
			}
			if off {
				return p.printf("%s isn't told of %s any more.\n", m.all.Name(me), strings.Join(args, ", "))
			}
			return p.printf("%s is told of %s: `panebridge listen` prints it.\n", m.all.Name(me), strings.Join(args, ", "))
		}),
	}
	who.add(cmd)
	cmd.Flags().BoolVar(&off, "off", false, "not any more")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// fleetEntry is a fleet as `fleet list --json` prints it.
type fleetEntry struct {
	Name      string        `json:"name"`
	CreatedAt time.Time     `json:"created_at"`
	Director  sessions.ID   `json:"director,omitempty"`
	Members   []sessions.ID `json:"members"` // without the director
}

func newFleetList(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List fleets", Args: takes(0, 0),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, _ []string) error {
			fleets, err := m.store.Fleets(ctx)
			if err != nil {
				return err
			}
			list := []fleetEntry{}
			rows := [][]string{{"FLEET", "DIRECTOR", "MEMBERS"}}
			for _, f := range fleets {
				e := fleetEntry{Name: f.Name, CreatedAt: f.CreatedAt, Members: []sessions.ID{}}
				director, names := "-", []string{}
				for _, s := range m.all.Members(f.Name) {
					if s.Leads(f.Name) {
						e.Director, director = s.ID, s.Name
						continue
					}
					e.Members, names = append(e.Members, s.ID), append(names, s.Name)
				}
				list, rows = append(list, e), append(rows, []string{f.Name, director, strings.Join(names, ", ")})
			}
			if asJSON {
				return p.printJSON(list)
			}
			if len(list) == 0 {
				p.notef("There's no fleet; `panebridge fleet new NAME` makes one.")
				return nil
			}
			return p.printTable(rows)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// memberEntry is a member as `members --json` prints it.
type memberEntry struct {
	ID       sessions.ID    `json:"id"`
	Name     string         `json:"name"`
	Fleet    string         `json:"fleet"`
	Director bool           `json:"director"`
	You      bool           `json:"you"`
	State    sessions.State `json:"state"`
	// When it was shown mail last and sent some last; zero: never.
	LastReceived time.Time `json:"last_received,omitzero"`
	LastSent     time.Time `json:"last_sent,omitzero"`
	Unread       int       `json:"unread"` // open mail that it wasn't shown
}

func newMembers(p *invocation) *cobra.Command {
	var who whoFlag
	var fleet string
	var activity, asJSON bool
	cmd := &cobra.Command{
		Use:   "members",
		Short: "List the sessions of a fleet",
		Long: `List the sessions of your fleets, or of the one that's given, with their states (unknown
while the daemon is stopped), how long ago each was shown mail last, in its pane or by a
poll of its own, and how much it wasn't shown yet.`,
		Args: takes(0, 0),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, _ []string) error {
			me, err := m.who(who)
			self, _ := m.all.Get(me.Session())
			fleets := self.Fleets()
			if fleet != "" {
				fleets = []string{fleet}
			}
			if len(fleets) == 0 && err != nil {
				return err
			}
			if len(fleets) == 0 {
				return usageErrorf("%s is in no fleet; give --fleet, `panebridge fleet list` shows those there are", m.all.Name(me))
			}
			if err := m.store.Activity(ctx, m.all); err != nil {
				return err
			}
			return m.printMembers(ctx, fleets, self.ID, activity, asJSON)
		}),
	}
	who.add(cmd)
	cmd.Flags().StringVar(&fleet, "fleet", "", "another fleet's `NAME`")
	cmd.Flags().BoolVar(&activity, "activity", false, "with the times at which each was shown mail last, and sent some last")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (m *agentInbox) printMembers(ctx context.Context, fleets []string, self sessions.ID, activity, asJSON bool) error {
	list := []memberEntry{}
	head := []string{"NAME", "ID", "ROLE", "STATE", "RECEIVED", "UNREAD"}
	if activity {
		head = []string{"NAME", "ID", "ROLE", "STATE", "LAST RECEIVED", "LAST SENT", "UNREAD"}
	}
	if len(fleets) > 1 {
		head = append(head, "FLEET")
	}
	rows := [][]string{head}
	now := time.Now()
	stateOf, end := m.states(ctx)
	defer end()
	for _, fleet := range fleets {
		for _, s := range m.all.Members(fleet) {
			e := memberEntry{s.ID, s.Name, fleet, s.Leads(fleet), s.ID == self, s.State, s.LastReceived, s.LastSent, s.Unread}
			if s.State != sessions.StateEnded {
				e.State = stateOf(s.ID)
			}
			list, rows = append(list, e), append(rows, e.row(activity, len(fleets) > 1, now))
		}
	}
	if asJSON {
		return m.printJSON(list)
	}
	if len(list) == 0 {
		return fmt.Errorf("there's nobody in the fleet %q; `panebridge fleet list` shows those there are", strings.Join(fleets, " and "))
	}
	return m.printTable(rows)
}

// row is a member in a table.
func (e memberEntry) row(activity, fleet bool, now time.Time) []string {
	role := "member"
	if e.Director {
		role = "director"
	}
	if e.You {
		role += " (you)"
	}
	row := []string{e.Name, string(e.ID), role, string(e.State)}
	if activity {
		row = append(row, moment(e.LastReceived), moment(e.LastSent))
	} else {
		row = append(row, ago(e.LastReceived, now))
	}
	row = append(row, strconv.Itoa(e.Unread))
	if fleet {
		row = append(row, e.Fleet)
	}
	return row
}

// stateUnknown is the state of a session of which only the daemon could tell.
const stateUnknown = sessions.State("unknown")

// states returns a function that says what a session is doing, as the daemon knows it now, and one
// that must be called behind it. The database has only what a session was doing when it was written.
func (m *agentInbox) states(ctx context.Context) (of func(sessions.ID) sessions.State, end func()) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	c, err := m.dial()
	if err != nil {
		return func(sessions.ID) sessions.State { return stateUnknown }, cancel
	}
	of = func(id sessions.ID) sessions.State {
		if now, err := c.State(ctx, string(id)); err == nil {
			return now
		}
		return stateUnknown
	}
	return of, func() { c.Close(); cancel() }
}
