package config_test

import (
	"fmt"

	"github.com/panebridge/panebridge/config"
)

// All that's wrong is said at once, with where it stands.
func ExampleForm_Parse() {
	file := []byte("polling:\n  output_cadence_s: fast\nadapters:\n  web: {listen: 127.0.0.1}\nmirors: []\n")
	_, err := config.Form{}.Parse("panebridge.yaml", file, func(string) (string, bool) { return "", false })
	fmt.Println(err)
	// Output:
	// panebridge.yaml:2:21: polling.output_cadence_s: must be a number, not text
	// panebridge.yaml:4:17: adapters.web.listen: must be an address of this machine and a port, such as 127.0.0.1:7333, [::1]:7333 or 0.0.0.0:7333
	// panebridge.yaml:5:1: mirors: unknown key; did you mean mirrors?
}
