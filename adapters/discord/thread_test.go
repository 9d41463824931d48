package discord_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// A session's thread is made when it has something to say, follows its name as often as
// Discord lets it, and is archived when it has ended; a deleted one is made anew.
func TestLifeOfAThread(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		for i, channel := range []string{w.agents, w.posts} {
			b := w.bridge(adapters.MirrorRule{Session: "*", To: target(channel, "")})
			b.Start()
			b.Begin(first, "api")
			after(time.Minute)
			if n := len(w.Threads(channel)); n != 0 {
				w.Errorf("a session that has said nothing has %d threads", n)
			}
			b.Print(first, adaptertest.Output{Lines: lines(1, 3)})
			after(time.Minute)
			gone := b.thread(channel, "api").ID
			if err := w.ada.DeleteChannel(gone); err != nil {
				w.Fatal(err)
			}
			b.Print(first, adaptertest.Output{Lines: lines(4, 3)})
			after(time.Minute)
			thread := b.thread(channel, "api").ID
			if thread == gone {
				w.Error("the deleted thread is there")
			}
			for n := range 10 {
				b.House.Rename(first, fmt.Sprint("api ", n))
				after(30 * time.Second)
			}
			after(20 * time.Minute)
			if state, _ := w.Channel(thread); state.Name != "api 9" || len(state.Names) > 3 {
				w.Errorf("after ten renames in five minutes, the thread is %+v", state)
			}
			b.End(first)
			after(time.Minute)
			state, _ := w.Channel(thread)
			if !state.Archived || len(w.Threads(channel)) != 1 {
				w.Errorf("the session has ended, and its thread is %+v", state)
			}
			b.Stop()
			if i == 0 {
				continue
			}
			if m := w.Messages(thread)[0]; m.ID != thread || m.Content != `**api**` || m.Rang {
				w.Errorf("the post begins with %+v", m)
			}
		}
		for _, r := range w.Refusals() {
			if r.Code != 10003 { // it was deleted by a person, and the first call finds out
				w.Errorf("%s was refused: %d %s", r.Call, r.Code, r.Error)
			}
		}
	})
}

// A call for a thread isn't answered, and nobody knows whether it was made; nor is it
// known when it's looked for. In the end there's one, with all that was said; and it's
// neither a person's nor another session's.
func TestAThreadInDoubtIsMadeOnce(t *testing.T) {
	for _, cut := range []discordtest.Cut{discordtest.CutBefore, discordtest.CutAfter} {
		inBubble(t, discordtest.Options{}, func(w *world) {
			for _, channel := range []string{w.agents, w.posts} {
				b := w.bridge(adapters.MirrorRule{Session: "*", To: target(channel, "")})
				b.Start()
				b.Begin(sessionID(1), "api")
				b.Print(sessionID(1), adaptertest.Output{Lines: lines(1, 3)})
				after(time.Minute)
				anothers := b.thread(channel, "api").ID
				persons := w.begun(channel, "api")

				w.Inject(discordtest.Fault{Call: "StartThread", Times: 2, Cut: cut})
				w.Inject(discordtest.Fault{Call: "GetActiveThreads", Times: 1, Cut: discordtest.CutAfter})
				b.Begin(sessionID(2), "api")
				b.Print(sessionID(2), adaptertest.Output{Lines: lines(4, 3)})
				after(time.Second)
				b.Kill()
				b.Stop()
				b.Start()
				after(5 * time.Minute)
				if n := len(w.Threads(channel)); n != 3 {
					w.Errorf("%v: there are %d threads", cut, n)
				}
				own := b.thread(channel, "api").ID
				if own == anothers || own == persons {
					w.Errorf("%v: it's in a thread that isn't its own", cut)
				}
				b.compare(anothers, sessionID(1))
				b.compare(own, sessionID(2))
				b.Stop()
			}
			w.noRefusals()
		})
	}
}

