package inbound_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/host/hosttest"
	"github.com/panebridge/panebridge/internal/regular/regulartest"
	"github.com/panebridge/panebridge/sessions"
)

// send sends files with a caption.
func (w *world) send(caption string, files ...intake.Attachment) intake.Event {
	w.Helper()
	ev := w.event(ann, intake.Said{Text: caption, Files: files})
	w.do(ev)
	w.pass(10 * time.Second)
	return ev
}

// saved are the files in the session's folder.
func (w *world) saved() (out []string) {
	w.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, ".panebridge", "in"))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestAFileIsSavedAndItsPathTyped(t *testing.T) {
	inWorld(t, func(w *world) {
		w.chat.files = map[string]string{"f": "content", "p": "pixels"}
		ev := w.send("look at this", intake.Attachment{ID: "f", Name: "my report.pdf", Kind: intake.FileDocument, Size: 7}, intake.Attachment{ID: "p", Kind: intake.FilePhoto})
		typed := w.panes.typed()
		if len(typed) != 1 {
			w.Fatalf("typed %q", typed)
		}
		parts := strings.Fields(typed[0])
		if len(parts) != 5 || strings.Join(parts[:3], " ") != "look at this" {
			w.Fatalf("typed %q, want the caption and two paths", typed)
		}
		for i, want := range []string{"content", "pixels"} {
			path := parts[3+i]
			data, err := os.ReadFile(path)
			if err != nil || string(data) != want || filepath.Dir(path) != filepath.Join(w.dir, ".panebridge", "in") {
				w.Errorf("%s holds %q, %v; want %q in the session's folder", path, data, err, want)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				w.Errorf("%s: %v, %v; want mode 0600", path, info.Mode(), err)
			}
		}
		if name := filepath.Base(parts[3]); !strings.HasPrefix(name, "my_report-") || !strings.HasSuffix(name, ".pdf") {
			w.Errorf("the file is called %s", name)
		}
		if ignored, err := os.ReadFile(filepath.Join(w.dir, ".panebridge", ".gitignore")); err != nil || string(ignored) != "*\n" {
			w.Errorf(".gitignore holds %q, %v", ignored, err)
		}
		w.do(ev)
		if w.chat.fetches != 2 || len(w.saved()) != 2 {
			w.Errorf("%d fetches, files %q: the same message again must change nothing", w.chat.fetches, w.saved())
		}
	})
}

// A daemon that's killed as a file gets its name leaves it with two: the next one removes the other, and
// fetches nothing.
func TestAFileThatHasItsNameIsNotFetchedAgain(t *testing.T) {
	file, name := intake.Attachment{ID: "f", Name: "a.txt"}, ""
	inWorld(t, func(w *world) {
		w.chat.files = map[string]string{"f": "content"}
		w.send("", file)
		name = filepath.Base(w.panes.typed()[0])
	})
	inWorld(t, func(w *world) { // where its first message has the same key
		in := filepath.Join(w.dir, ".panebridge", "in")
		path := filepath.Join(in, name)
		if err := errors.Join(os.MkdirAll(in, 0o700), os.WriteFile(path, []byte("content"), 0o600), os.Link(path, filepath.Join(in, ".part-"+name))); err != nil {
			w.Fatal(err)
		}
		w.send("", file)
		w.wantTyped(path)
		if got := w.saved(); w.chat.fetches != 0 || !slices.Equal(got, []string{name}) {
			w.Errorf("%d fetches, files %q", w.chat.fetches, got)
		}
	})
}

func TestNamesOfFilesAreHarmless(t *testing.T) {
	inWorld(t, func(w *world) {
		w.chat.files = map[string]string{"f": "x"}
		names := []string{
			"../../../../etc/cron.d/evil", `..\..\evil.exe`, "/etc/passwd", ".bashrc", "-rf", "a\x00b", "a\nb; rm -rf ~", "$(reboot)", "`reboot`", "a\u202etxt.exe",
			"con", "", ".", "..", "...", strings.Repeat("長い名前", 200) + ".txt", "x." + strings.Repeat("y", 500), "CON.txt ", "\xff\xfe", "@file", "#!x", "a'b\"c",
		}
		for _, name := range names {
			w.send("", intake.Attachment{ID: "f", Name: name, Kind: intake.FileDocument})
		}
		if got := w.panes.typed(); len(got) != len(names) {
			w.Errorf("%d were typed, want %d", len(got), len(names))
		}
		if got := w.saved(); len(got) != len(names) {
			w.Errorf("%d were saved, want %d: %q", len(got), len(names), got)
		}
		for _, path := range w.panes.typed() {
			name := filepath.Base(path)
			if strings.ContainsAny(name, " \t\n$`;&|<>()'\"\\@#*?[]{}!~\x00\u202e") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || len(name) > 120 {
				w.Errorf("%q isn't harmless", name)
			}
			if filepath.Dir(path) != filepath.Join(w.dir, ".panebridge", "in") {
				w.Errorf("%s is elsewhere", path)
			}
		}
	})
}

