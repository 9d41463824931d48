package diffs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

// Bounds of what git may do for one look.
const (
	lookFor   = 20 * time.Second
	endWithin = time.Second // git gets to end when it's told to
	maxNames  = 8 << 20     // bytes of paths
	maxErrors = 4 << 10     // bytes of what git complains of
	maxIgnore = 1 << 20     // bytes of the repository's own list of what's ignored
)

// ErrNoRepository says that a folder is in no git repository.
var ErrNoRepository = errors.New("it’s in no git repository")

// errTooLong says that git printed more than was wanted.
var errTooLong = errors.New("there’s too much of it")

// clone is a repository of ours with the objects of another, and an index that's made from one commit. Settings,
// hooks and the index of the other are somebody's to write, and may name programs (core.fsmonitor, filters,
// diff.external, textconv, pagers, a remote's upload-pack): none of them is read when files are looked at. An
// index could also say that a file hasn't changed.
type clone struct {
	root string // of the files
	dir  string // temporary
	env  []string
}

// theirEnv is for the one question to the repository itself: where it is, and which commit a name means. That reads its
// settings, and runs nothing.
func theirEnv() []string {
	env := []string{
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1", "GIT_PAGER=cat",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=" + os.DevNull,
	}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// openClone makes one. base is the commit that's meant by a name; "": the repository has none yet.
func openClone(ctx context.Context, root, name string) (c *clone, base string, err error) {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil, "", ErrNoRepository
	}
	said, err := runGit(ctx, root, theirEnv(), "", maxErrors, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format")
	if err != nil {
		return nil, "", err
	}
	common, format, ok := strings.Cut(strings.TrimSuffix(said, "\n"), "\n")
	if !ok || !filepath.IsAbs(common) || format != "sha1" && format != "sha256" {
		return nil, "", errors.New("git doesn’t say where the repository is")
	}
	if base, err = commitOf(ctx, root, name); err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "panebridge-diff-")
	if err != nil {
		return nil, "", fmt.Errorf("make a folder for git: %w", err)
	}
	c = &clone{root: root, dir: dir, env: theirEnv()}
	if err := c.begin(ctx, common, format, base); err != nil {
		return nil, "", errors.Join(err, c.close())
	}
	return c, base, nil
}

// commitNames are what may name a commit: no flag, no range, nothing that git would search for.
var commitNames = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./~^@{}+-]{0,199}$`)

// commitOf is the commit that a name means in a repository, "HEAD" where there may be none yet.
func commitOf(ctx context.Context, root, name string) (string, error) {
	if !commitNames.MatchString(name) || strings.Contains(name, "..") {
		return "", fmt.Errorf("%q names no commit", name)
	}
	said, err := runGit(ctx, root, theirEnv(), "", maxErrors, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	switch {
	case ctx.Err() != nil:
		return "", err
	case err != nil && name == "HEAD":
		return "", nil
	case err != nil:
		return "", fmt.Errorf("there’s no commit %s", name)
	}
	return strings.TrimSpace(said), nil
}

// begin makes the repository of ours, and its index.
func (c *clone) begin(ctx context.Context, common, format, base string) error {
	git := filepath.Join(c.dir, ".git")
	if _, err := runGit(ctx, c.dir, c.env, "", maxErrors, "init", "--quiet", "--template=", "--object-format="+format, "."); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(git, "objects", "info"), "alternates", quotedPath(filepath.Join(common, "objects"))+"\n"); err != nil {
		return err
	}
	var ignored strings.Builder
	for _, path := range []string{c.usersIgnoreFile(ctx), filepath.Join(common, "info", "exclude")} { // what's below counts more
		if text, err := regular.Read(path, maxIgnore); err == nil {
			ignored.WriteString(string(text) + "\n")
		}
	}
	if err := writeNew(filepath.Join(git, "info"), "exclude", ignored.String()); err != nil {
		return err
	}
	c.env = append(c.env, "GIT_DIR="+git, "GIT_WORK_TREE="+c.root, "GIT_LITERAL_PATHSPECS=1")
	read := []string{"read-tree", "--empty"}
	if base != "" {
		read = []string{"read-tree", base}
	}
	if _, err := c.run(ctx, "", maxErrors, read...); err != nil {
		return err
	}
	return nil
}

// usersIgnoreFile is the list of what this user has git ignore everywhere; "": there's none but git's usual one. It's asked
// for outside of the repository, and runs nothing.
func (c *clone) usersIgnoreFile(ctx context.Context) string {
	env := slices.DeleteFunc(theirEnv(), func(v string) bool { return strings.HasPrefix(v, "GIT_CONFIG_GLOBAL=") })
	path, err := runGit(ctx, c.dir, env, "", maxErrors, "config", "--global", "--includes", "--type=path", "--get", "core.excludesFile")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, "\n")
}

func writeNew(folder, name, text string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make git’s folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write for git: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write for git: %w", err)
	}
	return nil
}

func (c *clone) close() error { return os.RemoveAll(c.dir) }

// run runs git with our repository and the other's files.
func (c *clone) run(ctx context.Context, in string, most int, args ...string) (string, error) {
	all := append([]string{
		"-c", "core.quotePath=false", "-c", "core.bigFileThreshold=5m", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
		"-c", "core.hooksPath=" + os.DevNull, "-c", "diff.renameLimit=200", "-c", "gc.auto=0", "-c", "advice.addEmbeddedRepo=false",
	}, args...)
	return runGit(ctx, c.root, c.env, in, most, all...)
}

// names runs git for paths, each with a NUL behind it.
func (c *clone) names(ctx context.Context, in []string, args ...string) ([]string, error) {
	text := ""
	if len(in) > 0 {
		text = strings.Join(in, "\x00") + "\x00"
	}
	said, err := c.run(ctx, text, maxNames, args...)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(said, func(r rune) bool { return r == 0 }), nil
}

// runGit runs git, and returns what it prints, so much of it at most; errTooLong: there was more.
func runGit(ctx context.Context, dir string, env []string, in string, most int, args ...string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, complains := regular.NewBeginning(most, cancel), regular.NewBeginning(maxErrors, nil)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, env, strings.NewReader(in), out, complains, endWithin
	err := cmd.Run()
	switch {
	case out.HasMore():
		return out.String(), errTooLong
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git isn’t installed where panebridge runs")
	case context.Cause(ctx) != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("git took more than %d s", lookFor/time.Second)
	case err != nil:
		why := strings.TrimSpace(complains.String())
		if why == "" {
			why = err.Error()
		}
		first, _, _ := strings.Cut(why, "\n")
		return out.String(), fmt.Errorf("git %s: %s", verbOf(args), first)
	}
	return out.String(), nil
}

// verbOf is what git was to do.
func verbOf(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		return args[i]
	}
	return ""
}
