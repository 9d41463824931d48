package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionIsFoundHoweverItWasBuilt(t *testing.T) {
	installed := &debug.BuildInfo{Main: debug.Module{Version: "v1.4.0"}}
	checkout := &debug.BuildInfo{
		Main:     debug.Module{Version: "(devel)"},
		Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "abc"}},
	}
	for name, c := range map[string]struct {
		build Build
		info  *debug.BuildInfo
		want  Build
	}{
		"a release":         {Build{"v1.2.3", "def"}, checkout, Build{"v1.2.3", "def"}},
		"go install":        {Build{}, installed, Build{"v1.4.0", ""}},
		"go build":          {Build{}, checkout, Build{"dev", "abc"}},
		"nothing was noted": {Build{}, nil, Build{"dev", ""}},
		"a bare module":     {Build{}, &debug.BuildInfo{}, Build{"dev", ""}},
	} {
		if got := c.build.known(c.info); got != c.want {
			t.Errorf("%s: it's %+v, want %+v", name, got, c.want)
		}
	}
}
