package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/standin"
)

// previewScale is how much is done. Of mails that wait for an agent that's at work only
// one preview is typed, so a long run goes on until so many were.
type previewScale struct {
	atLeast  int           // mails that are sent
	previews int           // that are typed, if there's time for it
	within   time.Duration // for sending
	agents   int           // of each kind
	gap      time.Duration // between two mails, at most
	stops    int           // one of so many mails has the daemon stop
	calm     int           // how much longer people rest
}

func previewScaled() previewScale {
	if drawtest.Stressed() {
		return previewScale{atLeast: 200, previews: 1000, within: 10 * time.Minute, agents: 4, gap: 400 * time.Millisecond, stops: 100, calm: 4}
	}
	return previewScale{atLeast: 40, previews: 12, within: 4 * time.Minute, agents: 1, gap: 600 * time.Millisecond, stops: 15, calm: 1}
}

// previewRig is a fleet of agent programs that are played, whose people write at their
// keyboards, and which send each other mail.
type previewRig struct {
	*daemon
	previewScale
	rand    *rand.Rand
	members []*previewMember
	dialogs int // that each agent begins by itself
	began   time.Time

	gone    sync.Once // tmux
	mu      sync.Mutex
	sent    map[string]int // mails by their ids: to which member
	refused map[string]int // why they weren't announced at once, or not submitted
}

// previewMember is one agent program.
type previewMember struct {
	session api.Session
	play    standin.Play
}

// Mails are sent to agents at random moments: while they start, are idle or at work, or
// ask something, while somebody else's text stands half-typed in their input boxes, and
// with the daemon stopped or just starting. No preview comes into a dialog or to a
// half-typed text, none is submitted together with one, each is typed once at most, and
// all mails are there when they're asked for.
func TestPreviewsAtRandomMoments(t *testing.T) {
	slow(t)
	seed := drawtest.Seed(t)
	r := &previewRig{daemon: newDaemon(t), previewScale: previewScaled(), dialogs: 1 << 20, rand: rand.New(rand.NewPCG(seed, 3)), sent: map[string]int{}, refused: map[string]int{}}
	for i, agent := range slices.Repeat(standin.Agents, r.agents) {
		r.join(agent, fmt.Sprintf("%s-%d", agent, i), seed+uint64(i))
	}
	ctx, stop := context.WithCancel(t.Context())
	var people sync.WaitGroup
	for i, m := range r.members {
		people.Go(func() { r.people(ctx, m, rand.New(rand.NewPCG(seed, uint64(10+i)))) })
	}
	r.began = time.Now()
	r.mails()
	r.settled()
	stop()
	people.Wait()
	r.stop()
	r.checkPreviews()
}

// join starts an agent program, as the director of a fleet or as a member.
func (r *previewRig) join(agent, name string, seed uint64) {
	r.Helper()
	exe, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	m := &previewMember{play: standin.Play{Agent: agent, Seed: seed, Dialogs: r.dialogs, Home: filepath.Join(r.dir, name), Journal: filepath.Join(r.dir, name+".journal")}}
	line, err := m.play.Command(exe)
	if err != nil {
		r.Fatal(err)
	}
	if m.session, err = r.api.NewSession(r.ctx(), api.Create{Name: name, Cwd: r.dir, Command: []string{"sh", "-c", line}}); err != nil {
		r.Fatal(err)
	}
	args := []string{"fleet", "add", "web", name}
	if len(r.members) == 0 {
		args = []string{"fleet", "new", "web", "--director", name}
	}
	if _, err := r.command(args...); err != nil {
		r.Fatal(err)
	}
	r.members = append(r.members, m)
}

// command runs panebridge and returns what it prints.
func (r *previewRig) command(args ...string) ([]byte, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := r.process(exe, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("panebridge %s: %w: %s", strings.Join(args, " "), err, said.Bytes())
	}
	return out, nil
}

func (r *previewRig) process(exe string, args ...string) *exec.Cmd {
	cmd := exec.Command(exe, append(args, "--state-dir", filepath.Join(r.dir, "state"), "--config", filepath.Join(r.dir, "none.yaml"))...)
	cmd.Env = append(os.Environ(), playedCLI+"=1")
	return cmd
}

