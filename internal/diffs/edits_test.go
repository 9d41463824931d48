package diffs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/diffs"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// git runs git in a folder, without the settings of whoever runs the test.
func git(tb testing.TB, dir, in string, args ...string) string {
	tb.Helper()
	out, err := tryGit(dir, in, args...)
	if err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func tryGit(dir, in string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(tb testing.TB, path, text string, mode os.FileMode) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		tb.Fatal(err)
	}
}

// drawRows draws lines of which many are alike, so that a place isn't told by one of them.
func drawRows(rt *rapid.T, least, most int, name string) []string {
	row := rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "}", "\tx", "--- a", "+++ b", "-", "+", "@@ -1 +1 @@", `\ No newline at end of file`, "diff --git a/x b/x", "naïve 漢字 👩‍💻", "a\tb  "}),
		rapid.Map(rapid.IntRange(0, 1<<20), func(n int) string { return fmt.Sprintf("row %d", n) }),
	)
	n := rapid.IntRange(least, most).Draw(rt, name+": how many")
	rows := make([]string, n)
	for i := range rows {
		if n > 40 && i%7 != 0 { // drawn rows are slow
			rows[i] = fmt.Sprintf("%s %d", name, i)
			continue
		}
		rows[i] = row.Draw(rt, name)
	}
	return rows
}

func textOf(rows []string, end string, ended bool) string {
	text := strings.Join(rows, end)
	if ended && len(rows) > 0 {
		text += end
	}
	return text
}

// drawnEdit is an edit, and what the file is before it and afterwards.
type drawnEdit struct {
	name     string
	was, is  string // the texts
	made, to string // to: the path afterwards; made: "": the file was there
	edits    []sessions.FileEdit
}

func drawEdit(rt *rapid.T, folder string) drawnEdit {
	name := rapid.SampledFrom([]string{"a.txt", "dir/b c.go", "new/deep/ü漢.md", `q"uote\d`, "tab\there", "-n", " lead"}).Draw(rt, "path")
	path := name
	if rapid.Bool().Draw(rt, "absolute") {
		path = filepath.Join(folder, name)
	}
	most := rapid.SampledFrom([]int{1, 12, 12, 300, 2000}).Draw(rt, "most rows")
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n"}).Draw(rt, "ends")
	rows := drawRows(rt, 0, most, "file")
	e := drawnEdit{name: name, to: name, was: textOf(rows, end, rapid.IntRange(0, 3).Draw(rt, "its end") > 0)}
	one := sessions.FileEdit{Path: path, Folder: folder}
	switch kind := rapid.SampledFrom([]string{"swap", "swap", "swap", "all", "new", "write", "delete"}).Draw(rt, "kind"); kind {
	case "new":
		e.was, e.made = "", "new"
		e.is = textOf(drawRows(rt, 0, most, "written"), "\n", rapid.Bool().Draw(rt, "written end"))
		if rapid.Bool().Draw(rt, "as a swap") && e.is != "" {
			one.Swaps = []sessions.TextSwap{{New: e.is}}
		} else {
			one.Write = &e.is
		}
	case "write":
		text := textOf(drawRows(rt, 0, most, "written"), "\n", rapid.Bool().Draw(rt, "written end"))
		one.Write, one.KeepsEnds, e.is = &text, end == "\r\n", text
		if strings.Contains(e.was, "\r") {
			e.is = strings.ReplaceAll(text, "\n", "\r\n")
		}
	case "delete":
		one.Delete, e.to = true, ""
	default:
		if len(rows) == 0 {
			e.was = "only" + end
		}
		lf := strings.ReplaceAll(e.was, "\r\n", "\n")
		from := rapid.IntRange(0, len(lf)-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, min(len(lf), from+1+rapid.SampledFrom([]int{3, 40, 60_000}).Draw(rt, "long"))).Draw(rt, "to")
		for from > 0 && lf[from]&0xc0 == 0x80 {
			from--
		}
		for to < len(lf) && lf[to]&0xc0 == 0x80 {
			to++
		}
		old := lf[from:to]
		s := sessions.TextSwap{Old: old, New: textOf(drawRows(rt, 0, min(most, 400), "now"), "\n", rapid.Bool().Draw(rt, "now ends")), All: kind == "all" || strings.Count(lf, old) > 1}
		one.Swaps = []sessions.TextSwap{s}
		n := 1
		if s.All {
			n = -1
		}
		e.is = strings.Replace(lf, s.Old, s.New, n)
		if strings.Contains(e.was, "\r") {
			e.is = strings.ReplaceAll(e.is, "\n", "\r\n")
		}
	}
	e.edits = []sessions.FileEdit{one}
	return e
}

