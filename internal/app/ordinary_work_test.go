package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// work is something that people do in a shell all day, and that asks nothing.
type work struct {
	needs string   // a program; "": the shell alone
	start []string // what's typed at the prompt, each with an Enter; "%d" is a number of its own
	keys  []string // as send-keys takes them, with pauses between
}

func ordinaryWork() []work {
	return []work{
		{start: []string{"seq 1 300; sleep 0.3"}},
		{start: []string{"ls -la /usr/bin | head -60"}},
		{start: []string{"cat docs.md"}},
		{start: []string{"head -40 docs.md; sleep 6"}},
		{start: []string{"for i in $(seq 100); do printf '\\r%3d%% [%-50s] ETA 0:%02d' $i $(printf '#%.0s' $(seq $((i/2+1)))) $((100-i)); sleep 0.05; done; echo"}},
		{start: []string{"for i in $(seq 60); do printf '\\r%s Installing packages (%d/60)' \"$(printf '|/-\\\\' | cut -c$((i%4+1)))\" $i; sleep 0.1; done; echo"}},
		{start: []string{"for i in 1 2 3 4 5 6; do echo \"step $i: ok?\"; sleep 0.7; done"}},
		{start: []string{"printf 'Options:\\n  1) build\\n  2) test\\n  3) deploy\\n'"}},
		{start: []string{"printf 'Would you like to know more? See the manual.\\n> quoted\\n\\n'; sleep 5"}},
		{start: []string{"printf '\\033[?25l'; for i in $(seq 30); do printf '\\rresolving %d' $i; sleep 0.15; done; printf '\\033[?25h\\n'"}},
		{start: []string{"printf '┌────────────┐\\n│ all passed │\\n└────────────┘\\n'; sleep 4"}},
		{start: []string{"PS2='more> '", "for i in 1 2 3", "do echo $i", "done"}},
		{start: []string{"cat > note-%d.txt <<'X'", "Do you want to proceed? [y/N]", " 1. Yes", " 2. No", "X"}},
		{start: []string{"git -c color.ui=always log --stat | head -50"}, needs: "git"},
		{start: []string{"git diff --color=always | cat; git status"}, needs: "git"},
		{start: []string{"git -c core.pager=less log -p"}, needs: "less", keys: []string{"Space", "Space", "j", "G", "q"}},
		{start: []string{"git -c core.editor=vim commit --amend"}, needs: "vim", keys: []string{"j", "o", "what is it?", "Escape", ":q!", "Enter"}},
		{start: []string{"less docs.md"}, needs: "less", keys: []string{"Space", "/question", "Enter", "n", "G", "q"}},
		{start: []string{"vim -u NONE docs.md"}, needs: "vim", keys: []string{"G", "i", " - name: ", "Enter", "is it so? (y/n) ", "Escape", ":set nu", "Enter", "5", "G", ":q!", "Enter"}},
		{start: []string{"vim docs.md"}, needs: "vim", keys: []string{"/asked", "Enter", "v", "j", "y", "p", ":q!", "Enter"}},
		{start: []string{"man bash"}, needs: "man", keys: []string{"Space", "Space", "b", "q"}},
		{start: []string{"top -d 0.7"}, needs: "top", keys: []string{"M", "P", "q"}},
		{start: []string{"watch -n 0.5 date"}, needs: "watch", keys: []string{"C-c"}},
		{start: []string{"tail -f docs.md"}, keys: []string{"Enter", "Enter", "C-c"}},
		{start: []string{"python3 -q", "x = 'which one?'", "for i in range(3):", "    print(i, '? [y/N]')", "", "x", "import time; time.sleep(4)", "exit()"}, needs: "python3"},
		{start: []string{"sqlite3 :memory:", "create table t (a int,", "b text);", "insert into t values (1, 'y/n?');", "select * from t;", ".quit"}, needs: "sqlite3"},
		{start: []string{"node", "[1, 2].map(", "x => x + 1)", "'sure?'", ".exit"}, needs: "node"},
		{start: []string{"bc -q", "2^200", "1/3", "quit"}, needs: "bc"},
		{start: []string{"ed docs.md", "/told/", "a", "Continue? [Y/n]", ".", "Q"}, needs: "ed"},
		{start: []string{"echo 'half of it"}, keys: []string{"and the rest'", "Enter"}},
		{start: nil, keys: []string{"rm -i x? ", "C-u", "which ", "BSpace", "C-c"}},
		{start: []string{"read -t 1 x < /dev/null; sleep 3"}},
		{start: []string{"yes | head -20000"}},
		{start: []string{"sh -c 'exit 3'; false; nosuchcommand"}},
		{start: []string{"clear; printf '\\033[5;1H- 1. one\\n- 2. two\\n'; sleep 4"}},
		{start: []string{"seq 200 | xargs -n1 -I% sh -c 'echo %; sleep 0.02'"}},
	}
}

// ordinaryText is a text full of questions and options that nobody asks.
const ordinaryText = "# What's asked\n\nDo you want to continue? (y/n) isn't asked here.\n\n" +
	"1. Yes\n2. Yes, and don't ask again\n3. No, and tell it what to do\n\n" +
	"- [ ] Is it asked?\n- [x] It isn't.\n\n> Would you like to run the following command?\n>\n> $ ls -la\n\n" +
	"Password: see the safe.\n\n| key | what |\n|---|---|\n| y | yes |\n| n | no |\n\nPress any key to go on, says the manual.\n"

