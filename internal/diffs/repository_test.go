package diffs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/diffs"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// commitAll commits all that's there.
func commitAll(tb testing.TB, dir string) string {
	tb.Helper()
	git(tb, dir, "", "add", "-A")
	git(tb, dir, "", "commit", "-q", "--no-verify", "--allow-empty", "-m", "x")
	return strings.TrimSpace(git(tb, dir, "", "rev-parse", "HEAD"))
}

func repo(tb testing.TB, args ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	git(tb, dir, "", append([]string{"init", "-q"}, args...)...)
	return dir
}

func changes(tb testing.TB, q diffs.ChangeQuery) diffs.Changes {
	tb.Helper()
	c, err := diffs.Maker{}.OfRepository(tb.Context(), q)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func baseOf(tb testing.TB, dir string) *sessions.Base {
	tb.Helper()
	b, err := diffs.Maker{}.BaseOf(tb.Context(), dir)
	if err != nil || b == nil {
		tb.Fatalf("base %+v, %v", b, err)
	}
	return b
}

// A repository that names programs wherever git takes one has none of them run, whatever is asked about it.
func TestNoProgramOfARepositoryRuns(t *testing.T) {
	dir, marks := repo(t), t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "one\n", 0o644)
	write(t, filepath.Join(dir, "sub/b.txt"), "two\n", 0o644)
	commitAll(t, dir)
	trap := func(name string) string {
		path := filepath.Join(marks, name+".sh")
		write(t, path, "#!/bin/sh\necho "+name+" >> "+filepath.Join(marks, "ran")+"\ncat\n", 0o755)
		return path
	}
	for key, value := range map[string]string{
		"core.fsmonitor": trap("fsmonitor"), "core.fsmonitorHookVersion": "1", "diff.external": trap("external"), "diff.trap.command": trap("diff-command"), "diff.trap.textconv": trap("textconv"),
		"filter.trap.clean": trap("clean"), "filter.trap.smudge": trap("smudge"), "filter.trap.process": trap("process"), "filter.trap.required": "true", "filter.a=b.clean": trap("odd-filter"),
		"merge.trap.driver": trap("merge"), "core.pager": trap("pager"), "pager.diff": trap("pager-diff"), "pager.rev-parse": trap("pager-rev"), "core.sshCommand": trap("ssh"), "core.gitProxy": trap("proxy"),
		"core.editor": trap("editor"), "core.askPass": trap("askpass"), "credential.helper": "!" + trap("credential"), "gpg.program": trap("gpg"), "log.showSignature": "true",
		"core.alternateRefsCommand": trap("alternate"), "interactive.diffFilter": trap("difffilter"), "alias.diff-files": "!" + trap("alias"), "alias.rev-parse": "!" + trap("alias-rev"),
		"remote.origin.url": "ext::" + trap("remote"), "remote.origin.uploadpack": trap("uploadpack"), "remote.origin.promisor": "true", "remote.origin.partialclonefilter": "blob:none", "extensions.partialClone": "origin", "protocol.ext.allow": "always", "protocol.allow": "always",
		"core.hooksPath": filepath.Join(marks, "hooks"), "core.attributesFile": filepath.Join(marks, "attributes"), "submodule.recurse": "true", "core.worktree": "/", "core.repositoryformatversion": "1",
	} {
		git(t, dir, "", "config", key, value)
	}
	for _, name := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout", "pre-commit"} {
		for _, folder := range []string{filepath.Join(marks, "hooks"), filepath.Join(dir, ".git", "hooks")} {
			write(t, filepath.Join(folder, name), "#!/bin/sh\necho "+name+" >> "+filepath.Join(marks, "ran")+"\n", 0o755)
		}
	}
	for name, value := range map[string]string{
		"GIT_EXTERNAL_DIFF": trap("env-external"), "GIT_PAGER": trap("env-pager"), "GIT_SSH_COMMAND": trap("env-ssh"), "GIT_DIR": "/nowhere",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": trap("env-config"), "GIT_TRACE": filepath.Join(marks, "trace"),
	} {
		t.Setenv(name, value)
	}
	attributes := "* filter=trap diff=trap merge=trap text\nodd filter=a=b\n"
	write(t, filepath.Join(marks, "attributes"), attributes, 0o644)
	write(t, filepath.Join(dir, ".git", "info", "attributes"), attributes, 0o644)
	write(t, filepath.Join(dir, "a.txt"), "1\n", 0o644)
	write(t, filepath.Join(dir, "new.txt"), "new\n", 0o644)
	write(t, filepath.Join(dir, "missing.txt"), "x\n", 0o644)
	ran := func() string {
		text, err := os.ReadFile(filepath.Join(marks, "ran"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(marks, "ran"))
		return string(text)
	}
	ran()
	look := func(why string) {
		for _, since := range []string{"", "HEAD"} {
			c, err := diffs.Maker{}.OfRepository(t.Context(), diffs.ChangeQuery{Folder: dir, Base: baseOf(t, dir), Since: since})
			if what := ran(); what != "" {
				t.Fatalf("%s: these ran: %s", why, what)
			}
			if err != nil {
				t.Errorf("%s: %v", why, err)
			} else if since == "HEAD" && !strings.Contains(c.Diff, "+new") {
				t.Errorf("%s: the diff is\n%s\n%q", why, c.Diff, c.Notes)
			}
		}
	}
	look("with settings")
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt diff=trap merge=trap\nsub/* filter=trap\n", 0o644)
	look("with attributes")
	if _, err := os.Stat(filepath.Join(marks, "trace")); err == nil {
		t.Error("git was told what to write where")
	}
	// What's looked for are programs that do run for others.
	for _, args := range [][]string{{"--work-tree=" + dir, "status"}, {"--work-tree=" + dir, "diff"}} {
		_, _ = tryGit(dir, "", append([]string{"--git-dir=" + filepath.Join(dir, ".git")}, args...)...)
	}
	if what := ran(); !strings.Contains(what, "env-config") || !strings.Contains(what, "process") {
		t.Errorf("of these none would run anyway: %q", what)
	}
}

// What's shown of a session's changes makes of the files as they were when it began those that are there now, whatever was
// committed meanwhile; files that had been changed before and weren't touched since aren't among them.
func TestChangesAreThoseSinceTheBeginning(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		dir := repo(t)
		names := []string{"a.txt", "dir/b c.go", "dir/ü.md", "gone", "-n", `q"x`}
		files := map[string]string{}
		put := func(name string) {
			files[name] = textOf(drawRows(rt, 0, 30, name), "\n", rapid.Bool().Draw(rt, "ended"))
			write(t, filepath.Join(dir, name), files[name], rapid.SampledFrom([]os.FileMode{0o644, 0o755}).Draw(rt, "mode"))
		}
		some := func(what string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID[string]).Draw(rt, what)
		}
		for _, name := range some("committed") {
			put(name)
		}
		if rapid.Bool().Draw(rt, "a commit") {
			commitAll(t, dir)
		}
		for _, name := range some("changed before") {
			put(name)
		}
		base := baseOf(t, dir)
		was := t.TempDir() // the files as the session began
		git(t, was, "", "init", "-q")
		for name := range files {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				rt.Fatal(err)
			}
			write(t, filepath.Join(was, name), string(text), info.Mode().Perm())
		}
		touched := some("changed")
		for _, name := range touched {
			if rapid.IntRange(0, 3).Draw(rt, "removed") == 0 {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					rt.Fatal(err)
				}
				continue
			}
			put(name)
		}
		if rapid.Bool().Draw(rt, "committed meanwhile") {
			commitAll(t, dir)
		}
		c := changes(t, diffs.ChangeQuery{Folder: dir, Base: base})
		for name := range base.Before { // of what was changed before and then again all is shown since the commit
			if !slices.Contains(touched, name) {
				if strings.Contains(c.Diff, "b/"+name+"\n") {
					rt.Fatalf("%s had been changed before, and is shown:\n%s", name, c.Diff)
				}
				continue
			}
			_ = os.Remove(filepath.Join(was, name))
			if base.Commit == "" {
				continue
			}
			if text, err := tryGit(dir, "", "show", base.Commit+":"+name); err == nil {
				mode := os.FileMode(0o644)
				if strings.HasPrefix(git(t, dir, "", "--literal-pathspecs", "ls-tree", base.Commit, "--", name), "100755") {
					mode = 0o755
				}
				write(t, filepath.Join(was, name), text, mode)
			}
		}
		if c.Diff != "" {
			if out, err := tryGit(was, c.Diff, "apply", "--whitespace=nowarn", "-"); err != nil {
				rt.Fatalf("git apply: %v: %s\n%s", err, out, c.Diff)
			}
		}
		for _, name := range names {
			want, err1 := os.ReadFile(filepath.Join(dir, name))
			got, err2 := os.ReadFile(filepath.Join(was, name))
			if (err1 == nil) != (err2 == nil) || string(want) != string(got) {
				rt.Fatalf("%s is %q, %v; want %q, %v; by\n%s\nnotes %q", name, got, err2, want, err1, c.Diff, c.Notes)
			}
		}
	})
}

// What's asked for has to be in the session's repository, and a commit has to be one.
func TestOnlyFilesAndCommitsOfTheRepository(t *testing.T) {
	dir := repo(t)
	write(t, filepath.Join(dir, "sub/a.txt"), "one\n", 0o644)
	write(t, filepath.Join(dir, "b.txt"), "one\n", 0o644)
	first := commitAll(t, dir)
	write(t, filepath.Join(dir, "sub/a.txt"), "two\n", 0o644)
	write(t, filepath.Join(dir, "b.txt"), "two\n", 0o644)
	commitAll(t, dir)
	sub := filepath.Join(dir, "sub")
	for file, shown := range map[string]string{"a.txt": "sub/a.txt", "../b.txt": "b.txt", ".": "sub/a.txt", filepath.Join(dir, "b.txt"): "b.txt", sub: "sub/a.txt"} {
		c := changes(t, diffs.ChangeQuery{Folder: sub, Since: first, File: file})
		if c.Files != 1 || !strings.HasPrefix(c.Diff, "diff --git a/"+shown+" b/"+shown+"\n") || c.Root != dir || c.Commit != first {
			t.Errorf("%s: %+v", file, c)
		}
	}
	for _, file := range []string{"../../x", "/etc/passwd", filepath.Dir(dir), "a\x00b"} {
		if c, err := (diffs.Maker{}).OfRepository(t.Context(), diffs.ChangeQuery{Folder: sub, Since: first, File: file}); err == nil {
			t.Errorf("%q: %+v", file, c)
		}
	}
	for _, since := range []string{"nothing", "--help", "-x", "HEAD..HEAD~1", ":/x", "HEAD:b.txt", "a b", "$(id)", strings.Repeat("a", 300)} {
		if c, err := (diffs.Maker{}).OfRepository(t.Context(), diffs.ChangeQuery{Folder: sub, Since: since}); err == nil {
			t.Errorf("since %q: %+v", since, c)
		}
	}
	if _, err := (diffs.Maker{}).OfRepository(t.Context(), diffs.ChangeQuery{Folder: t.TempDir()}); !errors.Is(err, diffs.ErrNoRepository) {
		t.Errorf("of no repository: %v", err)
	}
	if c := changes(t, diffs.ChangeQuery{Folder: sub}); c.Diff != "" || len(c.Notes) != 1 {
		t.Errorf("without a base: %+v", c)
	}
}

// What isn't shown is named, with why.
func TestWhatOfChangesIsNotShown(t *testing.T) {
	dir, out := repo(t), t.TempDir()
	write(t, filepath.Join(dir, ".gitattributes"), "*.bin filter=lfs\n", 0o644)
	write(t, filepath.Join(dir, ".gitignore"), "ignored\n", 0o644)
	write(t, filepath.Join(dir, "a.bin"), "pointer\n", 0o644)
	base := commitAll(t, dir)
	write(t, filepath.Join(out, "private"), "private row\n", 0o644)
	write(t, filepath.Join(dir, "a.bin"), "large\n", 0o644)
	write(t, filepath.Join(dir, "ignored"), "x\n", 0o644)
	write(t, filepath.Join(dir, ".env"), "KEY=private row\n", 0o644)
	write(t, filepath.Join(dir, "huge"), strings.Repeat("private row\n", 1<<19), 0o644)
	write(t, filepath.Join(dir, "plain"), "plain row\n", 0o644)
	git(t, filepath.Join(dir), "", "init", "-q", "nested")
	write(t, filepath.Join(dir, "nested/x"), "private row\n", 0o644)
	if err := errors.Join(
		os.Link(filepath.Join(out, "private"), filepath.Join(dir, "hard")), os.Symlink(filepath.Join(out, "private"), filepath.Join(dir, "link")),
		os.Symlink(out, filepath.Join(dir, "folder")),
	); err != nil {
		t.Fatal(err)
	}
	c := changes(t, diffs.ChangeQuery{Folder: dir, Since: base})
	said := strings.Join(c.Notes, "\n")
	for _, want := range []string{"a.bin", ".env", "huge", "hard", "nested/"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s isn't named: %q", want, said)
		}
	}
	if strings.Contains(c.Diff, "private row") || strings.Contains(c.Diff+said, "ignored\n") || !strings.Contains(c.Diff, "+plain row") || !strings.Contains(c.Diff, "new file mode 120000") {
		t.Errorf("it's\n%s", c.Diff)
	}
	if c := changes(t, diffs.ChangeQuery{Folder: dir, Since: base, Open: true}); !strings.Contains(c.Diff, "+KEY=private row") {
		t.Errorf("to who can read them it's\n%s", c.Diff)
	}
	write(t, filepath.Join(dir, "long1"), strings.Repeat("row of a long file\n", 40_000), 0o644)
	write(t, filepath.Join(dir, "long2"), strings.Repeat("row of a long file\n", 40_000), 0o644)
	if c := changes(t, diffs.ChangeQuery{Folder: dir, Since: base}); len(c.Diff) > 1<<20 || !strings.Contains(strings.Join(c.Notes, ""), "Only the first") || !strings.HasSuffix(c.Diff, "\n") {
		t.Errorf("%d bytes, %q", len(c.Diff), c.Notes)
	}
}

// Repositories of all kinds: a worktree, one with SHA-256, one whose .git says that its files are elsewhere.
func TestKindsOfRepositories(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	dir := repo(t)
	write(t, filepath.Join(dir, "a.txt"), "one\n", 0o644)
	commitAll(t, dir)
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, dir, "", "worktree", "add", "-q", tree)
	newer := repo(t, "--object-format=sha256")
	write(t, filepath.Join(newer, "a.txt"), "one\n", 0o644)
	commitAll(t, newer)
	moved, out := repo(t), t.TempDir()
	write(t, filepath.Join(moved, "a.txt"), "one\n", 0o644)
	commitAll(t, moved)
	write(t, filepath.Join(out, "private"), "private row\n", 0o644)
	git(t, moved, "", "config", "core.worktree", out)
	git(t, moved, "", "config", "core.excludesFile", "/dev/null")
	for name, dir := range map[string]string{"worktree": tree, "SHA-256": newer, "moved": moved} {
		base := baseOf(t, dir)
		write(t, filepath.Join(dir, "a.txt"), "two\n", 0o644)
		c := changes(t, diffs.ChangeQuery{Folder: dir, Base: base})
		if c.Files != 1 || !strings.Contains(c.Diff, "-one\n+two\n") || c.Commit == "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if b, err := (diffs.Maker{}).BaseOf(t.Context(), t.TempDir()); b != nil || err != nil {
		t.Errorf("of no repository: %+v, %v", b, err)
	}
	if b, err := (diffs.Maker{}).BaseOf(t.Context(), ""); b != nil || err != nil { // not of the folder that a test runs in
		t.Errorf("of no folder: %+v, %v", b, err)
	}
	left, err := filepath.Glob(filepath.Join(temporary, "panebridge-diff-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", fmt.Sprint(left), err)
	}
}

// What a person has git ignore in all of their repositories is left out, as git does, unless the repository says otherwise.
func TestWhatThePersonIgnoresIsLeftOut(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"in the home folder":  {".gitconfig": "[core]\n\texcludesFile = ~/ignored\n"},
		"below .config":       {".config/git/config": "[core]\n\texcludesFile = ~/ignored\n"},
		"in a file of theirs": {".gitconfig": "[include]\n\tpath = more\n", "more": "[core]\n\texcludesfile = ~/ignored\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := repo(t), t.TempDir()
			write(t, filepath.Join(dir, "a.txt"), "one\n", 0o644)
			commitAll(t, dir)
			t.Setenv("HOME", home)
			t.Setenv("XDG_CONFIG_HOME", "")
			settings["ignored"] = "*.swp\nkeep.me"
			for file, text := range settings {
				write(t, filepath.Join(home, file), text, 0o644)
			}
			write(t, filepath.Join(dir, ".git", "info", "exclude"), "!shown.swp\n", 0o644)
			base := baseOf(t, dir)
			for _, file := range []string{"a.swp", "sub/b.swp", "keep.me", "shown.swp", "new.txt"} {
				write(t, filepath.Join(dir, file), "x\n", 0o644)
			}
			c := changes(t, diffs.ChangeQuery{Folder: dir, Base: base})
			if c.Files != 2 || !strings.Contains(c.Diff, "b/shown.swp") || !strings.Contains(c.Diff, "b/new.txt") {
				t.Errorf("of %d files:\n%s", c.Files, c.Diff)
			}
		})
	}
}
