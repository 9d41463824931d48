package agentlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Folder is where programs are installed: .cache/agents of the repository.
func Folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".cache", "agents", "npm"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("find the repository: no go.mod above; run this inside it")
		}
		dir = up
	}
}

var notName = regexp.MustCompile(`\W+`)

// slug is the folder of a package.
func slug(pkg string) string { return strings.Trim(notName.ReplaceAllString(pkg, "-"), "-") }

// split cuts an npm package and its version.
func split(spec string) (pkg, version string) {
	i := strings.LastIndex(spec, "@")
	return spec[:i], spec[i+1:]
}

// place is the folder of a package below dir. The pinned version of each has the
// package's own; others have one each, so that going back installs nothing.
func place(dir, spec string) string {
	pkg, version := split(spec)
	if pins()[pkg] == version {
		return filepath.Join(dir, slug(pkg))
	}
	return filepath.Join(dir, slug(spec))
}

// Install installs an agent with npm, unless its version is there already. It
// says whether it did.
func Install(ctx context.Context, a *Agent) (bool, error) {
	dir, err := Folder()
	if err != nil {
		return false, err
	}
	fresh := false
	for _, spec := range append([]string{a.Package}, a.Extra...) {
		did, err := installPackage(ctx, dir, spec)
		if err != nil {
			return false, err
		}
		fresh = fresh || did
	}
	return fresh, nil
}

// Installed says whether an agent is there in its version.
func Installed(a *Agent) bool {
	dir, err := Folder()
	if err != nil {
		return false
	}
	for _, spec := range append([]string{a.Package}, a.Extra...) {
		if !installed(dir, spec) {
			return false
		}
	}
	return true
}

func installed(dir, spec string) bool {
	pkg, version := split(spec)
	where := place(dir, spec)
	if _, err := os.Stat(filepath.Join(where, ".installed")); err != nil {
		return false
	}
	b, err := os.ReadFile(filepath.Join(where, "node_modules", filepath.FromSlash(pkg), "package.json"))
	var meta struct{ Version string }
	return err == nil && json.Unmarshal(b, &meta) == nil && meta.Version == version
}

func installPackage(ctx context.Context, dir, spec string) (bool, error) {
	if installed(dir, spec) {
		return false, nil
	}
	where := place(dir, spec)
	if err := writeJSON(filepath.Join(where, "package.json"), obj{"private": true}); err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--save-exact", "--no-fund", "--no-audit", "--no-progress", spec)
	cmd.Dir = where
	if out, err := cmd.CombinedOutput(); err != nil {
		return false, fmt.Errorf("install %s: %w: %s", spec, err, out[max(0, len(out)-2000):])
	}
	return true, writeFile(filepath.Join(where, ".installed"), "")
}
