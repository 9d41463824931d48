// Package folder mirrors sessions to files, and takes what people write into a file as input. It's the
// smallest platform there is, and the example of docs/adapters.md.
//
// A chat is a folder below the one that's configured, a thread a folder in it, a message a file:
//
//	PATH/agents/1.txt            a message; it's written anew as text is added
//	PATH/agents/2/title.txt      a thread
//	PATH/agents/2/3.txt          a message in it
//	PATH/agents/2/4-output.txt   what's attached to message 4
//	PATH/agents/2/say.txt        what somebody writes: taken a second after its last change
//
// Who may read and write there the file system decides; who may do what, access in the configuration:
// a person is the number of the user to whom a file belongs ("folder:1000").
package folder

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/qos"
)

// Name is what the platform is called in targets: "folder:agents".
const Name = "folder"

// Config is a folder, as it's configured.
type Config struct {
	Enabled bool       `yaml:"enabled" doc:"Whether to write there."`
	Path    string     `yaml:"path" is:"absolute_path" eg:"/home/me/sessions" doc:"An existing folder that only those may write to who may use panebridge."`
	Names   []string   `yaml:"names" is:"name" reload:"yes" doc:"Names of folders below it that sessions can be bound to."`
	QoS     config.QoS `yaml:"qos" reload:"yes" doc:"How calls are shared out; a file takes as many as are made."`
}

// Check implements config.Checker.
func (c *Config) Check(p config.Part) {
	if c.Enabled && c.Path == "" && p.Sound("path") {
		p.Problem("path", "must be given when enabled is true")
	}
}

// IsEnabled implements config.Section, as the next two do.
func (c *Config) IsEnabled() bool { return c.Enabled }

// ChatIDs are the names.
func (c *Config) ChatIDs() []string { return c.Names }

// Pace is its QoS.
func (c *Config) Pace() config.QoS { return c.QoS }

// idForm is what names of chats and numbers of threads look like.
var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Descriptor is what's known of folders before one is written to.
func Descriptor() platform.Descriptor {
	return platform.Descriptor{
		PlatformForm: config.PlatformForm{Name: Name, Doc: "Files in a folder.", Default: defaults, IsID: idForm.MatchString},
		Title:        "Folder", Limits: limits,
		New: func(_ context.Context, s config.Section, host platform.Host) (platform.Platform, error) {
			return newRunning(s.(*Config), host, &files{path: s.(*Config).Path}), nil //nolint:forcetypeassert // defaults makes it
		},
	}
}

func defaults() config.Section {
	c := &Config{QoS: config.DefaultQoS()}
	c.QoS.Mode, c.QoS.GroupMPM, c.QoS.RoundingMS = "coalesce_only", 600, 1000
	return c
}

func limits() qos.Limits { // which nobody notices who reads along
	all := qos.Limit{Windows: []qos.Window{{Calls: 600, Per: time.Minute}}}
	return qos.Limits{Bot: all, Group: all, Private: all}
}

// running is a folder that's written to. Its writer is files; tests have one that has bad days.
type running struct {
	writer
	queue *intake.Queue
	chats atomic.Pointer[[]string]
	host  platform.Host
}

type writer interface {
	Call(ctx context.Context, op adapters.Op) adapters.Reply
}

func newRunning(cfg *Config, host platform.Host, w writer) *running {
	r := &running{writer: w, host: host}
	r.queue = intake.NewQueue(intake.QueueOptions{Journal: host.Journal, Decode: decode, Commands: host.Commands, Handle: host.Handle, GaveUp: host.GaveUp, Logger: host.Logger})
	r.Reload(cfg)
	return r
}

func (r *running) Outbound() adapters.Adapter     { return r }
func (r *running) Inbound() intake.InboundAdapter { return reader{} }

func (r *running) Reload(section config.Section) {
	r.chats.Store(&section.(*Config).Names) //nolint:forcetypeassert // defaults makes it
}

func (r *running) Name() string                       { return Name }
func (r *running) Chat(t adapters.Target) qos.ChatKey { return qos.ChatKey(t.Chat) }
func (r *running) Options() qos.Options               { return qos.Options{Limits: limits()} }

// Check implements adapters.Adapter.
func (r *running) Check(t adapters.Target) error {
	if !idForm.MatchString(t.Chat) || t.Thread != "" && !idForm.MatchString(t.Thread) {
		return fmt.Errorf("%q is no name of a folder here: letters, digits, _ and -", t.Chat)
	}
	if slices.Contains(*r.chats.Load(), t.Chat) || r.host.Knows != nil && r.host.Knows(t) {
		return nil
	}
	return fmt.Errorf("folder %s is not known: add it to adapters.folder.names", t.Chat)
}

// Shape implements adapters.Adapter.
func (r *running) Shape(t adapters.Target) adapters.Shape {
	return adapters.Shape{MaxLen: 4000, MaxFile: 4 << 20, MaxCaption: 500, Threads: "folder", OwnThread: t.Thread == ""}
}

// Post implements adapters.Poster. Buttons are refused: what's written in their place comes then.
func (r *running) Post(ctx context.Context, p adapters.Post, message string) adapters.Reply {
	if len(p.Buttons) > 0 || len(p.Menus) > 0 || p.IsSign() {
		return adapters.Reply{Outcome: qos.Rejected, Content: true, Err: errOnlyText}
	}
	op := adapters.Op{Kind: adapters.KindSend, Target: p.To, Message: message, Text: p.Text, File: p.File}
	if p.Picture != nil {
		op.File = &adapters.File{Name: "screen.png", Data: p.Picture}
	}
	switch {
	case message != "":
		op.Kind = adapters.KindEdit
	case op.File != nil:
		op.Kind = adapters.KindFile
	}
	return r.Call(ctx, op)
}

func (r *running) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.queue.Run(ctx) })
	if f, ok := r.writer.(*files); ok {
		g.Go(func() error { return f.watch(ctx, r.queue, r.host.Logger) })
	}
	return g.Wait()
}
