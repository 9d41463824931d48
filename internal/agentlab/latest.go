package agentlab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pins are the versions that are pinned here, by package.
func pins() map[string]string {
	out := map[string]string{}
	for _, a := range pinned() {
		for _, spec := range append([]string{a.Package}, a.Extra...) {
			pkg, version := split(spec)
			out[pkg] = version
		}
	}
	return out
}

// found is where the versions are noted that npm served last: a JSON object from
// packages to versions.
func found() (string, error) {
	dir, err := Folder()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "latest.json"), nil
}

// readFound are those versions; none where nobody has asked yet.
func readFound() map[string]string {
	path, err := found()
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(path)
	var out map[string]string
	if err != nil || json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

// useFound puts the newest versions in place of the pinned ones.
func useFound(agents map[string]*Agent) {
	versions := readFound()
	newest := func(spec string) string {
		pkg, _ := split(spec)
		if v := versions[pkg]; v != "" {
			return pkg + "@" + v
		}
		return spec
	}
	for _, a := range agents {
		a.Package = newest(a.Package)
		for i := range a.Extra {
			a.Extra[i] = newest(a.Extra[i])
		}
	}
}

// InstallLatest asks npm which version of an agent it serves by default, installs
// that, and notes it for Agents. It returns the agent in that version.
func InstallLatest(ctx context.Context, name string) (*Agent, error) {
	a := pinned()[name]
	if a == nil {
		return nil, fmt.Errorf("install %s: no such agent", name)
	}
	versions := readFound()
	if versions == nil {
		versions = map[string]string{}
	}
	for _, spec := range append([]string{a.Package}, a.Extra...) {
		pkg, _ := split(spec)
		cmd := exec.CommandContext(ctx, "npm", "view", pkg, "version")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("ask npm for the newest version of %s: %w", pkg, err)
		}
		if versions[pkg] = strings.TrimSpace(string(out)); versions[pkg] == "" {
			return nil, fmt.Errorf("ask npm for the newest version of %s: it named none", pkg)
		}
	}
	path, err := found()
	if err != nil {
		return nil, err
	}
	if err := writeJSON(path, versions); err != nil {
		return nil, err
	}
	useFound(map[string]*Agent{name: a})
	_, err = Install(ctx, a)
	return a, err
}

// Version is that of the agent's package.
func (a *Agent) Version() string {
	_, version := split(a.Package)
	return version
}
