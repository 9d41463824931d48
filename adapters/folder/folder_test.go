package folder

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/qos"
)

// both is a platform in memory, whose bad days a disk doesn't have, with a folder in which all that it
// does is done, too.
type both struct {
	t      *testing.T
	memory adaptertest.Adapter
	files  files

	mu  sync.Mutex
	ids map[string]string // in the folder, by those in memory
}

func (b *both) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	r := b.memory.Call(ctx, op)
	if r.Outcome != qos.Delivered {
		return r
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	op.Target.Thread, op.Message = b.ids[op.Target.Thread], b.ids[op.Message]
	if op.Kind == adapters.KindEdit && op.Message == "" || op.Target.Thread == "" && op.Kind == adapters.KindClose {
		return r // it was made by a call that wasn't answered
	}
	got := b.files.Call(ctx, op)
	if got.Outcome != qos.Delivered {
		b.t.Errorf("%s: %v, %v", op.Kind, got.Outcome, got.Err)
		return r
	}
	if r.ID != "" {
		b.ids[r.ID] = got.ID
	}
	if op.Kind == adapters.KindSend || op.Kind == adapters.KindEdit || op.Kind == adapters.KindFile {
		name := filepath.Join(b.files.path, op.Target.Chat, op.Target.Thread, got.ID+".txt")
		if text, err := os.ReadFile(name); err != nil || string(text) != op.Text+"\n" {
			b.t.Errorf("%s has %q, %v, want %q", name, text, err, op.Text)
		}
	}
	return r
}

// conforming says that chats keep their ids.
type conforming struct{ *running }

func (conforming) ChatsStay() bool { return true }

func TestAdapterConforms(t *testing.T) {
	adaptertest.Run(t, adaptertest.InMemory(func(c *adaptertest.Conn) adapters.Adapter {
		dir, err := os.MkdirTemp("", "folder") // one a process, which there are many of
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		b := &both{t: t, memory: adaptertest.Adapter{Conn: c}, files: files{path: dir}, ids: map[string]string{"": ""}}
		return conforming{newRunning(&Config{}, platform.Host{Knows: func(adapters.Target) bool { return true }}, b)}
	}))
}

// What's gone is said to be, so that it's made anew; what isn't text is refused, so that it comes as text.
func TestWhatIsGoneAndWhatIsNoText(t *testing.T) {
	f := &files{path: t.TempDir()}
	here := adapters.Target{Adapter: Name, Chat: "agents"}
	for _, c := range []struct {
		op   adapters.Op
		want adapters.Missing
	}{
		{adapters.Op{Kind: adapters.KindEdit, Target: here, Message: "7"}, adapters.MissingMessage},
		{adapters.Op{Kind: adapters.KindSend, Target: adapters.Target{Adapter: Name, Chat: "agents", Thread: "9"}}, adapters.MissingThread},
	} {
		if r := f.Call(t.Context(), c.op); r.Outcome != qos.Rejected || r.Missing != c.want {
			t.Errorf("%s: %+v", c.op.Kind, r)
		}
	}
	r := newRunning(&Config{Names: []string{"agents"}}, platform.Host{}, f)
	if got := r.Post(t.Context(), adapters.Post{To: here, Buttons: [][]adapters.Button{{{Label: "Yes"}}}}, ""); got.Outcome != qos.Rejected || !got.Content {
		t.Errorf("buttons: %+v", got)
	}
	if err := r.Check(adapters.Target{Adapter: Name, Chat: "../x"}); err == nil {
		t.Error("a way out of the folder is a chat")
	}
	if err := r.Check(here); err != nil {
		t.Error(err)
	}
}

// What people write comes once, with whose file it is, and in the place where it lies; what's still
// being written is waited for.
func TestWhatPeopleWriteIsInput(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "agents", "2"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("agents/say.txt", "ls\n")
	write("agents/2/"+taken, "left by a crash")
	write("agents/2/say.txt", "and more")
	synctest.Test(t, func(t *testing.T) { // in which it's long ago
		var mu sync.Mutex
		var got []intake.Event
		r := newRunning(&Config{}, platform.Host{
			Journal: journaltest.NewMemory().Process(),
			Handle: func(_ context.Context, e intake.Event) error {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, e)
				return nil
			},
		}, &files{path: dir})
		for _, name := range []string{"agents/say.txt", "agents/2/" + taken, "agents/2/say.txt"} {
			if err := os.Chtimes(filepath.Join(dir, name), time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		mu.Lock()
		if len(got) > 0 {
			t.Errorf("%d were taken at once", len(got))
		}
		mu.Unlock()
		time.Sleep(10 * time.Second)
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		texts := map[string]string{}
		for _, e := range got {
			texts[e.Action.(intake.Said).Text] = e.Place.String()
			if !strings.HasPrefix(e.Person.ID, "folder:") || !strings.HasPrefix(e.Key, "folder:") {
				t.Errorf("%+v", e)
			}
		}
		want := map[string]string{"ls": "folder:agents", "left by a crash": "folder:agents/2", "and more": "folder:agents/2"}
		if have, wanted := marshal(texts), marshal(want); have != wanted || len(got) != 3 {
			t.Errorf("%d came: %s, want %s", len(got), have, wanted)
		}
	})
	left, _ := filepath.Glob(filepath.Join(dir, "*", "say.*"))
	if more, _ := filepath.Glob(filepath.Join(dir, "*", "*", "say.*")); len(left)+len(more) > 0 {
		t.Errorf("left: %v %v", left, more)
	}
}

func marshal(v any) string {
	text, _ := json.Marshal(v) // a map of texts
	return string(text)
}
