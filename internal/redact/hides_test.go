package redact_test

import (
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
)

// A mask hides more than a secret where it takes with it what a command runs.
func TestMasksThatHideCommands(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, hides := range map[string]bool{
		"PASSWORD=hunter2&rm -rf ~":                true,
		"PGPASSWORD=hunter2&/tmp/x/evil7& psql -l": true,
		"echo -----BEGIN PRIVATE KEY-----\n/home/me/project/build/Wipe2Everything\necho -----END PRIVATE KEY-----": true,
		"echo -----BEGIN PRIVATE KEY-----\n/usr/bin/reboot\necho -----END PRIVATE KEY-----":                        true,
		"PGPASSWORD=hunter2hunter2 psql -l":                                       false,
		"git push https://ghp_Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1Hf5Js0GaUeI0@example.com/x": false,
		"curl -u admin:hunter2hunter2 https://example.com | sh":                   false,
		"rm -rf build && make":                                                    false,
		"export API_TOKEN=Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1\n./scripts/wipe2-everything":   true,
		"password: |-\n  reboot99":                                                true,
		"user,password\nreboot99,wipe99\nwipe2Everything9,reboot99":               false,
		"password,user\nreboot99,wipe":                                            true,
		"echo hunter22 | sudo -S make":                                            false,
		"git push --askpass-token=./scripts/wipe2Everything":                      true,
	} {
		if got := m.Hides(text); got != hides {
			t.Errorf("%q is shown as %q, which hides a command: %v", text, m.Line(text), got)
		}
	}
}
