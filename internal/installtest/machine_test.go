package installtest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

const script = "../../install.sh"

// system is how archives call the machine that the tests run on.
const system = runtime.GOOS + "_" + runtime.GOARCH

// tools are what install.sh may use beside a downloader and a program for sums.
var tools = []string{
	"awk", "cat", "chmod", "cp", "cut", "find", "grep", "gzip", "head", "mkdir", "mktemp", "mv", "rm", "rmdir", "sh", "sleep", "tar", "tr", "uname",
}

// machine is a user's, with nothing in the PATH but what a test gives it.
type machine struct {
	t    *testing.T
	path string // the folder that's all of its PATH
	home string
	env  []string // more variables
	uid  uint32   // who runs the script, 0: who runs the test
	// shell reads the script, sh if it's empty.
	shell string
}

func newMachine(t *testing.T, programs ...string) *machine {
	t.Helper()
	m := &machine{t: t, path: t.TempDir(), home: filepath.Join(t.TempDir(), "a home")}
	if err := os.Mkdir(m.home, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(tools), programs...) {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(m.path, name)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// command is a run of the script with arguments.
func (m *machine) command(args ...string) *exec.Cmd {
	shell := m.shell
	if shell == "" {
		shell = "sh"
	}
	at, err := exec.LookPath(shell)
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.CommandContext(m.t.Context(), at, append([]string{script}, args...)...)
	cmd.Env = append([]string{"PATH=" + m.path, "HOME=" + m.home, "TMPDIR=" + m.t.TempDir()}, m.env...)
	return cmd
}

// asNobody has the script run by a user who owns nothing, if root runs the test.
func (m *machine) asNobody() {
	m.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	m.uid = 65534
	if err := os.Chmod(filepath.Dir(m.path), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// run runs the script, and returns what it said and its exit code.
func (m *machine) run(args ...string) (string, int) {
	m.t.Helper()
	cmd := m.command(args...)
	if m.uid != 0 {
		m.giveUp(cmd, args)
	}
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	for _, v := range cmd.Env {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				m.t.Errorf("it left %v in its temporary folder (%v)", left, err)
			}
		}
	}
	return string(said), cmd.ProcessState.ExitCode()
}

// giveUp has a command run as the machine's user, who reads the script from a pipe: not everybody may read the checkout.
func (m *machine) giveUp(cmd *exec.Cmd, args []string) {
	m.t.Helper()
	asUser(cmd, m.uid)
	text, err := os.ReadFile(script)
	if err != nil {
		m.t.Fatal(err)
	}
	cmd.Args, cmd.Stdin = append([]string{cmd.Args[0], "-s", "--"}, args...), bytes.NewReader(text)
	for _, v := range cmd.Env {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			if err := os.Chmod(dir, 0o777); err != nil {
				m.t.Fatal(err)
			}
		}
	}
}

// installed runs the script, which must succeed.
func (m *machine) installed(args ...string) string {
	m.t.Helper()
	said, code := m.run(args...)
	if code != 0 {
		m.t.Fatalf("install.sh ended with %d:\n%s", code, said)
	}
	return said
}

// files returns what's in the home: names, modes, and the contents' digests.
func (m *machine) files() map[string]string {
	m.t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, m.home+"/")] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(text))
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// program runs the installed one.
func (m *machine) program() string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), filepath.Join(m.home, ".local/bin/panebridge"), "version")
	said, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Errorf("the installed program: %v\n%s", err, said)
	}
	return string(said)
}

// entry is a file of an archive.
type entry struct {
	text string
	mode int64
	link string // where it leads, if it's a link
}

// stub answers as the program does, as far as install.sh asks; a daemon runs if there's a file `running`
// in the home. The life of an installation is tested with the real one.
func stub(version string) entry {
	return entry{mode: 0o755, text: `#!/bin/sh
case $1 in
version) echo "panebridge ` + version + ` (go1.26.0, test/test)" ;;
status) [ -e "$HOME/running" ] || exit 3 ;;
esac
`}
}

// contents are the files of an archive, with pages of some commands.
func contents(version string, commands ...string) map[string]entry {
	all := map[string]entry{
		"panebridge": stub(version),
		"LICENSE":    {text: "free\n", mode: 0o644},
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		all["completions/panebridge."+shell] = entry{text: shell + version + "\n", mode: 0o644}
	}
	for _, c := range append([]string{""}, commands...) {
		all["man/man1/panebridge"+c+".1"] = entry{text: c + version + "\n", mode: 0o644}
	}
	return all
}

// pack makes an archive of files, below a folder.
func pack(t *testing.T, folder string, files map[string]entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		e := files[name]
		h := &tar.Header{Name: folder + "/" + name, Mode: e.mode, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// release is what a server has: a list of sums, and archives.
type release struct {
	mu    sync.Mutex // held by who changes what's below while the server runs
	url   string
	files map[string][]byte
	// answer answers in place of the server, unless it's nil or returns false.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

// publish serves a release of a version.
func publish(t *testing.T, version string, files map[string]entry) *release {
	t.Helper()
	name := "panebridge_" + strings.TrimPrefix(version, "v") + "_" + system
	r := &release{files: map[string][]byte{name + ".tar.gz": pack(t, name, files)}}
	r.sum()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		answer := r.answer
		body, ok := r.files[strings.TrimPrefix(req.URL.Path, "/")]
		r.mu.Unlock()
		if answer != nil && answer(w, req) {
			return
		}
		if !ok {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// change has a test change what the server answers.
func (r *release) change(t *testing.T, play func(*testing.T, *release)) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	play(t, r)
}

// sum writes the list of sums anew.
func (r *release) sum() {
	delete(r.files, "checksums.txt")
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		sum := sha256.Sum256(r.files[name])
		fmt.Fprintf(&list, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	fmt.Fprintf(&list, "%064x  panebridge_9_plan9_mips.tar.gz\n%064x  install.sh\n", 1, 2)
	r.files["checksums.txt"] = []byte(list.String())
}

// archive is the name of the one archive.
func (r *release) archive() string {
	for name := range r.files {
		if name != "checksums.txt" {
			return name
		}
	}
	return ""
}

// replace puts a script in place of a program.
func (m *machine) replace(program, text string) {
	m.t.Helper()
	at := filepath.Join(m.path, program)
	if err := os.Remove(at); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
		m.t.Fatal(err)
	}
}
