package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return p.printJSON(map[string]string{
					"version": p.versionText(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			return p.printf("%s\n", p.versionLine())
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// versionLine is what people see of it.
func (p *program) versionLine() string {
	return fmt.Sprintf("panebridge %s (%s, %s/%s)", p.versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText is the build's version, or that of `go install module@version`.
func (p *program) versionText() string {
	if p.version != "" {
		return p.version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