// A diff that's shown before an edit is allowed, applied by git apply, gives what the agent then writes.
func TestTheDiffShownIsWhatIsWritten(t *testing.T) {
	shown := 0
	drawtest.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		git(t, dir, "", "init", "-q")
		e := drawEdit(rt, dir)
		mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755}).Draw(rt, "mode")
		if e.made == "" {
			write(t, filepath.Join(dir, e.name), e.was, mode)
		}
		diff, note := diffs.Maker{}.OfEdits(dir, e.edits)
		if diff == "" {
			if e.to != "" && e.is != e.was && !strings.Contains(note, "different ways") {
				rt.Fatalf("no diff of %q to %q: %s", e.was, e.is, note)
			}
			return
		}
		shown++
		if out, err := tryGit(dir, diff, "apply", "--whitespace=nowarn", "-"); err != nil {
			rt.Fatalf("git apply: %v: %s\n%s", err, out, diff)
		}
		got, err := os.ReadFile(filepath.Join(dir, e.name))
		if e.to == "" {
			if !os.IsNotExist(err) {
				rt.Fatalf("it's still there: %v", err)
			}
			return
		}
		if err != nil || string(got) != e.is {
			rt.Fatalf("it's %q, %v\nwant %q\nby\n%s", got, err, e.is, diff)
		}
		if info, err := os.Stat(filepath.Join(dir, e.name)); e.made == "" && (err != nil || info.Mode().Perm()&0o100 != mode&0o100) {
			rt.Fatalf("its mode is %v, %v", info.Mode(), err)
		}
	})
	if t.Logf("%d diffs were shown", shown); shown < 20 {
		t.Errorf("%d diffs were shown", shown)
	}
}