func TestFilesThatAreNotTaken(t *testing.T) {
	inWorld(t, func(w *world) {
		w.opt = func(o *inbound.Options) { o.MaxFile = 1 << 20 }
		w.restart()
		w.chat.files = map[string]string{"big": strings.Repeat("x", 2<<20), "ok": "x"}
		w.send("a", intake.Attachment{ID: "big", Name: "a.bin", Size: 2 << 20})
		if w.chat.fetches != 0 {
			w.Error("a file was fetched that was known to be too large")
		}
		w.send("b", intake.Attachment{ID: "big", Name: "b.bin", Size: 5}) // it lies
		w.send("c", make([]intake.Attachment, 11)...)
		w.send("/help", intake.Attachment{ID: "ok"})
		w.chat.fail = 100
		w.send("d", intake.Attachment{ID: "ok"})
		w.wantPosts("too large: at most 1 MB", "too large: at most 1 MB", "At most 10 files", "goes to a session", "couldn't be fetched")
		w.wantTyped()
		if got := w.saved(); len(got) != 0 {
			w.Errorf("%q were saved", got)
		}
		w.chat.fail = 2 // passes
		w.send("", intake.Attachment{ID: "ok", Kind: intake.FileVoice})
		if got := w.saved(); len(got) != 1 || !strings.HasSuffix(got[0], ".ogg") {
			w.Errorf("%q were saved, want a voice note", got)
		}
		w.opt = func(o *inbound.Options) { o.MaxFile = -1 }
		w.restart()
		w.hub.take()
		w.send("e", intake.Attachment{ID: "ok"})
		w.wantPosts("aren't taken")
	})
}

// A file for which the disk has no room isn't fetched again and again, leaves nothing, and its sender is told why;
// with room again it's taken, and so is what keeps files out of git.
func TestAFileForWhichThereIsNoRoom(t *testing.T) {
	inWorld(t, func(w *world) {
		folder := filepath.Join(w.dir, ".panebridge")
		if err := os.Mkdir(folder, 0o700); err != nil {
			w.Fatal(err)
		}
		if err := hosttest.MountMemory(folder, "size=64k,mode=0700"); err != nil {
			w.Skipf("no disk can be mounted: %v", err)
		}
		w.Cleanup(func() { _ = hosttest.Detach(folder) })
		w.chat.files = map[string]string{"large": strings.Repeat("x", 1<<20), "small": "x"}
		fill := filepath.Join(folder, "fill")
		if err := os.Mkdir(filepath.Join(folder, "in"), 0o700); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			w.Fatalf("it takes all: %v", err)
		}
		w.send("", intake.Attachment{ID: "small", Name: "a.txt"})
		if typed := w.panes.typed(); len(typed) != 1 || !strings.HasPrefix(typed[0], filepath.Join(w.dir, inbound.FilesFolder)) {
			w.Errorf("typed %q, want a file of the state folder", typed)
		}
		if err := os.Remove(fill); err != nil {
			w.Fatal(err)
		}
		w.send("", intake.Attachment{ID: "large", Name: "b.bin"})
		w.send("", intake.Attachment{ID: "small", Name: "c.txt"}, intake.Attachment{ID: "large", Name: "d.bin"})
		w.wantPosts("👍", "The file couldn't be saved: the disk of "+w.dir, "File 2 of 2, d.bin, couldn't be saved: the disk of "+w.dir)
		if w.chat.fetches != 4 {
			w.Errorf("%d fetches", w.chat.fetches)
		}
		w.send("", intake.Attachment{ID: "small", Name: "e.txt"})
		if got := w.saved(); len(w.panes.typed()) != 2 || len(got) != 2 || !strings.HasPrefix(got[0], "c-") || !strings.HasPrefix(got[1], "e-") {
			w.Errorf("typed %q, files %q", w.panes.typed(), got)
		}
		if text, err := os.ReadFile(filepath.Join(folder, ".gitignore")); string(text) != "*\n" {
			w.Errorf(".gitignore has %q, %v", text, err)
		}
	})
}

