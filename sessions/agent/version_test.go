package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// The version is that of the package that the program is of, however it's started.
func TestVersionIsThePackages(t *testing.T) {
	home := t.TempDir()
	write := func(path, text string) string {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("package.json", `{"name":"mine","version":"9.9.9"}`)
	write("lib/node_modules/@openai/codex/package.json", `{"name":"@openai/codex","version":"0.169.0"}`)
	write("lib/node_modules/@openai/codex/bin/package.json", `{"type":"module"}`)
	script := write("lib/node_modules/@openai/codex/bin/codex.js", "")
	link := filepath.Join(home, "bin", "codex")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(script, link); err != nil {
		t.Fatal(err)
	}
	kept := write("share/claude/versions/2.1.329", "")
	if err := os.Symlink(kept, filepath.Join(home, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	path := func() map[string]string { return map[string]string{"PATH": filepath.Join(home, "bin")} }
	const gone = 1 << 30 // no process has this number
	tests := map[string]struct {
		process Process
		want    string
	}{
		"a script":                 {Process{PID: gone, Name: "node", Args: []string{"node", script}}, "0.169.0"},
		"a link to it":             {Process{PID: gone, Name: "node", Args: []string{"/usr/bin/node", "--no-warnings", link, "resume"}}, "0.169.0"},
		"from its folder":          {Process{PID: gone, Name: "node", Args: []string{"node", "bin/codex"}, Cwd: home}, "0.169.0"},
		"a title over its args":    {Process{PID: gone, Name: "node", Args: []string{"claude"}, Environ: path}, "2.1.329"},
		"a script of no package":   {Process{PID: gone, Name: "node", Args: []string{"node", write("claude", "")}}, ""},
		"nothing is known":         {Process{PID: gone}, ""},
		"no process":               {Process{}, ""},
		"a program that's nowhere": {Process{PID: gone, Name: "pi", Args: []string{"pi"}, Environ: path}, ""},
	}
	for name, test := range tests {
		if got := test.process.Version(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestUntried(t *testing.T) {
	for version, want := range map[string]bool{
		"2.1.329": false, "2.1.197": false, "2.1.200": false, "2.0.1": false, "2.1.330": true, "2.2.0": true, "3.0.0": true, "10.0.0": true, "1.9.9": true,
		"2.1.329-beta.1": false, "v2.1.330": true, "2.1.1000": true, "1.9": false, "": false, "unknown": false,
	} {
		if got := Untried(version, []string{"2.1.197", "2.1.329"}); got != want {
			t.Errorf("%q: %t, want %t", version, got, want)
		}
	}
	if Untried("3.0.0", nil) || Untried("3.0.0", []string{"of the spring"}) {
		t.Error("a profile of no version is of another")
	}
	if got := NewestTried([]string{"0.15.10", "0.24.4", "0.9.30"}); got != "0.24.4" {
		t.Errorf("the newest is %q", got)
	}
}
