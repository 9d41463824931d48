package redisbucket_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// job is what a process of a test does: it wants a slot in each of its chats all the
// time, and makes the calls.
type job struct {
	Name     string
	Addrs    []string
	Master   string // what the Sentinels call it
	Bot      string
	Most     int // max_processes
	State    string
	Platform string
	Chats    []string
	Class    qos.Class
	Calls    int // per window
	Per      time.Duration
	Timeout  time.Duration // of a call
	Rest     time.Duration // between two calls
	Gap      time.Duration // of the chat
	Verbose  bool
}

const jobVariable = "REDISBUCKET_TEST_JOB"

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	if text := os.Getenv(jobVariable); text != "" {
		var j job
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := j.run(); err != nil {
			fmt.Fprintln(os.Stderr, j.Name, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// process is a job in a process of its own.
type process struct {
	cmd  *exec.Cmd
	stop io.Closer
	done chan struct{}
}

func start(t *testing.T, j job) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text), "GOMAXPROCS=2")
	p.cmd.Stderr = os.Stderr
	if p.stop, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p
}

// kill ends it with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// end has it sign off.
func (p *process) end() {
	_ = p.stop.Close()
	<-p.done
}

// run works until standard input ends, which it does when the test dies, too.
func (j job) run() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	server := redisbucket.RedisServer{Addrs: j.Addrs, MasterName: j.Master, Timeout: 150 * time.Millisecond}
	opt := redisbucket.Options{
		Client: redisbucket.NewClient(server), Bot: j.Bot, MaxProcesses: j.Most, CallTimeout: j.Timeout,
		Timeout: server.Timeout, StateFile: j.State,
	}
	if j.Verbose {
		opt.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("worker", j.Name)
	}
	b, err := redisbucket.New(opt)
	if err != nil {
		return err
	}
	b.Configure(qos.Limits{
		Bot:   qos.Limit{Windows: []qos.Window{{Calls: 1000, Per: time.Second}}},
		Group: qos.Limit{Windows: []qos.Window{{Calls: j.Calls, Per: j.Per}}, Gap: j.Gap},
	})
	bell := &bell{rings: map[qos.ChatKey]chan struct{}{}}
	ended := make(chan error, 1)
	runCtx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { ended <- b.Run(runCtx, func(qos.Penalty) {}, bell.ring) }()
	var chats sync.WaitGroup
	for _, chat := range j.Chats {
		rung := bell.of(qos.ChatKey(chat))
		chats.Go(func() {
			if err := j.serve(ctx, b, qos.ChatKey(chat), rung); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, j.Name, err)
			}
		})
	}
	chats.Wait()
	stop()
	return <-ended
}

// bell wakes who waits for a chat.
type bell struct{ rings map[qos.ChatKey]chan struct{} }

func (b *bell) of(chat qos.ChatKey) chan struct{} {
	c := make(chan struct{}, 1)
	b.rings[chat] = c
	return c
}

func (b *bell) ring(chat qos.ChatKey) {
	for c, ring := range b.rings {
		if chat == "" || c == chat {
			select {
			case ring <- struct{}{}:
			default:
			}
		}
	}
}

// serve makes one call after the other in a chat.
func (j job) serve(ctx context.Context, b *redisbucket.Budget, chat qos.ChatKey, rung <-chan struct{}) error {
	conn, err := net.Dial("unix", j.Platform)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	got := make(chan qos.SlotAnswer, 1)
	wanted := time.Now()
	for ctx.Err() == nil {
		answered, now := b.Status(time.Now()).Answered, time.Now()
		deadline := now.Add(j.Timeout)
		a := b.AskSlot(time.Now(), qos.SlotQuestion{Chat: chat, Deadline: deadline, Class: j.Class}, func(a qos.SlotAnswer) { got <- a })
		if a.State == qos.Pending {
			a = <-got
		}
		if a.State == qos.NotBefore {
			select {
			case <-time.After(time.Until(a.At)):
			case <-rung:
			case <-ctx.Done():
			}
			continue
		}
		if !time.Now().Before(deadline) { // too late to be sent
			b.Refund(time.Now(), a.Permit)
			continue
		}
		_ = conn.SetDeadline(deadline.Add(time.Second))
		if _, err := fmt.Fprintln(conn, j.Name, chat, j.Class, time.Now().UnixNano(), wanted.UnixNano(), now.UnixNano(), answered.UnixNano()); err != nil {
			return err
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			return err
		}
		now = time.Now()
		silence, _ := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if silence > 0 {
			until := now.Add(time.Duration(silence * float64(time.Second)))
			b.Penalize(now, qos.Penalty{Scope: qos.Scope{Chat: chat, AllFamilies: true}, Until: until, Multiplier: 1})
		}
		b.Settle(now, a.Permit, now)
		select {
		case <-time.After(j.Rest):
		case <-ctx.Done():
		}
		wanted = time.Now()
	}
	return nil
}

// crew are the processes of a test, and its own client.
type crew struct {
	client redis.UniversalClient
	jobs   []job
	live   []*process
}

// silent looks up whether Redis knows that a chat must be silent now.
func (c *crew) silent(chat string) func() bool {
	key := "panebridge:{" + c.jobs[0].Bot + "}:penalties"
	return func() bool {
		ctx := context.Background()
		text, err := c.client.HGet(ctx, key, chat+"|*").Result()
		if err != nil {
			return false
		}
		now, err := c.client.Time(ctx).Result()
		until, _, _ := strings.Cut(text, " ")
		at, _ := strconv.ParseInt(until, 10, 64)
		return err == nil && at > now.UnixMicro()
	}
}

func startCrew(t *testing.T, n int, j job) *crew {
	t.Helper()
	c := &crew{client: redisbucket.NewClient(redisbucket.RedisServer{Addrs: j.Addrs, MasterName: j.Master, Timeout: time.Second})}
	dir := t.TempDir()
	for i := range n {
		j := j
		j.Name = fmt.Sprintf("w%d", i)
		j.State = filepath.Join(dir, j.Name)
		c.jobs = append(c.jobs, j)
		c.live = append(c.live, start(t, j))
	}
	t.Cleanup(func() {
		for _, p := range c.live {
			p.kill()
		}
		_ = c.client.Close()
	})
	return c
}
