package regular

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Files of this user and of root are read, whoever else may read them; those of others aren't, under
// any name, unless that's asked for.
func TestFilesOfOthersAreNotRead(t *testing.T) {
	for owner, others := range map[uint32]bool{0: false, uint32(os.Geteuid()): false, 1234: true} {
		for _, mode := range []os.FileMode{0o600, 0o640, 0o644} {
			file, link := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link")
			if err := errors.Join(os.WriteFile(file, []byte("text"), mode), os.Symlink(file, link)); err != nil {
				t.Fatal(err)
			}
			if int(owner) != os.Geteuid() {
				if os.Geteuid() != 0 {
					t.Skip("only root can give files away")
				}
				if err := os.Chown(file, int(owner), -1); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range []string{file, link} {
				text, err := Read(path, 100)
				if others != errors.Is(err, ErrOthers) || !others && string(text) != "text" {
					t.Errorf("a file of user %d with mode %o is read as %q, %v", owner, mode, text, err)
				}
				if err := CheckOwner(path); others != errors.Is(err, ErrOthers) {
					t.Errorf("its owner is checked: %v", err)
				}
				if text, err := ReadAnybodys(path, 100); string(text) != "text" || err != nil {
					t.Errorf("as anybody's it's %q, %v", text, err)
				}
			}
		}
	}
}