// begun is a thread or post that a person has begun.
func (w *world) begun(channel, name string) string {
	w.Helper()
	begin := func() (string, error) { return w.ada.CreateThread(channel, name) }
	if channel == w.posts {
		begin = func() (string, error) { return w.ada.CreatePost(channel, name, "what's said of it") }
	}
	id, err := begin()
	if err != nil {
		w.Fatal(err)
	}
	return id
}

// Others make threads too, and so Discord wants none for minutes. Nobody asks again
// before that; messages and replies go on meanwhile, wherever they are.
func TestWaitingForThreads(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		const order = 280 * time.Second
		w.Inject(discordtest.Fault{Call: "StartThread", Times: 1, RetryAfter: order, Scope: discordtest.ScopeShared})
		b := w.bridge(
			adapters.MirrorRule{Session: "agent-*", To: target(w.agents, "")}, adapters.MirrorRule{Session: "post-*", To: target(w.posts, "")},
			adapters.MirrorRule{Session: "plain", To: target(w.plain, "")},
		)
		b.Start()
		defer func() { b.Stop() }()
		for i := range 3 {
			b.Begin(sessionID(i), fmt.Sprint("agent-", i))
			b.Begin(sessionID(i+10), fmt.Sprint("post-", i))
		}
		b.Begin(sessionID(20), "plain")
		replied := 0
		for minute := range 4 {
			for _, i := range []int{0, 1, 2, 10, 11, 12, 20} {
				b.Print(sessionID(i), adaptertest.Output{Lines: lines(10*minute, 2), Ends: true})
			}
			err := b.Hub.Post(adapters.Post{
				To: target(w.agents, ""), Key: fmt.Sprint(minute), Class: qos.Interactive, Text: "all is well",
				Sent: func(_ string, err error) {
					if err == nil {
						replied++
					}
				},
			})
			if err != nil {
				w.Fatal(err)
			}
			after(time.Minute)
			if n := len(w.CallsTo("StartThread")); n != 1 || replied != minute+1 {
				w.Errorf("after %d min: %d calls for a thread, %d replies", minute+1, n, replied)
			}
			b.compare(w.plain, sessionID(20))
		}
		after(2 * time.Minute)
		for i := range 3 {
			b.compare(b.thread(w.agents, fmt.Sprint("agent-", i)).ID, sessionID(i))
			b.compare(b.thread(w.posts, fmt.Sprint("post-", i)).ID, sessionID(i+10))
		}
		calls := w.CallsTo("StartThread")
		if waited := calls[1].At.Sub(calls[0].At); waited < order || waited > order+5*time.Second {
			w.Errorf("it was asked again after %v", waited)
		}
		w.noRefusals()
	})
}

// Fifty sessions want threads at once: that takes its time, and no refusal.
func TestManyThreads(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.agents, "")})
		b.Start()
		defer func() { b.Stop() }()
		for i := range 50 {
			b.Begin(sessionID(i), fmt.Sprint("agent-", i))
			b.Print(sessionID(i), adaptertest.Output{Lines: lines(1, 2)})
		}
		after(15 * time.Minute)
		for i := range 50 {
			b.compare(b.thread(w.agents, fmt.Sprint("agent-", i)).ID, sessionID(i))
		}
		w.noRefusals()
	})
}

// A person archives or locks a thread. Bots that manage threads go on in it.
func TestArchivedAndLockedThreads(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.agents, "")})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(1, 2)})
		after(time.Minute)
		thread := b.thread(w.agents, "api").ID
		for i, do := range []func(string) error{w.ada.Archive, w.ada.Lock} {
			if err := do(thread); err != nil {
				w.Fatal(err)
			}
			b.Print(first, adaptertest.Output{Lines: lines(10*i, 2)})
			after(time.Minute)
			b.compare(thread, first)
			if state, _ := w.Channel(thread); state.Archived {
				w.Errorf("the thread is %+v", state)
			}
		}
	})
}

