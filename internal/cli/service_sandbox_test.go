//go:build linux

package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sandbox is a small machine of its own: namespaces with a file tree of their own, in which a real
// systemd runs as the manager of an ordinary user. Nothing in it can write to this machine's files: of
// those it sees /usr alone, and can only read it.
type sandbox struct {
	t     *testing.T
	init  int      // its first process
	root  string   // its file tree, as this machine sees it
	input *os.File // when that's closed, all of it ends
}

const (
	sandboxUser = "61000"
	sandboxHome = "/home/agent"
	sandboxRun  = "/run/user/" + sandboxUser
)

// outerScript makes a cgroup for the sandbox and removes it when the sandbox has ended.
// usage: outer.sh FOLDER PROGRAM
const outerScript = `set -eu
work=$1
mount --make-rprivate /
mkdir "$work/cgroup"
mount -t cgroup2 cgroup2 "$work/cgroup"
group=$work/cgroup/panebridge-test-$$
mkdir "$group"
clean() { find "$group" -depth -type d -exec rmdir {} \; ; }
trap clean EXIT
(
	exec sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec unshare --pid --fork --kill-child --mount --cgroup --ipc --uts "$@"' sh "$group" sh "$work/inner.sh" "$work" "$2"
) && exit 0 || exit $?
`

// innerScript makes the file tree, changes to it, and runs systemd there as an ordinary user until its input ends.
const innerScript = `set -eu
work=$1 program=$2 root=$1/root
mount --make-rprivate /
mkdir "$root"
mount -t tmpfs -o mode=0755 tmpfs "$root"
cd "$root"
mkdir usr etc proc dev sys run tmp var home opt old dev/pts dev/shm sys/fs sys/fs/cgroup opt/units opt/bin run/user
mkdir -p run/user/61000 run/systemd/system home/agent var/tmp
mount --bind /usr usr
mount -o remount,bind,ro usr
for link in bin sbin lib lib64; do
	if [ -L "/$link" ]; then cp -P "/$link" .; elif [ -d "/$link" ]; then mkdir "$link"; mount --bind "/$link" "$link"; mount -o remount,bind,ro "$link"; fi
done
cp /etc/ld.so.cache etc/
[ ! -d /etc/alternatives ] || cp -a /etc/alternatives etc/
echo 0123456789abcdef0123456789abcdef >etc/machine-id
printf 'root:x:0:0::/root:/bin/sh\nagent:x:61000:61000::/home/agent:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nagent:x:61000:\n' >etc/group
for target in default basic shutdown exit paths sockets timers; do cp "/usr/lib/systemd/user/$target.target" opt/units/; done
cp "$program" opt/bin/panebridge
mkdir opt/bin/next
cp "$program" opt/bin/next/panebridge
echo >>opt/bin/next/panebridge
for device in null zero full random urandom tty; do : >"dev/$device"; mount --bind "/dev/$device" "dev/$device"; done
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777 tmpfs dev/shm
chmod 1777 tmp var/tmp
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
chown 61000:61000 run/user/61000 home/agent sys/fs/cgroup sys/fs/cgroup/cgroup.procs sys/fs/cgroup/cgroup.subtree_control sys/fs/cgroup/cgroup.threads
chmod 700 run/user/61000
pivot_root . old
umount -l /old
rmdir /old
hostname sandbox
setpriv --reuid=61000 --regid=61000 --clear-groups --bounding-set=-all env -i HOME=/home/agent USER=agent LOGNAME=agent SHELL=/bin/sh LANG=C.UTF-8 \
	PATH=/opt/bin:/usr/bin:/bin XDG_RUNTIME_DIR=/run/user/61000 SYSTEMD_UNIT_PATH=/home/agent/.config/systemd/user:/opt/units \
	/usr/lib/systemd/systemd --user >/dev/null 2>&1 </dev/null &
cat >/dev/null
`

// startSandbox starts one, with the test's own program in it as /opt/bin/panebridge.
func startSandbox(t *testing.T) *sandbox {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a systemd of one's own takes root: a cgroup and mounts")
	}
	work := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"outer.sh": outerScript, "inner.sh": innerScript} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdin, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command("unshare", "--mount", "sh", filepath.Join(work, "outer.sh"), work, program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdin, &said, &said, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = stdin.Close()
	t.Cleanup(func() {
		_ = input.Close()
		if err := cmd.Wait(); err != nil && t.Failed() {
			t.Logf("the sandbox: %v\n%s", err, said.String())
		}
	})
	s := &sandbox{t: t, input: input}
	s.await("sandbox", func() bool {
		s.init = lastDescendant(cmd.Process.Pid)
		if s.init == 0 {
			return false
		}
		s.root = filepath.Join("/proc", strconv.Itoa(s.init), "root")
		_, err := os.Stat(filepath.Join(s.root, sandboxRun, "systemd/private"))
		return err == nil && !exists(filepath.Join(s.root, "old"))
	})
	return s
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// lastDescendant is the first process of the sandbox: the one whose PID in its own namespace is 1.
func lastDescendant(pid int) int {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	for line := range strings.Lines(string(text)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if f := strings.Fields(ids); len(f) > 1 && f[len(f)-1] == "1" {
				return pid
			}
		}
	}
	children, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "task", strconv.Itoa(pid), "children"))
	for child := range strings.FieldsSeq(string(children)) {
		n, _ := strconv.Atoi(child)
		if found := lastDescendant(n); found != 0 {
			return found
		}
	}
	return 0
}

// command is a command of the sandbox's user.
func (s *sandbox) command(args ...string) *exec.Cmd {
	base := []string{
		"--target", strconv.Itoa(s.init), "--mount", "--pid", "--cgroup", "--ipc", "--uts", "--root",
		"setpriv", "--reuid=" + sandboxUser, "--regid=" + sandboxUser, "--clear-groups", "env", "-i", "--chdir=" + sandboxHome, "HOME=" + sandboxHome, "USER=agent", "LANG=C.UTF-8",
		"PATH=/opt/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR=" + sandboxRun,
	}
	return exec.Command("nsenter", append(base, args...)...)
}

// try runs a command of the sandbox's user.
func (s *sandbox) try(args ...string) (string, error) {
	out, err := s.command(args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is try for what has to succeed.
func (s *sandbox) must(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// write writes a file as the sandbox's user.
func (s *sandbox) write(path, text string) {
	s.t.Helper()
	cmd := s.command("sh", "-c", `mkdir -p "$(dirname "$1")" && cat >"$1"`, "sh", path)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("write %s: %v: %s", path, err, out)
	}
}

// read is what a file of the sandbox has; "": there's none.
func (s *sandbox) read(path string) string {
	f, err := os.Open(filepath.Join(s.root, path))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(f)
	return string(text)
}

// await waits until something has come about; only a hung test ends it.
func (s *sandbox) await(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("no %s within 90 s", what)
		}
	}
}

// property is one of a unit's, as systemd has it.
func (s *sandbox) property(unit, name string) string {
	s.t.Helper()
	return s.must("systemctl", "--user", "show", unit, "--property="+name, "--value")
}
