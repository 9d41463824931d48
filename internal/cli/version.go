package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Build says what a program was built of. What a build doesn't say is "".
type Build struct {
	Version string // such as v1.2.3
	Commit  string // its hash, 40 digits
}

// known fills in what Go itself wrote into the program: the module's version after
// `go install module@version`, the commit after `go build` in a checkout.
func (b Build) known(info *debug.BuildInfo) Build {
	if info != nil && b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if info != nil && b.Commit == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

func newVersion(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				b := p.whole()
				return p.printJSON(map[string]string{
					"version": b.Version, "commit": b.Commit, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			return p.printf("%s\n", p.versionLine())
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// versionLine is what people see of it.
func (p *invocation) versionLine() string {
	return fmt.Sprintf("panebridge %s (%s, %s/%s)", p.versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText is the build's version, or that of `go install module@version`.
func (p *invocation) versionText() string { return p.whole().Version }

func (p *invocation) whole() Build {
	info, _ := debug.ReadBuildInfo()
	return p.build.known(info)
}
