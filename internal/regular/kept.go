package regular

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/host"
)

// What isn't shown to people, by names in lower case. It's a net below people who
// mistype or are talked into something, not a wall: whoever may type into a session
// can read all that its user can.
var (
	// Folders with nothing but secrets, or with things that only programs read.
	keptFolders = []string{ //nolint:gochecknoglobals // a constant table
		".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", "gcloud", ".password-store", ".mozilla", "keyrings",
	}
	keptNames = []string{ //nolint:gochecknoglobals // a constant table, as path.Match reads it
		".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg", "*.asc",
		"id_*", "*_rsa", "*_ed25519", "*_ecdsa", "known_hosts", "authorized_keys",
		"*credential*", "*secret*", "*password*", "*passwd*", "*.token", "token", "*-token", "*_token", "auth.json", "service-account*.json",
		".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".htpasswd", ".claude.json", "kubeconfig", "shadow", "gshadow",
		"*.tfstate", "*.tfstate.*", "*.tfvars", "*_history",
	}
	// Of those, what's made to be shown.
	sentNames = []string{".env.example", ".env.sample", ".env.template", ".env.dist"} //nolint:gochecknoglobals // a constant table
)

// KeptBack says why nothing of a file is shown to people by its name, as a sentence's end; "": it may be.
// stateDir is the state folder; "": there's none.
func KeptBack(full, stateDir string) string {
	for _, dir := range append([]string{stateDir}, host.KernelFolders()...) {
		if dir != "" && isBelow(full, dir) {
			return "it's in " + dir
		}
	}
	parts := strings.Split(strings.ToLower(filepath.ToSlash(full)), "/")
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains(keptFolders, dir) {
			return "what's in " + dir + " is kept back"
		}
	}
	name := parts[len(parts)-1]
	if slices.Contains(sentNames, name) {
		return ""
	}
	for _, pattern := range keptNames {
		if ok, _ := filepath.Match(pattern, name); ok { // the patterns are fixed
			return "files named like " + pattern + " are kept back"
		}
	}
	return ""
}

// isBelow says whether a path is in a folder, with all links followed too.
func isBelow(path, dir string) bool {
	in := func(path, dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	if in(path, dir) {
		return true
	}
	realPath, err1 := filepath.EvalSymlinks(path)
	realDir, err2 := filepath.EvalSymlinks(dir)
	return err1 == nil && err2 == nil && in(realPath, realDir)
}
