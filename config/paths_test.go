package config_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/config"
)

func TestPaths(t *testing.T) {
	all := map[string]string{
		"HOME": "/home/ann", "XDG_CONFIG_HOME": "/conf", "XDG_STATE_HOME": "/state",
		"PANEBRIDGE_CONFIG": "mine.yaml", "PANEBRIDGE_STATE_DIR": "mine",
	}
	for _, test := range []struct {
		name, flag, unset string
		file, state       string
		named             bool
	}{
		{"flag", "f", "", "f", "f", true},
		{"variable", "", "", "mine.yaml", "mine", true},
		{"XDG", "", "PANEBRIDGE_", "/conf/panebridge/config.yaml", "/state/panebridge", false},
		{"home", "", "PANEBRIDGE_ XDG_", "/home/ann/.config/panebridge/config.yaml", "/home/ann/.local/state/panebridge", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := map[string]string{}
			for name, value := range all {
				set[name] = value
				for prefix := range strings.FieldsSeq(test.unset) {
					if strings.HasPrefix(name, prefix) {
						set[name] = ""
					}
				}
			}
			file, named, err := config.Path(test.flag, env(set))
			if file != test.file || named != test.named || err != nil {
				t.Errorf("Path: %q, %v, %v", file, named, err)
			}
			if state, err := config.StateDir(test.flag, env(set)); state != test.state || err != nil {
				t.Errorf("StateDir: %q, %v", state, err)
			}
		})
	}
}

func TestPathsWithoutHome(t *testing.T) {
	relative := env(map[string]string{"XDG_CONFIG_HOME": "x", "XDG_STATE_HOME": "x"})
	_, _, err := config.Path("", relative)
	if want := "find configuration folder: neither XDG_CONFIG_HOME nor HOME is an absolute path; give --config or set PANEBRIDGE_CONFIG"; err == nil || err.Error() != want {
		t.Errorf("Path: %v", err)
	}
	_, err = config.StateDir("", relative)
	if want := "find state folder: neither XDG_STATE_HOME nor HOME is an absolute path; give --state-dir or set PANEBRIDGE_STATE_DIR"; err == nil || err.Error() != want {
		t.Errorf("StateDir: %v", err)
	}
}
