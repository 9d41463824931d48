package push_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/push/pushstoretest"
	"github.com/panebridge/panebridge/internal/push/pushtest"
	"github.com/panebridge/panebridge/sessions"
)

// secret stands in everything that sessions have, and must not leave.
const secret = "hunter2"

func masked(text string) string { return strings.ReplaceAll(text, secret, "[masked]") }

// world is what a Pusher is told of, with a push service that it reaches by a pipe. It's made in a bubble.
type world struct {
	service *pushtest.Service
	store   *pushstoretest.Memory
	pusher  *push.Pusher
	feed    *sessions.Feed
	network *memnet.Network
	roots   push.Route

	mu      sync.Mutex
	prompts []sessions.Prompt
	names   map[sessions.ID]string
	barred  map[string]bool // browsers that may see nothing any more

	stopService, stop func()
	failed            error // of parts that have ended
}

const (
	origin    = "https://push.example"
	ringAfter = 30 * time.Second
	// sayingTurn is the turn of which it's known what it said.
	sayingTurn = 1000
)

func newWorld() (*world, error) {
	w := &world{
		service: &pushtest.Service{Origin: origin}, store: pushstoretest.New(), network: memnet.New(),
		names: map[sessions.ID]string{}, barred: map[string]bool{},
	}
	certificate, roots, err := pushtest.Certificate("push.example")
	if err != nil {
		return nil, err
	}
	w.roots = push.Route{
		Roots: roots, Dial: w.network.Dial,
		Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("192.0.1.7")}, nil
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- memnet.Serve(ctx, tls.NewListener(w.network, &tls.Config{Certificates: []tls.Certificate{certificate}}), w.service)
	}()
	w.stopService = func() { cancel(); w.failed = errors.Join(w.failed, <-ended) }
	return w, w.start()
}

// start begins a run of the daemon on the store that there is.
func (w *world) start() error {
	w.feed = &sessions.Feed{}
	w.pusher = push.New(push.Options{
		Store: w.store, Notes: w.store, Route: w.roots, Mask: masked,
		RingAfter: func() time.Duration { return ringAfter },
		Words: func(_ context.Context, _ sessions.ID, t sessions.Turn) (string, error) {
			if t.Number == sayingTurn {
				return masked("All is " + secret + "."), nil
			}
			return "", errors.New("the log can't be read")
		},
		Prompts: func() []sessions.Prompt {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.prompts)
		},
		Name: func(id sessions.ID) (string, bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			name, ok := w.names[id]
			return masked(name), ok
		},
		May: func(browser string, _ time.Time) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return !w.barred[browser]
		},
	})
	if err := w.pusher.Load(context.Background()); err != nil {
		return err
	}
	w.pusher.Follow(w.feed)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.pusher.Run(ctx) }()
	w.stop = func() { cancel(); w.failed = errors.Join(w.failed, <-ended) }
	return nil
}

func (w *world) end() error {
	w.stop()
	w.stopService()
	return errors.Join(w.failed, w.network.Close())
}

// name makes a session, or another name of it.
func (w *world) name(id sessions.ID, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[id] = name
}

// ask has a session ask, masked as it is for chats.
func (w *world) ask(id sessions.ID, prompt, title string) {
	w.askOf(id, prompt, sessions.Dialog{Title: masked(title)})
}

func (w *world) askOf(id sessions.ID, prompt string, d sessions.Dialog) {
	p := sessions.Prompt{ID: prompt, Session: id, State: sessions.PromptOpen, Dialog: d, OpenedAt: time.Now()}
	w.mu.Lock()
	w.prompts = append(w.prompts, p)
	w.mu.Unlock()
	w.feed.PublishPrompt(p)
}

// answer ends a session's questions.
func (w *world) answer(id sessions.ID) {
	w.mu.Lock()
	w.prompts = slices.DeleteFunc(w.prompts, func(p sessions.Prompt) bool { return p.Session == id })
	w.mu.Unlock()
	w.feed.PublishPrompt(sessions.Prompt{Session: id, State: sessions.PromptAnswered})
}

func (w *world) subscribe(browser string, d *pushtest.Device, wishes push.Wishes) error {
	return w.pusher.Subscribe(context.Background(), time.Now(), push.Subscription{Browser: browser, Endpoint: d.Endpoint, Key: d.Key, Auth: d.Auth, Wishes: wishes})
}

func (w *world) change(browser string, wishes push.Wishes) error {
	return w.pusher.Subscribe(context.Background(), time.Now(), push.Subscription{Browser: browser, Wishes: wishes})
}

// all are the wishes of a device that wants to be told of everything.
func all() push.Wishes { return push.Wishes{Questions: true, Ends: true, Errors: true} }