// People work in shells, and nothing of that rings: no question is told of in any pane.
func TestOrdinaryWorkRingsForNobody(t *testing.T) {
	slow(t)
	seed, panes, each := drawtest.Seed(t), 8, 25*time.Second
	if drawtest.Stressed() {
		panes, each = 24, 20*time.Minute // eight hours in all
	}
	d := newDaemon(t)
	var all []*worker
	for n := range panes {
		all = append(all, newWorker(d, n, rand.New(rand.NewPCG(seed, uint64(n)))))
	}
	var wg sync.WaitGroup
	began, told := time.Now(), map[string]bool{}
	for _, w := range all {
		wg.Go(func() { w.workUntil(began.Add(each)) })
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	for done := false; !done; {
		select {
		case <-over:
			done = true
		case <-time.After(200 * time.Millisecond):
		}
		prompts, err := d.api.Prompts(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range prompts {
			if told[p.ID] {
				continue
			}
			told[p.ID] = true
			w := all[slices.IndexFunc(all, func(w *worker) bool { return w.id == p.Session })]
			t.Logf("%s rings for %q: %+v\nscreen:\n%s", w.name, w.doing(), p, d.tmux("capture-pane", "-p", "-t", w.pane))
		}
	}
	works := 0
	for _, w := range all {
		works += w.done
	}
	t.Logf("%d panes, %s of work in all, %d works: %d rings", panes, (time.Since(began) * time.Duration(panes)).Round(time.Second), works, len(told))
	if most := int(time.Since(began) * time.Duration(panes) / (8 * time.Hour)); len(told) > most { // one in eight hours
		t.Errorf("%d rings, want at most %d", len(told), most)
	}
	if works < panes {
		t.Errorf("%d works in %d panes", works, panes)
	}
}

// worker is somebody at a pane's keyboard.
type worker struct {
	d          *daemon
	random     *rand.Rand
	name, pane string
	dir        string
	id         sessions.ID
	done       int

	mu  sync.Mutex
	now string
}

func newWorker(d *daemon, n int, random *rand.Rand) *worker {
	d.Helper()
	shells := [][]string{{"bash", "--norc"}, {"zsh", "-f"}, {"fish", "--no-config"}, {"bash", "--norc", "--noediting"}, {"dash"}}
	shells = slices.DeleteFunc(shells, func(shell []string) bool {
		_, err := exec.LookPath(shell[0])
		return err != nil || shell[0] == "fish" && random.IntN(4) > 0
	})
	shell := shells[random.IntN(len(shells))]
	w := &worker{d: d, random: random, name: fmt.Sprintf("work-%d-%s", n, shell[0]), dir: filepath.Join(d.dir, fmt.Sprint("work-", n))}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "docs.md"), []byte(strings.Repeat(ordinaryText, 9)), 0o600); err != nil {
		d.Fatal(err)
	}
	git := exec.CommandContext(d.Context(), "sh", "-c", "git init -q . && git add docs.md && git -c user.name=a -c user.email=a@b.example commit -qm 'Is it so?' && sed -i s/asked/told/ docs.md")
	git.Dir = w.dir
	if out, err := git.CombinedOutput(); err != nil {
		d.Fatalf("%s: %v", out, err)
	}
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: w.name, Cwd: w.dir, Command: shell})
	if err != nil {
		d.Fatal(err)
	}
	w.id, w.pane = s.ID, s.Tmux.Pane
	return w
}

func (w *worker) doing() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *worker) workUntil(end time.Time) {
	all := slices.DeleteFunc(ordinaryWork(), func(one work) bool {
		_, err := exec.LookPath(one.needs)
		return one.needs != "" && err != nil
	})
	for time.Now().Before(end) && w.d.Context().Err() == nil {
		one := all[w.random.IntN(len(all))]
		w.mu.Lock()
		w.now = strings.Join(append(slices.Clone(one.start), one.keys...), "⏎")
		w.mu.Unlock()
		for _, line := range one.start {
			w.send("-l", strings.ReplaceAll(line, "%d", fmt.Sprint(w.done)))
			w.pause(800 * time.Millisecond)
			w.send("Enter")
			w.pause(2 * time.Second)
		}
		for _, key := range one.keys {
			if strings.Contains(key, " ") || key[0] == ':' || key[0] == '/' {
				w.send("-l", key)
			} else {
				w.send(key)
			}
			w.pause(3 * time.Second)
		}
		w.pause(8 * time.Second)
		w.done++
	}
}

// pause waits for a random time of at most longest, more often a short one.
func (w *worker) pause(longest time.Duration) {
	x := w.random.Float64()
	select {
	case <-w.d.Context().Done():
	case <-time.After(time.Duration(x * x * float64(longest))):
	}
}

func (w *worker) send(keys ...string) {
	if out, err := exec.Command("tmux", append([]string{"-S", w.d.socket, "send-keys", "-t", w.pane}, keys...)...).CombinedOutput(); err != nil {
		w.d.Errorf("%s: %s, %v", w.name, out, err)
	}
}
