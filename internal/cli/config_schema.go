package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
)

func newConfigSchema(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of the configuration file, for editors",
		Args:  takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			schema, err := all.Form().Schema()
			if err != nil {
				return fmt.Errorf("make the schema: %w", err)
			}
			return p.printf("%s\n", schema)
		},
	}
}
