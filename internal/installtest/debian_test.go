package installtest_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// debian is the root of a Debian of its own: packages that every Debian has, sudo, and ada,
// who may use it. Its network is the machine's.
type debian struct {
	*testing.T
	root string
}

// hung is how long nothing happens where nothing happens any more.
const hung = 2 * time.Minute

// adasHome is the home of the user.
const adasHome = "home/ada"

// prompt is what ada's shell asks with. It tells how the command before has ended.
var prompt = regexp.MustCompile(`<ended (\d+)> `)

// makeDebian makes an archive of the root by mmdebstrap, from Debian's own archive.
func makeDebian(t *testing.T) (archive string) {
	t.Helper()
	archive = filepath.Join(t.TempDir(), "debian.tar")
	cmd := exec.CommandContext(
		t.Context(), "mmdebstrap", "--quiet", "--variant=minbase", "--include=sudo", "--skip=cleanup/apt",
		`--customize-hook=chroot "$1" useradd -m -s /bin/bash ada`,
		`--customize-hook=echo "ada ALL=(ALL) NOPASSWD: ALL" >"$1/etc/sudoers.d/ada"`,
		`--customize-hook=echo "PS1='<ended \$?> '" >>"$1/home/ada/.bashrc"`,
		"stable", archive, "deb http://deb.debian.org/debian stable main",
	)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mmdebstrap: %v\n%s", err, said)
	}
	return archive
}

// newDebian unpacks the archive.
func newDebian(t *testing.T, archive string) *debian {
	t.Helper()
	d := &debian{T: t, root: t.TempDir()}
	if said, err := exec.CommandContext(t.Context(), "tar", "-xpf", archive, "-C", d.root, "--exclude=./dev/*").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, said)
	}
	return d
}

// enter is run in a mount namespace of its own, with the root as its argument.
const enter = `set -e
mount --make-rprivate /
cd "$1"
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
chmod 1777 dev/shm
for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"; done
mknod -m 666 dev/tty c 5 0
ln -s pts/ptmx dev/ptmx
shift
exec chroot . "$@"
`

// give puts a file into ada's home.
func (d *debian) give(from string) {
	d.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.root, adasHome, filepath.Base(from)), text, 0o600)
	}
	if err == nil {
		err = os.Chown(filepath.Join(d.root, adasHome, filepath.Base(from)), 1000, 1000)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// files returns all files of the root with digests, without what a mount hides.
func (d *debian) files() map[string]string {
	d.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, d.root+"/")
		switch {
		case e.IsDir() && (name == "proc" || name == "dev" || name == "sys" || name == "run"):
			return fs.SkipDir
		case e.IsDir():
			found[name] = "folder"
		case e.Type().IsRegular():
			text, err := os.ReadFile(path)
			found[name] = fmt.Sprintf("%x", sha256.Sum256(text))
			return err
		default:
			found[name] = e.Type().String()
		}
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
	return found
}

// owned returns the files of the packages that dpkg has installed.
func (d *debian) owned() map[string]bool {
	d.Helper()
	lists, err := filepath.Glob(filepath.Join(d.root, "var/lib/dpkg/info/*.list"))
	if err != nil || len(lists) == 0 {
		d.Fatalf("dpkg has the lists %v, %v", lists, err)
	}
	owned := make(map[string]bool)
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			d.Fatal(err)
		}
		for name := range strings.Lines(string(text)) {
			name = strings.Trim(name, "/\n")
			for _, merged := range []string{"bin/", "sbin/", "lib/", "lib64/"} {
				if strings.HasPrefix(name, merged) {
					name = "usr/" + name
					break
				}
			}
			owned[name] = true
		}
	}
	return owned
}

// desk is a terminal at which somebody works in a shell.
type desk struct {
	*testing.T
	tty *os.File

	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
	over chan struct{}
	read int // how much of the text was looked at
}

// login has ada sit down. Whatever runs there ends with the test.
func (d *debian) login(env ...string) *desk {
	d.Helper()
	cmd := exec.CommandContext(
		d.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter, "enter", d.root,
		"su", "--login", "--whitelist-environment="+names(env), "ada",
	)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm", "DEBIAN_FRONTEND=noninteractive"}, env...)
	return openDesk(d.T, cmd)
}

// openDesk runs a shell whose prompt is prompt's on a terminal, and waits for the prompt. The shell ends with the test.
func openDesk(t *testing.T, cmd *exec.Cmd) *desk {
	t.Helper()
	k := &desk{T: t, news: make(chan struct{}, 1), over: make(chan struct{})}
	var err error
	if k.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 250}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = k.tty.Close()
		_ = cmd.Process.Kill() // the shell is a namespace's first process: all others go with it
		_ = cmd.Wait()
	})
	go k.listen()
	k.await(prompt)
	return k
}

// names are those of variables, with commas between.
func names(env []string) string {
	var all []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		all = append(all, name)
	}
	return strings.Join(all, ",")
}

func (k *desk) listen() {
	defer close(k.over)
	chunk := make([]byte, 4096)
	for {
		n, err := k.tty.Read(chunk)
		k.mu.Lock()
		k.text.Write(chunk[:n])
		k.mu.Unlock()
		select {
		case k.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// all is what the terminal has shown.
func (k *desk) all() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

// await waits for one of some texts behind what was looked at, and returns which came first, with its groups.
func (k *desk) await(wants ...*regexp.Regexp) (which int, groups []string) {
	k.Helper()
	for {
		text, first := k.all()[k.read:], -1
		for i, want := range wants {
			if at := want.FindStringSubmatchIndex(text); at != nil && (first < 0 || at[0] < first) {
				first, which, groups = at[0], i, want.FindStringSubmatch(text)
			}
		}
		if first >= 0 {
			k.read += first + len(groups[0])
			return which, groups
		}
		select {
		case <-k.news:
		case <-k.over:
			k.Fatalf("the terminal is gone, and %v didn't come:\n%s", wants, k.all())
		case <-time.After(hung):
			k.Fatalf("%v didn't come:\n%s", wants, k.all())
		}
	}
}

func (k *desk) write(text string) {
	k.Helper()
	if _, err := k.tty.WriteString(text); err != nil {
		k.Fatal(err)
	}
}

// reply answers a question of a command.
type reply struct {
	to   *regexp.Regexp
	with func() string
}

// do types a command, answers what it asks, and returns what it has shown when it has ended well.
func (k *desk) do(command string, replies ...reply) string {
	k.Helper()
	began := len(k.all())
	k.write(command + "\n")
	wants := []*regexp.Regexp{prompt}
	for _, r := range replies {
		wants = append(wants, r.to)
	}
	for {
		which, groups := k.await(wants...)
		if which > 0 {
			k.write(replies[which-1].with())
			continue
		}
		if groups[1] != "0" {
			k.Fatalf("%s ended with %s:\n%s", command, groups[1], k.all()[began:])
		}
		return k.all()[began:]
	}
}
