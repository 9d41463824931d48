package installtest_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// imageVar names an archive that scripts/image.sh has made.
const imageVar = "PANEBRIDGE_IMAGE"

// image is an OCI image that's unpacked into a root.
type image struct {
	*debian
	config imageConfig
}

// imageConfig is what an image says of itself, by the OCI image specification.
type imageConfig struct {
	User       string
	Env        []string
	Entrypoint []string
	Cmd        []string
	WorkingDir string
	Volumes    map[string]struct{}
	Labels     map[string]string
}

// descriptor names a blob of a layout.
type descriptor struct{ Digest string }

// openImage unpacks an archive as a container runtime does: its layers, one over the other.
func openImage(t *testing.T, archive string) image {
	t.Helper()
	layout := t.TempDir()
	tar := func(args ...string) {
		if said, err := exec.CommandContext(t.Context(), "tar", args...).CombinedOutput(); err != nil {
			t.Fatalf("tar %q: %v\n%s", args, err, said)
		}
	}
	blob := func(d descriptor) string {
		return filepath.Join(layout, "blobs", strings.ReplaceAll(d.Digest, ":", "/"))
	}
	read := func(path string, into any) {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tar("-xf", archive, "-C", layout)
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	var whole struct{ Config imageConfig }
	read(filepath.Join(layout, "index.json"), &index)
	if len(index.Manifests) != 1 {
		t.Fatalf("the layout has %d images", len(index.Manifests))
	}
	read(blob(index.Manifests[0]), &manifest)
	read(blob(manifest.Config), &whole)
	i := image{&debian{T: t, root: t.TempDir()}, whole.Config}
	for _, layer := range manifest.Layers {
		tar("-xzpf", blob(layer), "-C", i.root, "--exclude=./dev/*")
	}
	return i
}

// command is the image's entry point with arguments, as its user, in namespaces of its own. Whatever it starts ends with the test.
func (i image) command(args ...string) *exec.Cmd {
	i.Helper()
	uid, gid, _ := strings.Cut(i.config.User, ":")
	all := []string{
		"--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter, "enter", i.root,
		"setpriv", "--reuid", uid, "--regid", gid, "--clear-groups", "--no-new-privs", "env", "--chdir", i.config.WorkingDir, "-i",
	}
	all = slices.Concat(all, i.config.Env, i.config.Entrypoint, args)
	cmd := exec.CommandContext(i.Context(), "unshare", all...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals reach the namespace's first process, too
	return cmd
}

// run runs the program in the image, which must end well.
func (i image) run(args ...string) string {
	i.Helper()
	said, err := i.command(args...).CombinedOutput()
	if err != nil {
		i.Fatalf("%q: %v\n%s", args, err, said)
	}
	return string(said)
}

// The image runs as a user without rights, and as it's made it serves a chat.
func TestImage(t *testing.T) {
	archive := os.Getenv(imageVar)
	if archive == "" || os.Getuid() != 0 {
		t.Skip("takes root and an image: scripts/image.sh makes one")
	}
	i := openImage(t, archive)
	if uid, gid, _ := strings.Cut(i.config.User, ":"); uid != "1000" || gid != "1000" {
		t.Errorf("it runs as %q", i.config.User)
	}
	const home = "/home/panebridge"
	for _, folder := range []string{home + "/.config/panebridge", home + "/.local/state/panebridge"} {
		info, err := os.Stat(filepath.Join(i.root, folder))
		if _, volume := i.config.Volumes[folder]; !volume || err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s is to be a volume for its user alone: %v, %v", folder, info, err)
		}
	}
	if said := i.run("version"); !strings.Contains(said, i.config.Labels["org.opencontainers.image.version"][:5]) {
		t.Errorf("it's %s, and its label says %v", said, i.config.Labels)
	}

	chat := telegramtest.New(telegramtest.Options{})
	ada := chat.AddUser(telegramtest.User{FirstName: "Ada"})
	forum := chat.AddForum("Agents", ada)
	telegram := httptest.NewServer(chat)
	t.Cleanup(telegram.Close)
	token := filepath.Join(i.root, home, ".config/panebridge/telegram-token")
	if err := os.WriteFile(token, []byte(chat.Token()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(token, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	i.run(
		"init", "--api-url", telegram.URL, "--token-file", home+"/.config/panebridge/telegram-token",
		"--chat", strconv.FormatInt(forum, 10), "--admin", strconv.FormatInt(ada.ID, 10), "--mirror", "*",
	)
	daemon := i.command(i.config.Cmd...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	daemon.Stderr = log
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = syscall.Kill(-daemon.Process.Pid, syscall.SIGKILL)
			_ = daemon.Wait()
		}
		if said, err := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the daemon's log (%v):\n%s", err, said)
		}
	})
	if _, err := ada.Say(telegramtest.Place{Chat: forum}, "/new shell ~"); err != nil {
		t.Fatal(err)
	}
	topic := awaitTopic(t, chat, forum)
	if _, err := ada.Say(topic, "echo $(id -u) in $PWD"); err != nil {
		t.Fatal(err)
	}
	awaitSeen(t, chat, topic, "1000 in "+home)

	// As a container is stopped.
	if err := syscall.Kill(-daemon.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err = daemon.Wait()
	if ended = true; err != nil {
		t.Errorf("it ended with %v", err)
	}
}
