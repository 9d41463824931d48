package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// killRig is the program in a process of its own, with a tmux server and a stand-in for
// a platform that knows when a call is under way.
type killRig struct {
	*daemon
	random   *rand.Rand
	stage    stage
	trap     *trap
	program  string
	process  *exec.Cmd
	speakers []speaker
	mirrors  []mirror
	ids      map[string]api.Session
	killed   []time.Time
	how      map[string]int
}

// stage is a stand-in for a platform, in which each mirror has a chat.
type stage interface {
	http.Handler
	// settings are the adapter's part of the configuration. url is where the stand-in is.
	settings(url string, mirrors []mirror) string
	// decided counts the calls of a kind that had their effect, or were refused.
	decided(call string) int
	// Wait blocks until a condition holds.
	Wait(ctx context.Context, holds func() bool) error
	// shown are the bot's messages where a mirror is, in order.
	shown(t *testing.T, m mirror) []message
	// once says that a message that's sent again, because nobody knows whether it was
	// sent, never stands there twice.
	once() bool
}

// mirror is where a session's lines are to be seen.
type mirror struct {
	session, view, chat string
	threads             bool // the session gets a thread or topic of its own there
}

// speaker is a session: it prints so many lines at once, rests, and so on until it's
// told to end.
type speaker struct {
	name  string
	lines int
	rest  time.Duration
}

// message is what a person sees of one.
type message struct {
	id    string
	at    time.Time
	edits int
	rang  bool
	text  string
	file  []byte // nil: none is attached
}

// turnEvery is how many lines a turn of the sessions has.
const turnEvery = 40

// kills is how often the program is killed.
func kills() int {
	if drawtest.Stressed() {
		return 100
	}
	return 10
}

// programDir is where the program is built, once for all tests; TestMain makes and removes it.
var programDir string // as the program

var buildOnce = sync.OnceValues(func() (program string, err error) { // as the program
	program = filepath.Join(programDir, "panebridge")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "github.com/panebridge/panebridge/cmd/panebridge").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
})