// Patches of several files, as Codex writes them, and its server's changes of the same are shown alike.
func TestPatches(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\nfour\nfive", 0o644)
	write(t, filepath.Join(dir, "old.txt"), "x\ny\n", 0o755)
	write(t, filepath.Join(dir, "gone.txt"), "bye\n", 0o644)
	patch := "*** Begin Patch\n*** Update File: a.txt\n@@ two\n three\n-four\n+4\n five\n*** Add File: sub/n.txt\n+new\n+\n*** Update File: old.txt\n*** Move to: now.txt\n@@\n x\n-y\n+z\n*** Delete File: gone.txt\n*** End Patch"
	diff, note := diffs.Maker{}.OfEdits(dir, []sessions.FileEdit{{Patch: patch}})
	if note != "" {
		t.Fatal(note)
	}
	added := "new\n\n"
	served, note := diffs.Maker{}.OfEdits(dir, []sessions.FileEdit{
		{Path: filepath.Join(dir, "a.txt"), Diff: "@@ -2,4 +2,4 @@\n two\n three\n-four\n+4\n five\n\\ No newline at end of file\n", EndsLine: true},
		{Path: filepath.Join(dir, "sub/n.txt"), Write: &added},
		{Path: filepath.Join(dir, "old.txt"), To: filepath.Join(dir, "now.txt"), Diff: "@@ -1,2 +1,2 @@\n x\n-y\n+z\n", EndsLine: true},
		{Path: filepath.Join(dir, "gone.txt"), Delete: true},
	})
	if served != diff || note != "" {
		t.Errorf("the server's changes are shown as\n%s\n%s\nand the patch as\n%s", served, note, diff)
	}
	git(t, dir, diff, "apply", "-")
	for name, want := range map[string]string{"a.txt": "one\ntwo\nthree\n4\nfive\n", "sub/n.txt": added, "now.txt": "x\nz\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"old.txt", "gone.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// Where a file isn't as the record has it, or may not be read, there's no diff, and a sentence says why. Nothing of a file
// outside of the session's repository is read, whatever leads there.
func TestWhatIsNotCompared(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(out, "private"), "secret row\nx\n", 0o644)
	write(t, filepath.Join(dir, "a.txt"), "x\ny\nx\n", 0o644)
	write(t, filepath.Join(dir, "mixed.txt"), "x\r\ny\n", 0o644)
	write(t, filepath.Join(dir, "crlf.txt"), "x\r\ny\r\n", 0o644)
	write(t, filepath.Join(dir, "binary"), "x\x00y", 0o644)
	write(t, filepath.Join(dir, "latin"), "x\xe9y", 0o644)
	write(t, filepath.Join(dir, "large"), strings.Repeat("row\n", 1<<18)+"x\n", 0o644)
	write(t, filepath.Join(dir, ".env"), "x\n", 0o644)
	for name, to := range map[string]string{"link": filepath.Join(out, "private"), "folder": out} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(out, "private"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	swap := func(old string) []sessions.TextSwap { return []sessions.TextSwap{{Old: old, New: "z"}} }
	text := "x\nz\n"
	for name, e := range map[string]sessions.FileEdit{
		"isn’t in the session’s folder":   {Path: filepath.Join(out, "private"), Swaps: swap("x")},
		"isn’t in the session's folder 2": {Path: "../" + filepath.Base(out) + "/private", Swaps: swap("x")},
		"one is a link":                   {Path: "link", Swaps: swap("x")},
		"isn’t compared":                  {Path: "folder/private", Swaps: swap("x")},
		"another name":                    {Path: "hard", Swaps: swap("x")},
		"2 times":                         {Path: "a.txt", Swaps: swap("x")},
		"doesn’t have what":               {Path: "a.txt", Swaps: swap("nothing")},
		"no file missing.txt":             {Path: "missing.txt", Swaps: swap("x")},
		"different ways":                  {Path: "mixed.txt", Swaps: swap("y")},
		"isn’t known how":                 {Path: "crlf.txt", Write: &text},
		"isn’t text":                      {Path: "binary", Swaps: swap("x")},
		"isn’t text 2":                    {Path: "latin", Swaps: swap("x")},
		"more than":                       {Path: "large", Swaps: swap("x")},
		"kept back":                       {Path: ".env", Swaps: swap("x")},
		"in .git is kept back":            {Path: ".git/config", Write: &text},
		"changes nothing":                 {Path: "a.txt", Swaps: []sessions.TextSwap{{Old: "y", New: "y"}}},
		"names no file":                   {Swaps: swap("x")},
		"isn’t as the agent’s":            {Path: "a.txt", Diff: "@@ -1,2 +1,2 @@\n q\n-y\n+z\n"},
	} {
		diff, note := diffs.Maker{}.OfEdits(dir, []sessions.FileEdit{e})
		want := strings.TrimRight(strings.ReplaceAll(strings.TrimPrefix(name, "one is a "), "'", "’"), " 2")
		if diff != "" || !strings.Contains(note, want) || strings.Contains(note, "secret") {
			t.Errorf("%s: note %q, diff\n%s", name, note, diff)
		}
	}
}

// An agent that works in a repository below the session's folder has its paths shown from there; what it says of a folder
// elsewhere doesn't have anything be read there.
func TestPathsAreFromTheAgentsRepository(t *testing.T) {
	home, out := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, "src", "p")
	write(t, filepath.Join(dir, "sub", "a.txt"), "x\n", 0o644)
	git(t, dir, "", "init", "-q")
	write(t, filepath.Join(out, "b.txt"), "private row\nx\n", 0o644)
	edit := func(folder, path string) []sessions.FileEdit {
		return []sessions.FileEdit{{Folder: folder, Path: path, Swaps: []sessions.TextSwap{{Old: "x", New: "y"}}}}
	}
	for _, folder := range []string{home, dir, filepath.Join(dir, "sub")} {
		diff, note := diffs.Maker{}.OfEdits(folder, edit(filepath.Join(dir, "sub"), "a.txt"))
		if !strings.HasPrefix(diff, "diff --git a/sub/a.txt b/sub/a.txt\n") {
			t.Errorf("in %s: %s%s", folder, diff, note)
		}
	}
	for folder, path := range map[string]string{home: "b.txt", dir: filepath.Join(out, "b.txt"), "": filepath.Join(out, "b.txt")} {
		if diff, note := (diffs.Maker{}).OfEdits(folder, edit(out, path)); diff != "" || note == "" || strings.Contains(note, "private") {
			t.Errorf("in %q: %s%s", folder, diff, note)
		}
	}
}