// mails sends mails, and stops the daemon and starts it meanwhile.
func (r *previewRig) mails() {
	r.Helper()
	var senders sync.WaitGroup
	defer senders.Wait()
	room := make(chan struct{}, 4)
	stopped := 0 // for so many mails more
	for i := 0; !r.enough(i); i++ {
		switch {
		case stopped > 1:
			stopped--
		case stopped == 1:
			stopped = 0
			r.start()
		case i > 5 && r.rand.IntN(r.stops) == 0:
			stopped = 1 + r.rand.IntN(6)
			r.stop()
		}
		to := r.rand.IntN(len(r.members))
		from := (to + 1 + r.rand.IntN(len(r.members)-1)) % len(r.members)
		text := fmt.Sprintf("mail %d: %s", i, someWords[r.rand.IntN(len(someWords))])
		if r.rand.IntN(6) == 0 {
			text += "\n" + strings.Repeat("and much more of it. ", 40)
		}
		room <- struct{}{}
		senders.Go(func() {
			defer func() { <-room }()
			r.send(from, to, text)
		})
		time.Sleep(time.Duration(r.rand.Int64N(int64(r.gap))))
	}
	if stopped > 0 {
		r.start()
	}
}

// enough says whether enough mails were sent, and previews typed.
func (r *previewRig) enough(mails int) bool {
	r.Helper()
	if mails < r.atLeast || mails%20 > 0 {
		return false
	}
	typed := 0
	for _, m := range r.members {
		typed += m.previews(r.T)
	}
	r.Logf("%s: %d mails, %d previews typed", time.Since(r.began).Round(time.Second), mails, typed)
	return typed >= r.previews || time.Since(r.began) > r.within
}

// previews counts those that were typed to an agent.
func (m *previewMember) previews(t *testing.T) (n int) {
	t.Helper()
	entries, err := standin.ReadJournal(m.play.Journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == standin.Pressed && e.Key == "paste" && previewHead.MatchString(e.Text) {
			n++
		}
	}
	return n
}

func (r *previewRig) send(from, to int, text string) {
	out, err := r.command("send", "--json", "--from", r.members[from].session.Name, "--to", r.members[to].session.Name, "--text", text)
	if err != nil {
		r.Error(err)
		return
	}
	var sent inbox.Sent
	if err := json.Unmarshal(out, &sent); err != nil {
		r.Errorf("%v: %s", err, out)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[sent.Mail.ID] = to
	if why := sent.Reason; !sent.NotificationSent {
		r.refused[why]++
	}
}

// settled waits for previews that are being typed, and a while for those that wait: an agent
// may be asking without an end.
func (r *previewRig) settled() {
	r.Helper()
	begin := time.Now()
	r.await("end of typing", func() bool {
		time.Sleep(200 * time.Millisecond)
		in := map[inbox.PreviewState]int{}
		for i := range r.members {
			for _, m := range r.box(i) {
				in[m.Preview]++
			}
		}
		return in[inbox.PreviewTyping] == 0 && (in[inbox.PreviewWaiting] == 0 || time.Since(begin) > 5*time.Second)
	})
}

// box is all the mail of a member, seen without settling what's waiting.
func (r *previewRig) box(member int) []inbox.Mail {
	r.Helper()
	db, _ := mailOf(r.daemon)
	defer db.Close()
	all, err := db.Mail(r.ctx(), inbox.Query{To: inbox.Address(r.members[member].session.ID), Kind: inbox.KindMail})
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// people write at an agent's keyboard: they begin a text, think, and submit it or take it
// back; and refuse what's asked.
func (r *previewRig) people(ctx context.Context, m *previewMember, random *rand.Rand) {
	pause := func(from, to int) bool {
		return rested(ctx, time.Duration(from+random.IntN(to-from))*time.Millisecond)
	}
	for n := 0; pause(100*r.calm, 800*r.calm); n++ {
		if random.IntN(4) > 0 {
			r.press(m, "Escape")
			continue
		}
		for _, letter := range fmt.Sprintf("half-%d", n) {
			r.press(m, string(letter))
			if !pause(10, 150) {
				return
			}
		}
		if !pause(100, 2000) {
			return
		}
		r.press(m, []string{"C-u", "Enter"}[random.IntN(2)])
	}
}

func (r *previewRig) press(m *previewMember, key string) {
	args := []string{"-S", r.socket, "send-keys", "-t", m.session.Tmux.Pane, "-H"}
	for _, b := range standin.Person(key) {
		args = append(args, strconv.FormatUint(uint64(b), 16))
	}
	if out, err := exec.Command("tmux", args...).CombinedOutput(); err != nil {
		r.gone.Do(func() { r.Errorf("press %s in %s: %v: %s", key, m.session.Name, err, out) })
	}
}
