package browsertest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// What's vendored is what VENDORED.md says.
func TestVendoredFilesAreAsListed(t *testing.T) {
	list, err := os.ReadFile("../../VENDORED.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(list)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows++
		name := strings.Trim(cells[1], " `")
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != strings.Trim(cells[5], " `") {
			t.Errorf("%s isn't what VENDORED.md says: run scripts/vendor.sh", name)
		}
	}
	if rows == 0 {
		t.Error("VENDORED.md has no rows")
	}
}
