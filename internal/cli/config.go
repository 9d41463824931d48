package cli

import "github.com/spf13/cobra"

func newConfig(p *program) *cobra.Command {
	cmd := newGroup("config", "Check, describe and reload the configuration",
		newConfigCheck(p), newConfigSchema(p), newConfigReload(p))
	cmd.Long = `The configuration is one YAML file, of which everything can be left out. It's the
one that --config names, else PANEBRIDGE_CONFIG, else panebridge/config.yaml in
your configuration folder (~/.config).`
	cmd.Example = "  panebridge config check\n  panebridge config reload\n  panebridge config schema >panebridge.schema.json"
	return cmd
}
