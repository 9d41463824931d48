// Package findings has what an examination finds: of the configuration, of the machine, of a platform.
// What's examined lies with what knows it.
package findings

import (
	"os"

	"github.com/panebridge/panebridge/internal/regular"
)

// Severity is how a check came out.
type Severity int

// The severities.
const (
	Fine     Severity = iota
	Doubtful          // works, but look at it
	Broken
)

// Finding is the outcome of one check.
type Finding struct {
	Check    string
	Severity Severity
	Detail   string
	Fix      string // what to do, in one sentence; "": nothing
}

// MaxSecretFile is the size in bytes of the largest file that's read for a token, a password or
// certificates: a bundle of all public authorities has 0.2 MB.
const MaxSecretFile = 4 << 20

// ExamineTokenFile looks whether the file with a platform's token can be read, and by others. "": there's none.
func ExamineTokenFile(platform, file string) []Finding {
	name := platform + " token"
	if file == "" {
		return nil
	}
	info, err := os.Stat(file)
	if err == nil {
		_, err = regular.Read(file, MaxSecretFile)
	}
	switch {
	case err != nil:
		return []Finding{{name, Broken, err.Error(), "Put the token into that file (mode 0600, this user's), or name another in adapters." + platform + ".token_file."}}
	case info.Mode().Perm()&0o077 != 0:
		return []Finding{{name, Doubtful, "other users can read " + file, "chmod 600 " + file}}
	}
	return nil
}
