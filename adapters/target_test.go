package adapters_test

import (
	"testing"

	"github.com/panebridge/panebridge/adapters"
)

func TestParseTarget(t *testing.T) {
	good := map[string]adapters.Target{
		"telegram:-1001234567890":   {Adapter: "telegram", Chat: "-1001234567890"},
		"telegram:-1001234567890/7": {Adapter: "telegram", Chat: "-1001234567890", Thread: "7"},
		"discord:123456789":         {Adapter: "discord", Chat: "123456789"},
	}
	for s, want := range good {
		got, err := adapters.ParseTarget(s)
		if err != nil || got != want || got.String() != s {
			t.Errorf("%q: got %+v (%s), %v", s, got, got, err)
		}
	}
	for _, s := range []string{"", "telegram", "telegram:", ":1", "telegram:1/", "telegram:1/2/3", "telegram: 1", "telegram:/1"} {
		if got, err := adapters.ParseTarget(s); err == nil {
			t.Errorf("%q: got %+v, want an error", s, got)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("telegram:-1/2")
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := adapters.ParseTarget(s); err == nil && got.String() != s {
			t.Errorf("%q is read as %+v, which is %q", s, got, got)
		}
	})
}

func TestParseView(t *testing.T) {
	for s, want := range map[string]adapters.View{"": "stream", "stream": "stream", "final": "final", "screen": "screen"} {
		if got, err := adapters.ParseView(s); err != nil || got != want {
			t.Errorf("%q: got %q, %v", s, got, err)
		}
	}
	if _, err := adapters.ParseView("Stream"); err == nil {
		t.Error("a view that there isn't was read")
	}
}
