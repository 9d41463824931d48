package sessions_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// others is a tmux server with one pane of somebody else's.
type others struct {
	pane
	info   sessions.PaneInfo
	marked sessions.ID
	asked  *sessions.PaneRequest // the last pane that was made
}

func (o *others) Panes(context.Context) ([]sessions.PaneInfo, error) {
	return []sessions.PaneInfo{o.info}, nil
}

func (o *others) Mark(_ context.Context, _ string, id sessions.ID) error {
	o.marked = id
	return nil
}

func (o *others) Create(_ context.Context, _ sessions.ID, req sessions.PaneRequest) (sessions.PaneInfo, error) {
	o.asked = &req
	return sessions.PaneInfo{ID: "%1", Session: req.Session}, nil
}

// A name that can't be shown on one line is refused, for a session that's made and for one
// that's adopted; any other stays as it is, and tmux's is made of its letters and digits.
func TestNamesOfSessions(t *testing.T) {
	for _, name := range []string{"a\nb", "a\rb", "\x1b[31m", "\u009b31m", "a\x00", "\x7f", "\xff", strings.Repeat("x", 101)} {
		o := &others{info: sessions.PaneInfo{ID: "%2", Session: "theirs"}}
		withPane(t, &o.pane, o, nil, func(b *bed) {
			if _, err := b.manager.New(b.Context(), sessions.NewRequest{Name: name, Cwd: "/"}); !errors.Is(err, sessions.ErrInvalid) {
				t.Errorf("new %q: %v", name, err)
			}
			if _, err := b.manager.Adopt(b.Context(), sessions.AdoptRequest{Tmux: "theirs", Name: name}); !errors.Is(err, sessions.ErrInvalid) {
				t.Errorf("adopt as %q: %v", name, err)
			}
		})
	}
	for name, want := range map[string]string{
		"#(pwn)": "__pwn_", "#{pane_id}": "__pane_id_", "=x:": "_x_", "-t": "-t", "a;b": "a_b", "%if": "_if", "C#": "C_", "日本": "__", "~root": "_root", "a.b": "a_b", "'\"$": "___",
	} {
		o := &others{}
		withPane(t, &o.pane, o, nil, func(b *bed) {
			s, err := b.manager.New(b.Context(), sessions.NewRequest{Name: name, Cwd: "/"})
			if err != nil || s.Name != name || o.asked.Session != want {
				t.Errorf("%q is %q, and %+v in tmux; %v", name, s.Name, o.asked, err)
			}
		})
	}
}

// Two names are two names, also where tmux can't tell them apart: there each has a number. A
// tmux session that's renamed renames its session then, too.
func TestNamesThatTmuxTakesForOne(t *testing.T) {
	o := &others{}
	withPane(t, &o.pane, o, nil, func(b *bed) {
		for i, name := range []string{"проект", "сервер", "______", "______-2"} {
			_, err := b.manager.New(b.Context(), sessions.NewRequest{Name: name, Cwd: "/"})
			if want := []string{"______", "______-2", "______-3", "______-2-2"}[i]; err != nil || o.asked.Session != want {
				t.Errorf("%q is %q in tmux, want %q; %v", name, o.asked.Session, want, err)
			}
		}
		if _, err := b.manager.New(b.Context(), sessions.NewRequest{Name: "сервер", Cwd: "/"}); !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), `"сервер"`) {
			t.Errorf("the same again: %v", err)
		}
	})
}