// Files go into no folder of the state folder that others can write to, or that's theirs.
func TestFilesAreSavedInOnesOwnFoldersAlone(t *testing.T) {
	for name, lay := range map[string]func(files, session string) error{
		"one that others can write to":         func(files, _ string) error { return os.Chmod(files, 0o777) },
		"a session's that others can write to": func(_, session string) error { return os.Chmod(session, 0o777) },
		"one of others":                        func(files, _ string) error { return os.Chown(files, 1234, -1) },
		"a session's of others":                func(_, session string) error { return os.Chown(session, 1234, -1) },
		"a session's that's a link":            func(files, session string) error { return errors.Join(os.Remove(session), os.Symlink(".", session)) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if strings.HasSuffix(name, "of others") && os.Geteuid() != 0 {
					w.Skip("only root can give files away")
				}
				cwd := filepath.Join(w.dir, "cwd")
				if err := os.Mkdir(cwd, 0o700); err != nil {
					w.Fatal(err)
				}
				s, err := w.manager.New(w.Context(), sessions.NewRequest{Name: "x", Cwd: cwd})
				if err != nil {
					w.Fatal(err)
				}
				place := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "2"}
				w.bind(s.ID, place, true)
				files := filepath.Join(w.dir, inbound.FilesFolder)
				session := filepath.Join(files, string(s.ID))
				if err := errors.Join(os.Remove(cwd), os.MkdirAll(session, 0o700), lay(files, session)); err != nil {
					w.Fatal(err)
				}
				w.chat.files = map[string]string{"f": "x"}
				ev := w.event(ann, intake.Said{Files: []intake.Attachment{{ID: "f", Name: "a.txt"}}})
				ev.Place = place
				w.do(ev)
				w.pass(5 * time.Second)
				if typed := w.panes.typed(); len(typed) > 0 {
					w.Errorf("typed %q", typed)
				}
			})
		})
	}
}

// Links within the session's folder lead nowhere else, and no file goes where others could put another in its place.
func TestLinksAreNotFollowed(t *testing.T) {
	for name, lay := range map[string]func(cwd, outside string) error{
		"the folder is a link":       func(cwd, outside string) error { return os.Symlink(outside, filepath.Join(cwd, ".panebridge")) },
		"the folder is a link to ..": func(cwd, _ string) error { return os.Symlink("..", filepath.Join(cwd, ".panebridge")) },
		"its in is a link": func(cwd, outside string) error {
			if err := os.Mkdir(filepath.Join(cwd, ".panebridge"), 0o700); err != nil {
				return err
			}
			return os.Symlink(outside, filepath.Join(cwd, ".panebridge", "in"))
		},
		"others can write into the folder": func(cwd, _ string) error {
			ours := filepath.Join(cwd, ".panebridge")
			return errors.Join(os.Mkdir(ours, 0o700), os.Chmod(ours, 0o777))
		},
		"the folder is another's": func(cwd, _ string) error {
			ours := filepath.Join(cwd, ".panebridge")
			return errors.Join(os.Mkdir(ours, 0o700), os.Chown(ours, 1234, -1))
		},
		"the folder is a pipe": func(cwd, _ string) error { return syscall.Mkfifo(filepath.Join(cwd, ".panebridge"), 0o600) },
		"the folder is a file": func(cwd, _ string) error { return os.WriteFile(filepath.Join(cwd, ".panebridge"), nil, 0o600) },
		"it can't be written":  func(cwd, _ string) error { return os.Chmod(cwd, 0o000) },
		"it isn't there":       func(cwd, _ string) error { return os.Remove(cwd) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "the folder is another's" && os.Geteuid() != 0 {
				t.Skip("only root can give folders away")
			}
			if name == "it can't be written" && regulartest.RunAsNobody(t) {
				return
			}
			inWorld(t, func(w *world) {
				outside, cwd := w.TempDir(), filepath.Join(w.dir, "cwd")
				if err := os.Mkdir(cwd, 0o700); err != nil {
					w.Fatal(err)
				}
				s, err := w.manager.New(w.Context(), sessions.NewRequest{Name: "x", Cwd: cwd})
				if err != nil {
					w.Fatal(err)
				}
				place := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "2"}
				w.bind(s.ID, place, true)
				if err := lay(cwd, outside); err != nil {
					w.Fatal(err)
				}
				w.chat.files = map[string]string{"f": "x"}
				ev := w.event(ann, intake.Said{Files: []intake.Attachment{{ID: "f", Name: "a.txt"}}})
				ev.Place = place
				w.do(ev)
				w.pass(5 * time.Second)
				if got := listed(w.T, outside); got != outside {
					w.Errorf("outside there's %s", got)
				}
				typed := w.panes.typed()
				if len(typed) != 1 || filepath.Dir(typed[0]) != filepath.Join(w.dir, "files", string(s.ID)) {
					w.Errorf("typed %q, want a path in the state folder", typed)
				}
			})
		})
	}
}
