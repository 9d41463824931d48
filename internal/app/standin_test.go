package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/standin"
	"github.com/panebridge/panebridge/sessions"
)

// standinTick is the cadence of the sessions here. A question that stands for two of
// them must be found, and one that's over must be closed everywhere within two.
const standinTick = 500 * time.Millisecond

// standinRig is a daemon with both chat platforms and agent programs that are played.
type standinRig struct {
	*daemon
	telegram *telegramtest.Server
	discord  *discordtest.Server
	forum    int64
	channel  string
	onTele   *telegramtest.Person
	onDisc   *discordtest.Person

	mu      sync.Mutex
	prompts map[string]*heardPrompt // by id
	order   []*heardPrompt
	bySess  map[sessions.ID]*standinPlay
	seeds   map[uint64]bool // the last digits of those that are used: names, tags and texts are made of them
}

// heardPrompt is what the daemon said of a prompt.
type heardPrompt struct {
	first, last api.Prompt
	opened      time.Time // when it was heard of
	closed      time.Time // when it was heard to be over
	answering   []span    // when an answer counted
	states      []string
}

type span struct{ from, to time.Time }

// standinPlay is one agent program in a pane.
type standinPlay struct {
	rig     *standinRig
	play    standin.Play
	session api.Session
	rand    *rand.Rand // of its people
	inputs  []*askedInput
	mu      sync.Mutex
	asked   chan *heardPrompt
	acts    map[string]*standinAct // by prompt
}

// askedInput is a text that somebody sent.
type askedInput struct {
	text, from string
	at         time.Time
	receipt    sessions.Receipt // of the API
	message    string           // of a chat
	err        error
}

// act is what somebody did about a prompt.
type standinAct struct {
	how     string
	labels  []string // asked for
	text    string
	err     error  // what the API said
	told    string // what the chat said
	pressed time.Time
}

func newStandinRig(t *testing.T) *standinRig {
	t.Helper()
	r := &standinRig{prompts: map[string]*heardPrompt{}, bySess: map[sessions.ID]*standinPlay{}, seeds: map[uint64]bool{}}
	much := []telegramtest.Window{{Calls: 100000, Per: time.Minute}}
	r.telegram = telegramtest.New(telegramtest.Options{Limits: telegramtest.Limits{Group: much, Private: much, Bot: much, Typing: much}})
	r.onTele = r.telegram.AddUser(telegramtest.User{FirstName: "T"})
	r.forum = r.telegram.AddForum("Agents", r.onTele)
	wide := discordtest.Window{Calls: 100000, Per: time.Minute}
	r.discord = discordtest.New(discordtest.Options{Limits: discordtest.Limits{
		Global: wide, OldEdits: wide, Threads: wide, ActiveThreads: 1000,
		Routes: map[string]discordtest.Window{"CreateMessage": wide, "EditMessage": wide, "React": wide, "Typing": wide, "StartThread": wide, "CreateFollowup": wide, "EditFollowup": wide, "JoinThread": wide},
	}})
	guild := r.discord.Guild("house")
	r.channel = guild.TextChannel("agents").ID
	r.onDisc = r.discord.Person("D")
	d := newDaemon(t)
	d.stop()
	r.daemon = d
	d.cfg.Polling.OutputCadence, d.cfg.Polling.FocusCadence = config.Seconds(standinTick.Seconds()), 0.2
	d.mirror("*", r.telegram, r.forum, r.discord, guild.ID, r.channel)
	telegramConfig(d.cfg).QoS.Mode, discordConfig(d.cfg).QoS.Mode = "off", "off"
	roles := []string{"telegram:" + strconv.FormatInt(r.onTele.ID, 10), "discord:" + r.onDisc.ID}
	d.cfg.Access.Operators, d.cfg.Access.Approvers = roles, roles
	d.start()
	d.await("the gateway", func() bool { return r.discord.Gateways() == 1 })
	r.listen()
	return r
}

// listen notes what's said of prompts.
func (r *standinRig) listen() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	r.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		_ = r.api.Events(ctx, "", "", func(e client.Event) error {
			if e.Name != api.EventPrompt {
				return nil
			}
			var p api.Prompt
			if err := json.Unmarshal(e.Data, &p); err != nil {
				r.Error(err)
			}
			r.hear(p, time.Now())
			return nil
		})
	}()
}

func (r *standinRig) hear(p api.Prompt, now time.Time) {
	r.mu.Lock()
	h := r.prompts[p.ID]
	fresh := h == nil
	if fresh {
		h = &heardPrompt{first: p, opened: now}
		r.prompts[p.ID] = h
		r.order = append(r.order, h)
	}
	h.last = p
	h.states = append(h.states, string(p.State))
	if n := len(h.answering); n > 0 && h.answering[n-1].to.IsZero() && p.State != sessions.PromptAnswering {
		h.answering[n-1].to = now
	}
	switch p.State {
	case sessions.PromptAnswering:
		h.answering = append(h.answering, span{from: now})
	case sessions.PromptAnswered, sessions.PromptClosed:
		h.closed = now
	case sessions.PromptOpen:
	}
	one := r.bySess[p.Session]
	r.mu.Unlock()
	if fresh && one != nil {
		one.asked <- h
	}
}

// play starts a program.
func (r *standinRig) play(agent string, seed uint64, dialogs int) *standinPlay {
	r.Helper()
	exe, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	for r.seeds[seed%1000] {
		seed++
	}
	r.seeds[seed%1000] = true
	name := fmt.Sprintf("%s-%d", agent, seed%1000)
	home := filepath.Join(r.dir, name)
	one := &standinPlay{
		rig: r, rand: rand.New(rand.NewPCG(seed, 2)), asked: make(chan *heardPrompt, 1000), acts: map[string]*standinAct{},
		play: standin.Play{Agent: agent, Seed: seed, Dialogs: dialogs, Home: home, Journal: filepath.Join(r.dir, name+".journal")},
	}
	line, err := one.play.Command(exe)
	if err != nil {
		r.Fatal(err)
	}
	r.mu.Lock()
	one.session, err = r.api.NewSession(r.ctx(), api.Create{Name: name, Cwd: r.dir, Command: []string{"sh", "-c", "echo begun; " + line}})
	r.bySess[one.session.ID] = one
	r.mu.Unlock()
	if err != nil {
		r.Fatal(err)
	}
	return one
}

func (p *standinPlay) journal() []standin.Entry {
	all, err := standin.ReadJournal(p.play.Journal)
	if err != nil {
		p.rig.Error(err)
	}
	return all
}

// keyboard presses keys as a person does at the pane.
func (p *standinPlay) keyboard(keys ...string) {
	args := []string{"-S", p.rig.socket, "send-keys", "-t", p.session.Tmux.Pane, "-H"}
	for _, b := range standin.Person(keys...) {
		args = append(args, strconv.FormatUint(uint64(b), 16))
	}
	_ = exec.Command("tmux", args...).Run() // its pane may be gone
}
