package config_test

import (
	"testing"

	"github.com/panebridge/panebridge/config"
)

func TestTurnMarker(t *testing.T) {
	for _, test := range []struct {
		marker  config.TurnMarker
		literal string
		matches string
		not     string
	}{
		{"[Output Complete]", "[Output Complete]", "> [Output Complete]", "O"},
		{"/", "/", "a/b", "ab"},
		{"/tmp", "/tmp", "cd /tmp", "tmp"},
		{`/^done\b/`, "", "done.", "it's done"},
	} {
		literal, isLiteral := test.marker.Literal()
		if literal != test.literal || isLiteral != (test.literal != "") {
			t.Errorf("%q: Literal() = %q, %v", test.marker, literal, isLiteral)
		}
		re, err := test.marker.Regexp()
		if err != nil || !re.MatchString(test.matches) || re.MatchString(test.not) {
			t.Errorf("%q: Regexp() = %v, %v", test.marker, re, err)
		}
	}
	if re, err := config.TurnMarker("").Regexp(); re != nil || err != nil {
		t.Errorf("no marker: %v, %v", re, err)
	}
}