// builtProgram returns where the program is.
func builtProgram(t *testing.T) string {
	t.Helper()
	program, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// newKillRig makes a rig without a stage.
func newKillRig(t *testing.T) *killRig {
	t.Helper()
	k := &killRig{
		random: drawtest.Rand(t, 0), trap: &trap{random: drawtest.Rand(t, 1)},
		ids: map[string]api.Session{}, how: map[string]int{},
	}
	dir := shortTemp(t)
	k.daemon = &daemon{T: t, dir: dir, socket: filepath.Join(dir, "tmux"), api: client.New(filepath.Join(dir, "state", "panebridge.sock"))}
	k.program = builtProgram(t)
	t.Cleanup(func() { endTmux(k.socket) })
	t.Cleanup(k.kill)
	return k
}

// begin puts the stage on a port, and starts the program and the sessions.
func (k *killRig) begin(s stage, speakers []speaker, mirrors []mirror) {
	k.Helper()
	k.stage, k.speakers, k.mirrors = s, speakers, mirrors
	text := fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\npolling: {output_cadence_s: 0.2, focus_cadence_s: 0.2}\n"+
		"adapters:\n  web: {enabled: false}\n%s", k.socket, s.settings(onAPort(k.T, s), mirrors))
	if err := os.WriteFile(filepath.Join(k.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		k.Fatal(err)
	}
	k.run()
	k.awaitTmux()
	for _, s := range speakers {
		k.speak(s)
	}
}

// run starts the program, and doesn't wait for it.
func (k *killRig) run() {
	k.Helper()
	said, err := os.OpenFile(filepath.Join(k.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		k.Fatal(err)
	}
	defer said.Close()
	k.process = exec.Command(k.program, "run", "--config", filepath.Join(k.dir, "config.yaml"), "--state-dir", filepath.Join(k.dir, "state"))
	k.process.Stdout, k.process.Stderr = said, said
	if err := k.process.Start(); err != nil {
		k.Fatal(err)
	}
}

func (k *killRig) kill() {
	if k.process == nil {
		return
	}
	_ = k.process.Process.Kill()
	_ = k.process.Wait()
	k.process = nil
	if k.Failed() {
		said, _ := os.ReadFile(filepath.Join(k.dir, "log"))
		k.Logf("the daemon said:\n%s", said)
	}
}

// speak makes a session.
func (k *killRig) speak(s speaker) {
	k.Helper()
	script := fmt.Sprintf(`i=0
while [ ! -e stop ]; do
	n=0
	while [ $n -lt %d ]; do
		n=$((n+1)); i=$((i+1)); echo "$0 line $i of what the agent says as it works"
		[ $((i %% %d)) -ne 0 ] || echo '[Output Complete]'
	done
	sleep %.1f
done
echo "$0 has printed $i"; echo '[Output Complete]'`, s.lines, turnEvery, s.rest.Seconds())
	made, err := k.api.NewSession(k.ctx(), api.Create{Name: s.name, Cwd: k.dir, Command: []string{"sh", "-c", script, s.name}})
	if err != nil {
		k.Fatal(err)
	}
	k.ids[s.name] = made
}

// moment is when the program is killed.
type moment int

const (
	underWay    moment = iota // a call is on its way to the platform
	notAnswered               // the platform has done it, and the answer is on its way back
	justDone                  // the answer has come
	moments
)

// killAnywhere kills the program at an instant that the seed chooses. A half is any
// instant; the others are in the midst of one of these calls.
func (k *killRig) killAnywhere(calls ...string) {
	k.Helper()
	if at := moment(k.random.IntN(2 * int(moments))); at < moments {
		k.killDuring(calls[k.random.IntN(len(calls))], at, 3*time.Second, func() {})
		return
	}
	k.killAfter(time.Duration(k.random.Int64N(int64(1500*time.Millisecond))), "at any instant")
}

// killDuring kills the program at a moment of the next call of a kind, or at any
// instant if none comes in time. begin is called when that call is waited for.
func (k *killRig) killDuring(call string, at moment, within time.Duration, begin func()) {
	k.Helper()
	comes := func(hit <-chan struct{}) bool {
		begin()
		select {
		case <-hit:
			return true
		case <-time.After(within):
			return false
		}
	}
	how, rest := "", time.Duration(0)
	switch at {
	case underWay:
		how = call + " under way"
		comes(k.trap.set(call, time.Hour, 0))
	case notAnswered:
		how = call + " not answered"
		before := k.stage.decided(call)
		if comes(k.trap.set(call, 0, time.Hour)) {
			k.awaitDecided(call, before)
		}
	default:
		how, rest = call+" just answered", time.Duration(k.random.Int64N(int64(8*time.Millisecond)))
		comes(k.trap.set(call, 0, 0))
	}
	if k.trap.clear() {
		how = "at any instant" // there was no such call
	}
	k.killAfter(rest, how)
}

func (k *killRig) killAfter(rest time.Duration, how string) {
	time.Sleep(rest) // this is the random instant
	k.how[how]++
	k.kill()
	k.killed = append(k.killed, time.Now())
}

// awaitDecided waits until the platform has done a call.
func (k *killRig) awaitDecided(call string, before int) {
	k.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.stage.Wait(ctx, func() bool { return k.stage.decided(call) > before }); err != nil {
		k.Fatal(err)
	}
}

// finish has the sessions end, and waits until all of it is in the chats.
func (k *killRig) finish() {
	k.Helper()
	k.run()
	k.awaitTmux()
	signal(k.T, k.dir, "stop")
	for _, s := range k.ids {
		k.await("all of "+s.Name+" in its chats", func() bool {
			now, err := k.api.Session(k.ctx(), string(s.ID))
			return err == nil && !now.EndedAt.IsZero() && !slices.ContainsFunc(now.Bindings, func(b api.Binding) bool { return b.Delivered < now.Lines })
		})
	}
	k.await("rest", func() bool {
		all, err := k.api.Adapters(k.ctx())
		return err == nil && all[0].InFlight == 0 && !slices.ContainsFunc(all[0].Chats, func(c api.Chat) bool { return len(c.Waiting) > 0 })
	})
}

// rules are the mirrors as the configuration has them: of each line, since what chats show is compared with the log.
func rules(platform string, mirrors []mirror) string {
	var b strings.Builder
	b.WriteString("mirrors:\n")
	for _, m := range mirrors {
		fmt.Fprintf(&b, "  - {session: %q, to: \"%s:%s\", view: %s, output: all}\n", m.session, platform, m.chat, m.view)
	}
	return b.String()
}

// trap is how long calls travel, and knows when one does that somebody waits for.
type trap struct {
	mu         sync.Mutex
	random     *rand.Rand
	call       string
	here, back time.Duration
	hit        chan struct{}
}

// set has the next call of a kind take so long. The channel is closed when it has begun.
func (t *trap) set(call string, here, back time.Duration) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call, t.here, t.back, t.hit = call, here, back, make(chan struct{})
	return t.hit
}

// clear takes the trap back, and says whether nothing went into it.
func (t *trap) clear() (unused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	unused, t.call = t.call != "", ""
	return unused
}

// latency is how long a call travels: 20 to 80 ms each way.
func (t *trap) latency(call string) (here, back time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := func() time.Duration {
		return 20*time.Millisecond + time.Duration(t.random.Int64N(int64(60*time.Millisecond)))
	}
	if here, back = one(), one(); call == t.call {
		here, back = t.here, t.back
		t.call = ""
		close(t.hit)
	}
	return here, back
}
