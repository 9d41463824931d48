package cli

import "github.com/spf13/cobra"

func newConfig(p *program) *cobra.Command {
	return newGroup("config", "Check, describe and reload the configuration",
		newConfigCheck(p), newConfigSchema(p), newConfigReload(p))
}
