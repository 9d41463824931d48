package discord

import (
	"net/http"
	"testing"

	"github.com/panebridge/panebridge/adapters/exchange"
)

// People read what was refused in plain words, and no address of a call.
func TestFailuresInPlainWords(t *testing.T) {
	const id = "1234567890123456789"
	for want, f := range map[string]exchange.CallFailure{
		"make the thread: Missing Permissions (50013)":   {Platform: "Discord", Call: routeOf(http.MethodPost, "channels/"+id+"/threads"), Status: 403, Code: 50013, Text: "Missing Permissions"},
		"post a message: no answer (502)":                {Platform: "Discord", Call: routeOf(http.MethodPost, "channels/"+id+"/messages"), Status: 502, Text: "no answer"},
		"edit a message: connection refused":             {Platform: "Discord", Call: routeOf(http.MethodPatch, "channels/"+id+"/messages/"+id), Text: "connection refused"},
		"change the thread: Thread is archived (50083)":  {Platform: "Discord", Call: routeOf(http.MethodPatch, "channels/"+id), Status: 400, Code: 50083, Text: "Thread is archived"},
		"pin a message: Missing Permissions (50013)":     {Platform: "Discord", Call: routeOf(http.MethodPut, "channels/"+id+"/messages/pins/"+id), Status: 403, Code: 50013, Text: "Missing Permissions"},
		"call GET users/@me: 401: the token isn't right": {Platform: "Discord", Call: routeOf(http.MethodGet, "users/@me"), Status: 401, Text: "the token isn't right"},
		"call Discord: nobody answers":                   {Platform: "Discord", Text: "nobody answers"},
	} {
		f.Deed = deeds[f.Call]
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
