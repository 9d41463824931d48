package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/cli"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// playedCLI has the test binary be the command line.
const playedCLI = "PANEBRIDGE_TEST_CLI"

func asCLI() {
	if os.Getenv(playedCLI) == "" {
		return
	}
	os.Exit(cli.Main( //nolint:revive // this is a main() then
		context.Background(), cli.Build{}, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.LookupEnv,
	))
}

// played is a recording that's played in a pane of a daemon.
type played struct {
	*daemon
	play recording.Play
	id   sessions.ID
}

// playAgent plays a recording as the program of a pane that's adopted, with its
// transcript and, if hooks is set, its hooks. Behind it cat runs there.
func playAgent(d *daemon, name string, speed float64, hooks bool) *played {
	t := d.T
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &played{daemon: d, play: recording.Play{
		Name: name, Speed: speed, MaxGap: 2 * time.Second, Delay: 1500 * time.Millisecond, Home: filepath.Join(d.dir, "home"), Cwd: filepath.Join(d.dir, "project"), Done: filepath.Join(d.dir, "done"),
	}}
	for _, dir := range []string{p.play.Home, p.play.Cwd} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if hooks {
		p.play.Hook = fmt.Sprintf("%s=1 %s hook --state-dir %s %s", playedCLI, exe, filepath.Join(d.dir, "state"), rec.Agent)
	}
	command, err := p.play.Command(exe)
	if err != nil {
		t.Fatal(err)
	}
	d.tmux("-f", "/dev/null", "new-session", "-d", "-s", "agent", "-x", fmt.Sprint(rec.Width), "-y", fmt.Sprint(rec.Height), "sh -c 'sleep 1; ("+strings.ReplaceAll(command, "'", `'\''`)+"); exec cat'", ";", "set", "-g", "status", "off")
	d.awaitTmux()
	d.await("session", func() bool {
		out, err := d.api.Adopt(d.ctx(), api.Create{Tmux: "agent"})
		if err == nil {
			p.id = out[0].ID
		}
		return err == nil
	})
	return p
}

// finish waits until all was played and told.
func (p *played) finish() {
	p.Helper()
	p.await("end of the recording", func() bool { _, err := os.Stat(p.play.Done); return err == nil })
	want := p.truth()
	for end := time.Now().Add(20 * time.Second); len(p.blocks(sessions.KindAnswer)) < len(want) && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(3 * time.Second) // for what mustn't come
}

// truth are the answers of the transcript that was written.
func (p *played) truth() []string {
	p.Helper()
	rec, err := recording.Open(p.play.Name)
	if err != nil {
		p.Fatal(err)
	}
	found, err := transcript.Find(p.ctx(), transcript.Where{Format: transcript.Format(rec.Agent), Home: p.play.Home, Env: map[string]string{"CODEX_HOME": filepath.Join(p.play.Home, ".codex")}, Cwd: p.play.Cwd})
	if err != nil {
		p.Fatal(err)
	}
	if len(found) != 1 {
		p.Fatalf("%d transcripts: %+v", len(found), found)
	}
	r, err := transcript.Open(found[0].Ref, nil)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var out []string
	for {
		records, err := r.Read(p.ctx(), 0)
		if err != nil {
			p.Fatal(err)
		}
		if len(records) == 0 {
			return out
		}
		for _, r := range records {
			if r.Kind == transcript.Answer {
				out = append(out, r.Text)
			}
		}
	}
}

// blocks are the texts of a kind in the output log.
func (p *played) blocks(kind sessions.LineKind) []string {
	p.Helper()
	return blocksOf(p.logged(), kind)
}

// logged are all lines of the session's log.
func (p *played) logged() []sessions.Line {
	p.Helper()
	var out []sessions.Line
	for from := int64(0); ; {
		page, err := p.api.Output(p.ctx(), string(p.id), from, 5000)
		if err != nil {
			p.Fatal(err)
		}
		out = append(out, page.Lines...)
		if page.Next == from {
			return out
		}
		from = page.Next
	}
}

// The answers in the output log are the transcript's, byte for byte, in order and
// once, and nothing of the pane stands beside them but what was being written when a turn
// was stopped, whichever program it is and whether or not its hooks are installed.
func TestAnswersAreTheTranscripts(t *testing.T) {
	t.Parallel()
	all, err := recording.All()
	if err != nil {
		t.Fatal(err)
	}
	stress := drawtest.Stressed()
	quick := map[string]string{} // one of each agent's
	for _, i := range drawtest.Rand(t, 0).Perm(len(all)) {
		quick[all[i].Agent] = all[i].Name
	}
	for i, rec := range all {
		if !stress && i%3 != 0 && rec.Name != quick[rec.Agent] {
			continue // all of them take minutes
		}
		for _, hooks := range []bool{true, false} {
			if hooks && !rec.Has("hooks.jsonl") || !hooks && rec.Has("hooks.jsonl") && rec.Height > 24 && !stress {
				continue
			}
			if testing.Short() && rec.Name != quick[rec.Agent] {
				continue
			}
			t.Run(fmt.Sprintf("%s/hooks=%t", rec.Name, hooks), func(t *testing.T) {
				t.Parallel()
				speed := 8.0
				switch {
				case !hooks: // what was asked has to stand on the screen for some looks
					speed = 3
				case testing.Short(): // the race detector looks at it then, which slows the daemon and not the agent
					speed = 4
				}
				p := playAgent(newDaemon(t), rec.Name, speed, hooks)
				p.finish()
				p.check()
				p.leave()
			})
		}
	}
}

