package installtest_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// podmanConf is what this machine may lack of what a container gets: groups of processes of its own,
// and higher limits than whoever tests has. The stand-in listens on the machine's loopback.
const podmanConf = `[containers]
cgroups = "disabled"
netns = "host"
default_ulimits = ["nofile=1024:4096", "nproc=1024:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`

// inOneHierarchy runs a command where groups of processes are of the one kind that podman knows.
const inOneHierarchy = `set -e
if [ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ]; then
	umount -R /sys/fs/cgroup
	mount -t cgroup2 none /sys/fs/cgroup
fi
exec "$@"`

// loaded says under which name podman has an image.
var loaded = regexp.MustCompile(`Loaded image: (localhost/panebridge:\S+)`)

// The commands of docs/install.md have the image in podman, and what's written in a chat gets there. What the
// volumes have outlives the container.
func TestImageInPodman(t *testing.T) {
	archive := os.Getenv(imageVar)
	if archive == "" || os.Getuid() != 0 {
		t.Skip("takes root, podman and an image: scripts/image.sh makes one")
	}
	chat := telegramtest.New(telegramtest.Options{})
	ada := chat.AddUser(telegramtest.User{FirstName: "Ada"})
	forum := chat.AddForum("Agents", ada)
	telegram := httptest.NewServer(chat)
	t.Cleanup(telegram.Close)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	conf := write("containers.conf", podmanConf)
	storage := write("storage.conf", fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", dir+"/graph", dir+"/run"))
	rc := write("bashrc", "PS1='<ended $?> '\n")
	in := func(command ...string) *exec.Cmd {
		cmd := exec.Command("unshare", slices.Concat([]string{"--mount", "sh", "-c", inOneHierarchy, "sh"}, command)...) // also when the test's context has ended
		cmd.Dir = filepath.Dir(archive)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm", "CONTAINERS_CONF=" + conf, "CONTAINERS_STORAGE_CONF=" + storage}
		return cmd
	}
	t.Cleanup(func() {
		if t.Failed() {
			said, err := in("podman", "logs", "--tail", "50", "panebridge").CombinedOutput()
			t.Logf("the container's log (%v):\n%s", err, said)
		}
		if said, err := in("podman", "rm", "--force", "--ignore", "--time", "5", "panebridge").CombinedOutput(); err != nil {
			t.Errorf("podman rm: %v\n%s", err, said)
		}
	})
	desk := openDesk(t, in("bash", "--rcfile", rc))

	say := func(at telegramtest.Place, text string) {
		if _, err := ada.Say(at, text); err != nil {
			t.Error(err)
		}
	}

	name := loaded.FindStringSubmatch(desk.do("podman load -i " + archive))
	if name == nil {
		t.Fatalf("it doesn't say under which name the image is there:\n%s", desk.all())
	}
	const volumes = "-v pb-config:/home/panebridge/.config/panebridge -v pb-state:/home/panebridge/.local/state/panebridge "
	yes := func() string { return "y\n" }
	desk.do(
		"podman run --rm -it "+volumes+name[1]+" init --api-url "+telegram.URL,
		reply{regexp.MustCompile(`it isn't shown\):`), func() string { return chat.Token() + "\n" }},
		reply{regexp.MustCompile(`write any message`), func() string { say(telegramtest.Place{Chat: forum}, "hello"); return "" }},
		reply{regexp.MustCompile(`\[y/N\]`), yes}, reply{regexp.MustCompile(`\[Y/n\]`), yes},
	)
	run := "podman run -d --name panebridge " + volumes + name[1]
	desk.do(run)
	say(telegramtest.Place{Chat: forum}, "/new shell ~")
	topic := awaitTopic(t, chat, forum)
	say(topic, "echo $(id -u) in $PWD")
	awaitSeen(t, chat, topic, "1000 in /home/panebridge")
	if said := desk.do("podman exec panebridge panebridge status"); !strings.Contains(said, "telegram") {
		t.Errorf("its status is\n%s", said)
	}

	// As it's upgraded: another container with the same volumes.
	desk.do("podman stop panebridge")
	if said := desk.do("podman inspect --format 'ended with {{.State.ExitCode}}' panebridge"); !strings.Contains(said, "ended with 0") {
		t.Errorf("it's stopped and %s", said)
	}
	desk.do("podman rm panebridge")
	desk.do(run)
	if said := desk.do("until podman exec panebridge panebridge sessions list --all; do sleep 0.2; done"); !strings.Contains(said, "shell") {
		t.Errorf("its sessions are\n%s", said)
	}
}
