package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// showingScript has a pane show files and ask people, each until the command has said that it's done: $1 is the
// program, $2 the state folder, $3 how many. Every fifth is a question. The command's process is named for whoever kills it.
const showingScript = `n=0
while [ $n -lt "$3" ]; do
	n=$((n+1)); key=$(printf '%sx%016d' "$0" $n); tries=0
	echo "the content of $0 number $n" >"$0-$n.txt"
	while [ $tries -lt 200 ]; do
		tries=$((tries+1))
		if [ $((n % 5)) -eq 0 ]; then
			"$1" ask --state-dir "$2" --key "$key" --timeout 2h --option yes "question <$0 $n>" >"$0-$n.said" 2>>"$0.errors" &
		else
			"$1" show --state-dir "$2" --key "$key" --timeout 10m --caption "file <$0 $n>" "$0-$n.txt" >"$0-$n.said" 2>>"$0.errors" &
		fi
		echo $! >"$0.new" && mv "$0.new" "$0.pid"
		wait $! && break
		sleep 0.1
	done
	echo "$tries" >"$0-$n.done"
done
echo done >"$0.end"; sleep 100000`

// Ten panes show files and ask people at once, while commands and the daemon are killed again and again: each file and
// question stands in its chat once, or a second time with a mark, and each question's answer is what the command prints.
func TestKilledWhileProgramsShowAndAsk(t *testing.T) {
	slow(t)
	knowsPeers(t)
	panes, each, deaths := 10, 5, 4
	if drawtest.Stressed() {
		each, deaths = 100, 40
	}
	k := newKillRig(t)
	s := telegramStage{telegramtest.New(telegramtest.Options{
		Latency: func(method string, _ int64) (time.Duration, time.Duration) { return k.trap.latency(method) },
		Limits:  telegramtest.Limits{Group: []telegramtest.Window{{Calls: 600, Per: time.Minute}}},
	})}
	person := s.AddUser(telegramtest.User{FirstName: "P"})
	if _, err := person.Say(person.Private(), "/start"); err != nil {
		t.Fatal(err)
	}
	var mirrors []mirror
	var names []string
	for i := range panes {
		name := fmt.Sprintf("pane%d", i)
		names = append(names, name)
		mirrors = append(mirrors, mirror{session: name, view: "final", chat: strconv.FormatInt(s.AddChat(telegramtest.ChatSpec{Title: name}, person), 10)})
	}
	k.begin(quickStage{s}, nil, mirrors)
	for _, name := range names {
		made, err := k.api.NewSession(k.ctx(), api.Create{
			Name: name, Cwd: k.dir, Command: []string{"sh", "-c", showingScript, name, k.program, filepath.Join(k.dir, "state"), strconv.Itoa(each)},
		})
		if err != nil {
			t.Fatal(err)
		}
		k.ids[name] = made
	}
	stopped, stop := context.WithCancel(context.Background())
	var others sync.WaitGroup
	others.Go(func() { k.answerAll(stopped) })
	kills := 0
	others.Go(func() { kills = k.killCommands(stopped, names) })
	ended := func() (n int) {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(k.dir, name+".end")); err == nil {
				n++
			}
		}
		return n
	}
	for range deaths {
		if ended() == panes {
			break
		}
		k.killAnywhere("sendDocument", "sendMessage", "editMessageText")
		k.run()
		time.Sleep(2 * time.Second) // something is to be done between two of its deaths
	}
	limit := time.Now().Add(time.Duration(each) * 30 * time.Second)
	for ended() < panes && time.Now().Before(limit) {
		time.Sleep(time.Second)
	}
	stop()
	others.Wait()
	if n := ended(); n < panes {
		t.Errorf("%d of %d panes have come to their end", n, panes)
	}
	t.Logf("the daemon died %d times (%v), and %d commands did: %s", len(k.killed), k.how, kills, k.countShown(names, mirrors, each))
}

// quickStage is Telegram with groups that take more than its own: what's looked at is what kills do, and not how long
// calls wait.
type quickStage struct{ telegramStage }

func (s quickStage) settings(url string, mirrors []mirror) string {
	return strings.Replace(s.telegramStage.settings(url, mirrors), "    enabled: true\n", "    enabled: true\n    qos: {group_mpm: 500}\n", 1)
}

// answerAll answers what's asked as a person does who sees it in its chat, until ctx ends.
func (k *killRig) answerAll(ctx context.Context) {
	seen := func(p api.Prompt) bool {
		return slices.ContainsFunc(k.mirrors, func(m mirror) bool {
			return k.ids[m.session].ID == p.Session && slices.ContainsFunc(k.stage.shown(k.T, m), func(x message) bool { return strings.Contains(x.text, p.Title) })
		})
	}
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, 10*time.Second)
		all, _ := k.api.Prompts(call) // the daemon may be gone
		for _, p := range all {
			if p.Kind == sessions.PromptInquiry && p.State == sessions.PromptOpen && seen(p) {
				_, _ = k.api.Answer(call, p.ID, api.AnswerRequest{Option: &api.PromptChoice{Label: "yes"}})
			}
		}
		cancel()
		time.Sleep(200 * time.Millisecond)
	}
}

// killCommands kills commands in panes at drawn moments until ctx ends, and returns how many.
func (k *killRig) killCommands(ctx context.Context, names []string) (n int) {
	random := drawtest.Rand(k.T, 2)
	for ctx.Err() == nil {
		time.Sleep(time.Duration(random.Int64N(int64(700 * time.Millisecond))))
		text, err := os.ReadFile(filepath.Join(k.dir, names[random.IntN(len(names))]+".pid"))
		pid, noPid := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || noPid != nil || !isCommand(pid, k.program) {
			continue
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// isCommand reports whether a process is one of the program's.
func isCommand(pid int, program string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(line), program+"\x00")
}

// countShown holds the chats against what was to be shown, and says what's there.
func (k *killRig) countShown(names []string, mirrors []mirror, each int) string {
	k.Helper()
	once, marked, lost := 0, 0, 0
	for i, name := range names {
		shown := k.stage.shown(k.T, mirrors[i])
		for n := 1; n <= each; n++ {
			what := fmt.Sprintf("file <%s %d>", name, n)
			if n%5 == 0 {
				what = fmt.Sprintf("question <%s %d>", name, n)
				if said, _ := os.ReadFile(filepath.Join(k.dir, fmt.Sprintf("%s-%d.said", name, n))); string(said) != "yes\n" {
					k.Errorf("the answer to %s is %q", what, said)
				}
			}
			plain, doubtful := 0, 0
			for _, m := range shown {
				switch {
				case !strings.Contains(m.text, what):
				case m.file != nil && string(m.file) != fmt.Sprintf("the content of %s number %d\n", name, n):
					k.Errorf("%s has the file %q", what, m.file)
				case strings.Contains(m.text, "[sent once more: this may be here already]"):
					doubtful++
				default:
					plain++
				}
			}
			switch {
			case plain+doubtful == 0:
				lost++
				k.Errorf("%s isn't there", what)
			case plain > 1:
				k.Errorf("%s is there %d times without a mark, and %d times with one", what, plain, doubtful)
			case doubtful > 0:
				marked++
			default:
				once++
			}
		}
	}
	return fmt.Sprintf("%d are there once, %d with a mark, %d not at all", once, marked, lost)
}
