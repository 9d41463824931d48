package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/internal/regular"
)

var (
	jsonLines  = regexp.MustCompile(`\.jsonl$`)
	rollout    = regexp.MustCompile(`^rollout-.*\.jsonl$`)
	geminiFile = regexp.MustCompile(`^session-.*\.jsonl$`)
	notName    = regexp.MustCompile(`[^A-Za-z0-9]`)
	piNotName  = regexp.MustCompile(`[/\\:]`)
)

// findClaude looks in projects/FOLDER, whose name is the path with "-" for all but
// letters and digits. sessions/PID.json says which conversation a process has,
// before anything is written of it.
func findClaude(ctx context.Context, w *Where) ([]Candidate, error) {
	base := w.folder("CLAUDE_CONFIG_DIR", ".claude")
	held := claudeHeld(base, w.PID)
	var found []Candidate
	for _, cwd := range w.cwds() {
		files, err := w.listFiles(filepath.Join(base, "projects", claudeFolder(cwd)), jsonLines)
		if err != nil {
			return nil, err
		}
		more, err := w.candidates(ctx, files, func(head []byte, c *Candidate) bool {
			c.Cwd, c.Started = textOf(firstOf(head, "cwd")), timeOf(firstOf(head, "timestamp"))
			c.Ref.Session = strings.TrimSuffix(filepath.Base(c.Ref.Path), ".jsonl")
			return !firstOf(head, "isSidechain").Bool()
		})
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if held == nil {
		return found, nil
	}
	for i := range found {
		if found[i].Ref.Path == held.Ref.Path {
			found[i].Sure = true
			return found, nil
		}
	}
	return append(found, *held), nil
}

// How many bytes files may have that say which conversation a process has, some hundred, and
// what the folders' projects are called, some dozen for each.
const (
	maxHeld     = 64 << 10
	maxProjects = 8 << 20
)

// claudeFolder is the name of a folder's folder. Names of more than 200 characters
// are cut and get a checksum of Claude Code's own; those are found by hooks only.
func claudeFolder(cwd string) string { return notName.ReplaceAllString(cwd, "-") }

// claudeHeld returns the conversation that a process, or the nearest one below it,
// says it has.
func claudeHeld(base string, pid int) *Candidate {
	for _, level := range descendants(pid) {
		for _, p := range level {
			file, err := regular.Read(filepath.Join(base, "sessions", strconv.Itoa(p)+".json"), maxHeld)
			if err != nil || !valid(file) {
				continue
			}
			r := gjson.ParseBytes(file)
			ticks := startTicks(p)
			session, cwd := textOf(r.Get("sessionId")), textOf(r.Get("cwd"))
			if ticks == "" || ticks != r.Get("procStart").String() || session == "" || notName.ReplaceAllString(session, "-") != session {
				continue // of a process that's gone
			}
			c := &Candidate{Cwd: cwd, Sure: true, Ref: Ref{
				Format: Claude, Path: filepath.Join(base, "projects", claudeFolder(cwd), session+".jsonl"), Session: session,
			}}
			if head, tail, err := ends(c.Ref.Path); err == nil {
				c.Started, c.LastUser = timeOf(firstOf(head, "timestamp")), lastUser(Claude, tail)
				if info, err := os.Stat(c.Ref.Path); err == nil {
					c.Changed = info.ModTime()
				}
			}
			return c
		}
	}
	return nil
}

// findCodex looks in sessions/YEAR/MONTH/DAY. Codex has the file of its conversation
// open, and those of earlier ones of the same process: the last one written is that
// of now.
func findCodex(ctx context.Context, w *Where) ([]Candidate, error) {
	base := filepath.Join(w.folder("CODEX_HOME", ".codex"), "sessions")
	days, err := filepath.Glob(filepath.Join(base, "[0-9]*", "[0-9]*", "[0-9]*"))
	if err != nil {
		return nil, err
	}
	slices.Sort(days)
	slices.Reverse(days)
	var files []listed
	for _, day := range days {
		more, err := w.listFiles(day, rollout)
		if err != nil {
			return nil, err
		}
		if files = append(files, more...); len(files) > maxListed {
			break
		}
	}
	found, err := w.candidates(ctx, newest(files), codexAbout)
	if err != nil {
		return nil, err
	}
	held := codexHeld(base, w.PID)
	for i := range found { // the last written first
		if slices.Contains(held, found[i].Ref.Path) {
			found[i].Sure = true
			break
		}
	}
	return found, nil
}

func codexAbout(head []byte, c *Candidate) bool {
	meta := firstOf(head, "payload")
	c.Cwd, c.Started, c.Ref.Session = textOf(meta.Get("cwd")), timeOf(meta.Get("timestamp")), textOf(meta.Get("id"))
	source := meta.Get("thread_source").Str
	return !meta.Get("source").IsObject() && (source == "" || source == "user")
}

// codexHeld returns the transcripts that a process, or the nearest ones below it,
// have open. The app server has those of all terminals open, and is below the one that
// started it: it doesn't count.
func codexHeld(base string, pid int) []string { return heldBelow(base, pid, rollout, isCodexServer) }

// heldBelow returns the files below a folder, with names that match, which a process has open, or
// those nearest below it that has some; others are left out that except is true for.
func heldBelow(base string, pid int, match *regexp.Regexp, except func(pid int) bool) []string {
	if linked, err := filepath.EvalSymlinks(base); err == nil {
		base = linked
	}
	for _, level := range descendants(pid) {
		var held []string
		for _, p := range level {
			if except(p) {
				continue
			}
			for _, path := range openFiles(p) {
				if match.MatchString(filepath.Base(path)) && strings.HasPrefix(path, base+string(filepath.Separator)) {
					held = append(held, path)
				}
			}
		}
		if len(held) > 0 {
			return held
		}
	}
	return nil
}

// isCodexServer reports whether a process is the server that Codex starts for all its
// terminals.
func isCodexServer(pid int) bool {
	args, err := host.ReadArguments(pid)
	return err == nil && slices.Contains(args, "app-server")
}

// findGemini looks in tmp/PROJECT/chats. projects.json names a folder's project;
// earlier versions took the path's SHA-256.
func findGemini(ctx context.Context, w *Where) ([]Candidate, error) {
	base := filepath.Join(w.folder("GEMINI_CLI_HOME"), ".gemini")
	projects, _ := regular.Read(filepath.Join(base, "projects.json"), maxProjects)
	named := map[string]string{}
	gjson.GetBytes(projects, "projects").ForEach(func(cwd, name gjson.Result) bool {
		named[cwd.Str] = name.Str
		return true
	})
	var found []Candidate
	for _, cwd := range w.cwds() {
		sum := sha256.Sum256([]byte(cwd))
		for _, name := range []string{named[cwd], hex.EncodeToString(sum[:])} {
			if name == "" || name != filepath.Base(name) {
				continue
			}
			files, err := w.listFiles(filepath.Join(base, "tmp", name, "chats"), geminiFile)
			if err != nil {
				return nil, err
			}
			more, err := w.candidates(ctx, files, func(head []byte, c *Candidate) bool {
				c.Cwd, c.Started, c.Ref.Session = cwd, timeOf(firstOf(head, "startTime")), textOf(firstOf(head, "sessionId"))
				return firstOf(head, "kind").Str != "subagent"
			})
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	return withoutStubs(found), nil
}

// withoutStubs leaves out the empty file that Gemini CLI makes when it goes on with
// a conversation in the file that's there.
func withoutStubs(found []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(found), func(c Candidate) bool {
		return c.LastUser == "" && slices.ContainsFunc(found, func(o Candidate) bool {
			return o.LastUser != "" && o.Ref.Session == c.Ref.Session
		})
	})
}

// findQwen looks in projects/FOLDER/chats, named as by Claude Code.
func findQwen(ctx context.Context, w *Where) ([]Candidate, error) {
	base := w.folder("QWEN_HOME", ".qwen")
	if dir := w.Env["QWEN_RUNTIME_DIR"]; filepath.IsAbs(dir) {
		base = dir
	}
	var found []Candidate
	for _, cwd := range w.cwds() {
		files, err := w.listFiles(filepath.Join(base, "projects", claudeFolder(cwd), "chats"), jsonLines)
		if err != nil {
			return nil, err
		}
		more, err := w.candidates(ctx, files, func(head []byte, c *Candidate) bool {
			c.Cwd, c.Started = textOf(firstOf(head, "cwd")), timeOf(firstOf(head, "timestamp"))
			c.Ref.Session = strings.TrimSuffix(filepath.Base(c.Ref.Path), ".jsonl")
			return true
		})
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// findDemo looks in demo-agent of the state folder that the pane was given. The agent has its
// file open.
func findDemo(ctx context.Context, w *Where) ([]Candidate, error) {
	state := w.Env["PANEBRIDGE_STATE_DIR"]
	if !filepath.IsAbs(state) {
		return nil, nil
	}
	base := filepath.Join(state, "demo-agent")
	files, err := w.listFiles(base, jsonLines)
	if err != nil {
		return nil, err
	}
	found, err := w.candidates(ctx, files, func(head []byte, c *Candidate) bool {
		c.Cwd, c.Started = textOf(firstOf(head, "cwd")), timeOf(firstOf(head, "at"))
		return true
	})
	if err != nil {
		return nil, err
	}
	held := heldBelow(base, w.PID, jsonLines, func(int) bool { return false })
	for i := range found {
		found[i].Sure = slices.Contains(held, found[i].Ref.Path)
	}
	return found, nil
}

// findPi looks in sessions/--FOLDER--, the path with "-" for "/".
func findPi(ctx context.Context, w *Where) ([]Candidate, error) {
	base := w.folder("PI_CODING_AGENT_DIR", ".pi", "agent")
	sessions := filepath.Join(base, "sessions")
	if dir := w.Env["PI_CODING_AGENT_SESSION_DIR"]; filepath.IsAbs(dir) {
		sessions = dir
	}
	var found []Candidate
	for _, cwd := range w.cwds() {
		name := "--" + piNotName.ReplaceAllString(strings.TrimLeft(cwd, `/\`), "-") + "--"
		files, err := w.listFiles(filepath.Join(sessions, name), jsonLines)
		if err != nil {
			return nil, err
		}
		more, err := w.candidates(ctx, files, func(head []byte, c *Candidate) bool {
			c.Cwd, c.Started, c.Ref.Session = textOf(firstOf(head, "cwd")), timeOf(firstOf(head, "timestamp")), textOf(firstOf(head, "id"))
			return true
		})
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}