// A folder that can't be entered is refused before anything is made, or ended.
func TestFoldersOfSessions(t *testing.T) {
	dir := t.TempDir()
	closed, file := filepath.Join(dir, "closed"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(closed, 0o600), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{"relative": "absolute", filepath.Join(dir, "gone"): "no such folder", file: "no folder", dir + "/\x00": "entered", dir + "/a\xff": "UTF-8", dir + "/a\uFFFD": "UTF-8", dir + strings.Repeat("/x", 5000): "entered"}
	if os.Getuid() != 0 { // who may enter any
		refused[closed] = "no permission"
	}
	for folder, why := range refused {
		o := &others{}
		withPane(t, &o.pane, o, nil, func(b *bed) {
			o.asked = nil
			if _, err := b.manager.New(b.Context(), sessions.NewRequest{Name: "x", Cwd: folder}); !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), why) || o.asked != nil {
				t.Errorf("in %.80q: %v, and %+v was made", folder, err, o.asked)
			}
		})
	}
	for _, name := range []string{"#(pwn)", "C#Samples", "a##b", "%H", "~", "$HOME", " ", "a\nb"} {
		folder, link := filepath.Join(dir, name), filepath.Join(dir, name+" link")
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Symlink(name, link)); err != nil {
			t.Fatal(err)
		}
		whole, err := filepath.EvalSymlinks(folder)
		if err != nil {
			t.Fatal(err)
		}
		o := &others{}
		withPane(t, &o.pane, o, nil, func(b *bed) {
			if s, err := b.manager.New(b.Context(), sessions.NewRequest{Name: "x", Cwd: folder}); err != nil || s.Cwd != folder || o.asked.Cwd != folder {
				t.Errorf("in %q: %+v, %+v, %v", folder, s, o.asked, err)
			}
			if s, err := b.manager.New(b.Context(), sessions.NewRequest{Name: "y", Cwd: link}); err != nil || s.Cwd != link || s.RealCwd != whole {
				t.Errorf("in a link to %q: %+v, %v", folder, s, err)
			}
		})
	}
}

// A pane's mark is anybody's to set: one that no session can have isn't taken over.
func TestMarksOfOthers(t *testing.T) {
	for mark, kept := range map[sessions.ID]bool{"pb_0123456789ab": true, "": false, "#(pwn)": false, "pb_": false, "pb_a b": false, "pb_a\nb": false, "../x": false, "pb_%41": false} {
		o := &others{info: sessions.PaneInfo{ID: "%2", Session: "theirs", Mark: mark}}
		withPane(t, &o.pane, o, nil, func(b *bed) {
			all, err := b.manager.Adopt(b.Context(), sessions.AdoptRequest{Tmux: "theirs"})
			if err != nil || len(all) != 1 || (all[0].ID == mark) != kept || !all[0].ID.Valid() || o.marked != all[0].ID {
				t.Errorf("%q: %+v, marked %q, %v", mark, all, o.marked, err)
			}
		})
	}
}

// A session is given another name while it lives, unless another has that; it keeps it when tmux's own changes.
func TestASessionIsGivenAnotherName(t *testing.T) {
	withBed(t, func(b *bed) {
		other, err := b.manager.New(b.Context(), sessions.NewRequest{Name: "other", Cwd: "/"})
		if err != nil {
			t.Fatal(err)
		}
		was, _ := b.manager.Get(string(b.id))
		for name, want := range map[string]error{"other": sessions.ErrConflict, " ": sessions.ErrInvalid, "a\nb": sessions.ErrInvalid} {
			if _, err := b.manager.Rename(b.Context(), b.id, name); !errors.Is(err, want) {
				t.Errorf("as %q: %v", name, err)
			}
		}
		if s, _ := b.manager.Get(string(b.id)); s.Name != was.Name {
			t.Errorf("what was refused made it %q", s.Name)
		}
		s, err := b.manager.Rename(b.Context(), b.id, " the API ")
		if err != nil || s.Name != "the API" || s.Pane != was.Pane {
			t.Errorf("it's %+v, %v", s, err)
		}
		if found, err := b.manager.Get("the API"); err != nil || found.ID != b.id {
			t.Errorf("by its name it's %+v, %v", found, err)
		}
		if _, err := b.manager.Rename(b.Context(), other.ID, was.Name); err != nil {
			t.Errorf("the name that's free now: %v", err)
		}
		if _, err := b.manager.Rename(b.Context(), "pb_none", "x"); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("of no session: %v", err)
		}
	})
}
