package tmux

import (
	"slices"
	"strings"
	"testing"
)

// What tmux prints of an environment is read as it was: cmd-show-environment.c escapes
// $ ` " and \.
func FuzzParseEnvironment(f *testing.F) {
	f.Add("A", "b", "C", "d\ne=\"f\"; export A;\n$`\\")
	f.Add("X", "", "Y", "\n")
	f.Fuzz(func(t *testing.T, name, value, second, other string) {
		for _, n := range []string{name, second} {
			if n == "" || strings.ContainsAny(n, "=\n\"") {
				return
			}
		}
		escape := strings.NewReplacer("$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`)
		text := "unset GONE;\n" + name + `="` + escape.Replace(value) + `"; export ` + name + ";\nunset TOO;\n" + second + `="` + escape.Replace(other) + `"; export ` + second + ";"
		want := []string{name + "=" + value, second + "=" + other}
		if got := parseEnvironment(strings.Split(text, "\n")); !slices.Equal(got, want) {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	})
}