// A thread that a person has closed can be opened, a locked one too if the bot may; who
// may only write there opens one that's archived.
func TestClosedThreadsAreOpened(t *testing.T) {
	for _, c := range []struct {
		name  string
		close func(p *discordtest.Person, thread string) error
		deny  discordtest.Permission
		opens bool
	}{
		{"archived", (*discordtest.Person).Archive, 0, true},
		{"archived, and the bot doesn't manage threads", (*discordtest.Person).Archive, discordtest.ManageThreads, true},
		{"locked", (*discordtest.Person).Lock, 0, true},
		{"locked, and the bot doesn't manage threads", (*discordtest.Person).Lock, discordtest.ManageThreads, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				thread := w.must(w.ada.CreateThread(w.agents, "agent"))
				w.house.TextChannel("agents").Deny(c.deny)
				w.noErr(c.close(w.ada, thread))
				r := w.adapter(nil).Call(w.Context(), adapters.Op{Kind: adapters.KindOpen, Target: target(w.agents, thread)})
				now, _ := w.Channel(thread)
				if opened := r.Outcome == qos.Delivered && !now.Archived && !now.Locked; opened != c.opens || !opened && r.Outcome != qos.Rejected {
					t.Errorf("%+v, and the thread is %+v", r, now)
				}
			})
		})
	}
}

// Threads that can be made and not written to are no reason to make one after the other: once
// anew, then all is shown in the channel itself, and another is tried seldom. A forum channel
// has no such place: what's wrong is said, and nothing is lost.
func TestThreadsThatCantBeWrittenTo(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		for _, channel := range []string{w.agents, w.posts} {
			b := w.bridge(adapters.MirrorRule{Session: "*", To: target(channel, "")})
			b.Start()
			id := map[string]sessions.ID{w.agents: first, w.posts: "pb_000000000002"}[channel]
			b.Begin(id, "api")
			b.Print(id, adaptertest.Output{Lines: lines(1, 3), Ends: true})
			after(time.Minute)
			deaf := regexp.MustCompile("/channels/(?:" + w.agents + "|" + w.posts + ")/messages")
			var made atomic.Int32
			w.fate.Store(new(func(r *http.Request, _ []byte) faults.Fate {
				switch {
				case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/threads"):
					made.Add(1)
				case r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/messages") && !deaf.MatchString(r.URL.Path):
					return faults.Fate{Lost: true, Answer: &faults.Answer{Status: http.StatusNotFound, Body: `{"message":"Unknown Channel","code":10003}`}}
				}
				return faults.Fate{}
			}))
			for i := range 5 {
				b.Print(id, adaptertest.Output{Lines: lines(4+3*i, 3), Ends: true})
				after(time.Minute)
				if channel == w.agents { // a login tells that the server is there: that's no reason either
					w.noErr(b.Hub.ReviveChat(w.Context(), discord.Name, channel))
				}
			}
			if n := made.Load(); n != 1 {
				w.Errorf("%d threads were made in five minutes", n)
			}
			st := b.Hub.Status(id)[0]
			if channel == w.agents && (!strings.Contains(st.Problem(), "its thread can't be written to") || st.Delivered < 18) {
				w.Errorf("the binding is %+v", st)
			}
			if channel == w.posts && !strings.Contains(st.Problem()+st.Binding.Disabled, "its threads can't be written to") {
				w.Errorf("the binding is %+v", st)
			}
			w.fate.Store(nil)
			after(time.Hour)
			b.Print(id, adaptertest.Output{Lines: lines(19, 3), Ends: true})
			after(time.Minute)
			st = b.Hub.Status(id)[0]
			if st.Problem() != "" || st.Binding.Disabled != "" || st.Delivered < 21 || st.Target.Thread == "" {
				w.Errorf("threads work again, and the binding is %+v", st)
			}
			b.Stop()
		}
	})
}
