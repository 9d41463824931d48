package inbound_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

const (
	fay = "chat:50"
	gus = "chat:51"
)

// privateOf is a person's private chat with the bot.
func privateOf(person string) adapters.Target {
	return adapters.Target{Adapter: "chat", Chat: strings.TrimPrefix(person, "chat:")}
}

func (w *world) sayIn(place adapters.Target, person, text string) {
	w.Helper()
	ev := w.event(person, intake.Said{Text: text})
	ev.Place, ev.Private = place, place != group
	w.do(ev)
}

// pair has a person use a code of somebody's.
func (w *world) pair(place adapters.Target, person string, role access.Role, by string) {
	w.Helper()
	code, _, err := w.in.MakePairingCode(context.Background(), role, by)
	if err != nil {
		w.Fatal(err)
	}
	w.sayIn(place, person, "/pair "+code)
}

// may says whether a person's command is answered in their private chat.
func (w *world) may(person string) bool {
	w.Helper()
	w.hub.take()
	w.sayIn(privateOf(person), person, "/status")
	return len(w.hub.take()) > 0
}

func (w *world) listed(person string) []access.ListedGrant {
	return slices.DeleteFunc(w.in.ListAccess(), func(l access.ListedGrant) bool { return l.Person != person })
}

func TestWhatWasGivenIsListedAndTakenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pair(privateOf(fay), fay, access.Operator, cleo)
		w.pass(time.Hour)
		if !w.may(fay) {
			t.Fatal("who was paired may nothing")
		}
		w.restart()
		if l := w.listed(fay); len(l) != 1 || l[0].By != cleo || l[0].Role != access.Operator || l[0].Config || l[0].Void != "" || l[0].Used.Sub(l[0].At) != time.Hour {
			t.Errorf("listed is %+v", l)
		}
		w.hub.take()
		w.sayIn(privateOf(cleo), cleo, "/access")
		if posts := w.hub.take(); len(posts) != 1 || !strings.Contains(strings.ReplaceAll(posts[0].Text, `\`, ""), "chat:50 (Somebody): **operator**, by chat:3, ") {
			t.Errorf("it says %+v", posts)
		}
		w.sayIn(privateOf(ann), ann, "/access revoke chat:50")
		w.wantPosts("takes the role admin")
		w.sayIn(privateOf(cleo), cleo, "/access revoke chat:50")
		w.wantPosts("chat:50 has no access any more")
		for range 2 { // it stays so after a restart
			if w.may(fay) || len(w.listed(fay)) != 0 {
				t.Errorf("they go on: %+v", w.listed(fay))
			}
			w.restart()
		}
		w.hub.take()
		w.sayIn(privateOf(cleo), cleo, "/access grant chat:50 viewer")
		w.wantPosts("chat:50 may do what the role viewer says")
		if !w.may(fay) {
			t.Error("what was given by name gives nothing")
		}
		rest, err := w.in.RevokeRoles(t.Context(), ann, "", "cli")
		if err != nil || !maps.Equal(rest, roles(access.Operator)) || !w.may(ann) {
			t.Errorf("the configuration's: %v, %v", rest, err)
		}
		if _, err := w.in.RevokeRoles(t.Context(), gus, "", "cli"); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("nobody's: %v", err)
		}
		for _, wrong := range []string{"", "fay", "chat:", "other:1", "chat:-5", "chat:1 2", "chat:1/2"} {
			if err := w.in.GiveRole(t.Context(), wrong, access.Viewer, "cli"); !errors.Is(err, sessions.ErrInvalid) {
				t.Errorf("given to %q: %v", wrong, err)
			}
		}
	})
}

// What a group gave ends with its person's leaving, private chats and what's mirrored
// there too, whether the platform tells or is asked.
func TestWhoLeavesAGroupMayNothing(t *testing.T) {
	for name, leave := range map[string]func(w *world){
		"told": func(w *world) {
			w.do(w.event(fay, intake.Left{Person: fay}))
		},
		"asked": func(w *world) {
			w.chat.with(func(c *chat) { c.gone = map[string]bool{fay: true} })
			w.pass(time.Minute)
			if w.may(fay) {
				w.Error("an ex-member goes on")
			}
		},
		"found": func(w *world) { // who only reads does nothing
			w.chat.with(func(c *chat) { c.gone = map[string]bool{fay: true} })
			w.pass(time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.pair(group, fay, access.Operator, "cli")
				w.pair(privateOf(gus), gus, access.Operator, "cli")
				if !w.may(fay) || !w.may(gus) {
					t.Fatal("who was paired may nothing")
				}
				s, err := w.manager.Get("agent")
				if err != nil {
					t.Fatal(err)
				}
				w.bind(s.ID, privateOf(fay), true)
				w.bind(s.ID, privateOf(gus), true)
				leave(w)
				w.pass(time.Minute)
				for _, b := range w.hub.Status(s.ID) {
					if gone := b.Target == privateOf(fay); gone == b.Open && b.Target != group {
						t.Errorf("%s is open: %v", b.Target, b.Open)
					}
				}
				for range 2 {
					if l := w.listed(fay); w.may(fay) || len(l) != 1 || !strings.Contains(l[0].Void, "left chat:-1") {
						t.Errorf("an ex-member goes on: %+v", l)
					}
					if !w.may(gus) {
						t.Error("somebody else doesn't")
					}
					w.restart()
				}
				w.chat.with(func(c *chat) { c.gone = nil }) // whoever is back needs another code
				w.pass(time.Hour)
				if w.may(fay) {
					t.Error("who's back goes on")
				}
				w.pair(group, fay, access.Viewer, "cli")
				if !w.may(fay) {
					t.Error("another code gives nothing")
				}
			})
		})
	}
}

// Where nobody can tell who's in a group, what it gave ends with its time.
func TestPairingsEndWhereMembersCantBeRead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pair(group, fay, access.Operator, "cli")
		w.pass(10 * 24 * time.Hour)
		w.chat.with(func(c *chat) { c.unread = errors.New("the member list is inaccessible") })
		w.pass(29 * 24 * time.Hour)
		if !w.may(fay) {
			t.Error("it has ended too early")
		}
		w.pass(25 * time.Hour)
		if l := w.listed(fay); w.may(fay) || !strings.Contains(l[0].Void, "nobody could tell for") {
			t.Errorf("it goes on: %+v", l)
		}
	})
}

// What somebody gave counts as long as they could give it again: who's taken out of the
// configuration takes nothing along, whatever they gave to themselves or by way of others.
func TestWhatAnExAdminGaveIsVoid(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pair(privateOf(cleo), cleo, access.Admin, cleo) // to herself
		w.pair(privateOf(fay), fay, access.Admin, cleo)
		w.pair(privateOf(gus), gus, access.Admin, fay)
		w.pair(privateOf(cleo), cleo, access.Operator, gus) // and back
		for _, who := range []string{cleo, fay, gus} {
			if !w.may(who) {
				t.Fatalf("%s may nothing", who)
			}
		}
		w.in.SetAccess(access.Config{Chats: []adapters.Target{group}})
		for _, who := range []string{cleo, fay, gus} {
			if w.may(who) {
				t.Errorf("%s goes on: %+v", who, w.listed(who))
			}
		}
		if err := w.in.GiveRole(t.Context(), fay, access.Admin, "cli"); err != nil {
			t.Fatal(err)
		}
		if w.may(cleo) == false || !w.may(gus) || !w.may(fay) {
			t.Error("what an admin gave who is one again doesn't count")
		}
	})
}

// Whatever was given, left, taken back and reloaded, a person may do something if, and only
// if, a chain of people who may give it leads from the configuration or the owner to them.
func TestAccessHistories(t *testing.T) {
	people := []string{"chat:1", "chat:2", "chat:3", "chat:4"}
	type given struct {
		role access.Role
		by   string
		in   bool // by the group
	}
	inWorld(t, func(w *world) {
		drawtest.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			config, grants, void := map[string]access.Roles{}, map[string]map[access.Role]given{}, map[string]bool{}
			w.chat.with(func(c *chat) { c.gone = map[string]bool{} })
			for _, p := range people {
				_, _ = w.in.RevokeRoles(context.Background(), p, "", "cli")
				grants[p] = map[access.Role]given{}
			}
			w.in.SetAccess(access.Config{Roles: config, Chats: []adapters.Target{group}})
			admin := func(p string) bool {
				seen := map[string]bool{}
				var is func(p string) bool
				is = func(p string) bool {
					if p == "cli" || config[p][access.Admin] {
						return true
					}
					if seen[p] {
						return false
					}
					seen[p] = true
					defer delete(seen, p)
					g, ok := grants[p][access.Admin]
					return ok && (!g.in || !void[p]) && is(g.by)
				}
				return is(p)
			}
			for range rapid.IntRange(1, 25).Draw(rt, "steps") {
				p := rapid.SampledFrom(people).Draw(rt, "person")
				role := rapid.SampledFrom([]access.Role{access.Viewer, access.Operator, access.Admin, access.Admin}).Draw(rt, "role")
				switch rapid.IntRange(0, 5).Draw(rt, "step") {
				case 0, 1, 2:
					by := rapid.SampledFrom(append([]string{"cli"}, people...)).Draw(rt, "by")
					inGroup := rapid.Bool().Draw(rt, "in the group")
					if inGroup && void[p] {
						continue // who isn't in there can't write there
					}
					place := privateOf(p)
					if inGroup {
						place = group
					}
					w.pass(11 * time.Minute) // the time of codes that weren't used
					w.pair(place, p, role, by)
					grants[p][role] = given{role, by, inGroup}
				case 3:
					_, _ = w.in.RevokeRoles(context.Background(), p, role, "cli")
					delete(grants[p], role)
				case 4:
					void[p] = true
					w.chat.with(func(c *chat) { c.gone[p] = true })
					for r, g := range grants[p] {
						if g.in {
							delete(grants[p], r)
						}
					}
					w.do(w.event(p, intake.Left{Person: p}))
				case 5:
					config = maps.Clone(config)
					if config[p] != nil {
						delete(config, p)
					} else {
						config[p] = roles(role)
					}
					w.in.SetAccess(access.Config{Roles: config, Chats: []adapters.Target{group}})
				}
				w.hub.take()
			}
			for _, p := range people {
				want := len(config[p]) > 0
				for _, g := range grants[p] {
					want = want || admin(g.by)
				}
				if got := w.may(p); got != want {
					rt.Fatalf("%s may: %v, want %v; %+v", p, got, want, w.in.ListAccess())
				}
			}
		})
	})
}
