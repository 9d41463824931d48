package inbound_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

func write(t *testing.T, content string, parts ...string) {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// inFolder runs a test with a session in a folder of its own.
func inFolder(t *testing.T, test func(w *world, dir string)) {
	t.Helper()
	dir := t.TempDir()
	inWorld(t, func(w *world) {
		w.hub.maxFile = 1000
		if _, err := w.manager.New(w.Context(), sessions.NewRequest{Name: "files", Cwd: dir}); err != nil {
			w.Fatal(err)
		}
		test(w, dir)
	})
}

func TestSendSendsFilesOfTheSessionsFolder(t *testing.T) {
	inFolder(t, func(w *world, dir string) {
		write(w.T, "hello", dir, "a", "note with space.txt")
		write(w.T, "X=1", dir, ".env.example")
		for _, path := range []string{"a/note with space.txt", filepath.Join(dir, "a/note with space.txt"), "./a/../a/note with space.txt"} {
			w.say(ann, "/send files "+path)
			posts := w.hub.take()
			if len(posts) != 1 || posts[0].File == nil || posts[0].File.Name != "note with space.txt" || string(posts[0].File.Data) != "hello" {
				w.Errorf("/send %s: %+v", path, posts)
			}
		}
		w.say(ann, "/send files .env.example")
		if posts := w.hub.take(); len(posts) != 1 || posts[0].File == nil {
			w.Errorf("posts %+v", posts)
		}
		write(w.T, strings.Repeat("x", 1000), dir, "just")
		w.say(ann, "/send files just")
		if posts := w.hub.take(); len(posts) != 1 || posts[0].File == nil || len(posts[0].File.Data) != 1000 {
			w.Errorf("posts %+v", posts)
		}
	})
}

func TestSendKeepsBack(t *testing.T) {
	inFolder(t, func(w *world, dir string) {
		outside := w.TempDir()
		write(w.T, "secret", outside, "secret.txt")
		write(w.T, "plain", outside, "plain.txt")
		write(w.T, strings.Repeat("x", 1001), dir, "large")
		write(w.T, "", dir, "empty")
		write(w.T, "x", dir, "folder", "x")
		write(w.T, "text\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", dir, "notes.txt")
		kept := []string{
			".env", ".ENV", ".env.production", "prod.env", "server.pem", "tls.KEY", "id_rsa", "id_ed25519.pub", "deploy_rsa", ".ssh/config", ".git/config", "sub/.git/HEAD",
			".aws/config", "credentials", "aws_credentials.json", "my-secrets.yaml", ".netrc", ".npmrc", ".pgpass", "auth.json", "bot-token", "x.tfstate", ".bash_history", "a.kdbx",
			".claude/.credentials.json",
		}
		for _, name := range kept {
			write(w.T, "x", dir, name)
		}
		for name, to := range map[string]string{
			"to-outside": filepath.Join(outside, "plain.txt"), "to-env": ".env", "to-folder": outside, "to-root": "/", "to-inside": "folder/x",
		} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				w.Fatal(err)
			}
		}
		for name, to := range map[string]string{"named-outside": filepath.Join(outside, "plain.txt"), "named-env": filepath.Join(dir, ".env")} {
			if err := os.Link(to, filepath.Join(dir, name)); err != nil {
				w.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
			w.Fatal(err)
		}
		want := map[string]string{
			"nowhere": "There's no file nowhere", "folder": "only plain files", ".": "only files in the session's folder", "large": "at most 1 kB", "empty": "nothing in empty",
			"../" + filepath.Base(outside) + "/plain.txt": "only files in", filepath.Join(outside, "plain.txt"): "only files in", "/etc/passwd": "only files in",
			"to-outside": "only plain files", "to-env": "only plain files", "to-folder/plain.txt": "isn't a folder", "to-root/etc/hostname": "isn't a folder", "to-inside": "only plain files",
			"named-outside": "has another name", "named-env": "has another name", "pipe": "only plain files", "notes.txt": "a private key in it", "a\x00b": "isn't a file's path", strings.Repeat("A", 10_000): "isn't a file's path",
			strings.Repeat("a/", 2000) + "b": "no file",
		}
		for _, name := range kept {
			want[name] = "kept back"
		}
		for path, want := range want {
			w.say(ann, "/send files "+path)
			posts := w.hub.take()
			if len(posts) != 1 || posts[0].File != nil || !strings.Contains(strings.ToLower(said(posts)), strings.ToLower(want)) {
				w.Errorf("/send %.40s: %q, want %q", path, said(posts), want)
			}
		}
	})
}

// What panebridge keeps for itself isn't sent, whatever folder a session is in.
func TestSendKeepsBackTheStateFolder(t *testing.T) {
	inWorld(t, func(w *world) {
		w.hub.maxFile = 1 << 30
		w.wantSaid(w.ask(ann, "/send db"), "it's in "+w.dir)
		if _, err := w.manager.New(w.Context(), sessions.NewRequest{Name: "root", Cwd: "/"}); err != nil {
			w.Fatal(err)
		}
		w.wantSaid(w.ask(ann, "/send root proc/self/environ"), "it's in /proc")
		w.wantSaid(w.ask(ann, "/send root "+w.dir+"/db"), "it's in "+w.dir)
	})
}