// check compares what was told with the transcript.
func (p *played) check() {
	p.Helper()
	if got, want := p.blocks(sessions.KindAnswer), p.truth(); !slices.Equal(got, want) {
		p.Errorf("got  %q\nwant %q", got, want)
	}
	if pane := blocksOf(withoutCutOff(p.logged()), sessions.KindPane); len(pane) > 0 {
		p.Errorf("of the pane: %q", pane)
	}
	s := p.session()
	if s.Turn.Open || s.State != sessions.StateIdle {
		p.Errorf("at the end: %s (%s), turn %+v", s.State, s.Reason, s.Turn)
	}
}

// typeBehind types a text into what has the place of the program, which has ended: it's
// held until somebody says that it's for that, and once more where the program has left
// something before the cursor. Where it has left a dialog on the screen, somebody clears
// that. A text that fails, because the place was taken by yet another while it was typed,
// is written again.
func (p *played) typeBehind(text string) {
	p.Helper()
	r, err := p.api.Input(p.ctx(), string(p.id), text, true)
	if err != nil {
		p.Fatal(err)
	}
	cleared := time.Now().Add(20 * time.Second)
	p.await("the text's being sent", func() bool {
		if r, err = p.api.Receipt(p.ctx(), r.ID); err == nil && r.Quoted != "" {
			_, _ = p.api.SendAnyway(p.ctx(), r.ID, r.Quoted) // which may be of a screen that has just gone
		}
		if err == nil && r.State == sessions.ReceiptFailed {
			r, err = p.api.Input(p.ctx(), string(p.id), text, true)
		}
		if time.Now().After(cleared) {
			p.Logf("the screen is cleared for %+v, %v\n%s", r, err, p.tmux("capture-pane", "-p", "-t", p.session().Tmux.Pane))
			cleared = time.Now().Add(time.Hour)
			p.tmux("send-keys", "-R", "-t", p.session().Tmux.Pane)
		}
		return err == nil && r.Submitted()
	})
}

// leave ends the program: what's printed then is the session's text, and nothing of
// what the program has left on the screen.
func (p *played) leave() {
	p.Helper()
	if err := p.api.Keys(p.ctx(), string(p.id), "Enter"); err != nil {
		p.Fatal(err)
	}
	p.await("the program's end", func() bool { return p.session().Source.Program == "" })
	p.typeBehind("printed behind it")
	p.await("what's printed behind it", func() bool { return slices.Contains(p.lines(p.id), "printed behind it") })
	said := letters(strings.Join(p.truth(), ""))
	for _, line := range p.paneLines() {
		if l := letters(line); len(l) >= 10 && strings.Contains(said, l) {
			p.Errorf("the pane's %q was told before", line)
		}
	}
}

// letters are the letters and digits of a text.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func (p *played) paneLines() (out []string) {
	for _, b := range p.blocks(sessions.KindPane) {
		out = append(out, strings.Split(b, "\n")...)
	}
	return out
}

// The daemon is killed again and again in the middle of turns: the text is exact and
// once all the same.
func TestAnswersSurviveKills(t *testing.T) {
	t.Parallel()
	kills, speed := 4, 6.0
	if drawtest.Stressed() {
		kills, speed = 20, 1.5
	}
	names := []string{"claude/basic-full-120x40", "codex/basic-inline-120x40", "gemini/basic-inline-120x40", "opencode/basic-alt-120x40", "qwen/basic-120x40", "pi/basic-120x40"}
	if testing.Short() {
		i := drawtest.Rand(t, 0).IntN(len(names))
		names = names[i : i+1]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shortTemp(t)
			k := &killed{T: t, dir: dir, socket: filepath.Join(dir, "tmux")}
			t.Cleanup(func() { endTmux(k.socket) })
			k.run()
			p := playAgent(&daemon{T: t, dir: dir, socket: k.socket, api: k.api}, name, speed, !strings.HasPrefix(name, "qwen") && !strings.HasPrefix(name, "pi"))
			done, random := 0, drawtest.Rand(t, 1)
			for _, err := os.Stat(p.play.Done); err != nil && done < kills; _, err = os.Stat(p.play.Done) {
				time.Sleep(time.Duration(500+random.IntN(1500)) * time.Millisecond)
				before := p.session().Source
				k.kill()
				k.run()
				p.api = k.api
				if before.Transcript != "" {
					p.await("the same source of text", func() bool { return p.session().Source == before })
				}
				done++
			}
			p.finish()
			p.check()
			t.Logf("%d kills", done)
		})
	}
}

func (p *played) session() api.Session {
	p.Helper()
	s, err := p.api.Session(p.ctx(), string(p.id))
	if err != nil {
		p.Fatal(err)
	}
	return s
}
