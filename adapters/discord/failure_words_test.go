package discord

import (
	"net/http"
	"testing"
)

// People read what was refused in plain words, and no address of a call.
func TestFailuresInPlainWords(t *testing.T) {
	const id = "1234567890123456789"
	for want, f := range map[string]failure{
		"make the thread: Missing Permissions (50013)":   {route: routeOf(http.MethodPost, "channels/"+id+"/threads"), status: 403, code: 50013, text: "Missing Permissions"},
		"post a message: no answer (502)":                {route: routeOf(http.MethodPost, "channels/"+id+"/messages"), status: 502, text: "no answer"},
		"edit a message: connection refused":             {route: routeOf(http.MethodPatch, "channels/"+id+"/messages/"+id), text: "connection refused"},
		"change the thread: Thread is archived (50083)":  {route: routeOf(http.MethodPatch, "channels/"+id), status: 400, code: 50083, text: "Thread is archived"},
		"pin a message: Missing Permissions (50013)":     {route: routeOf(http.MethodPut, "channels/"+id+"/messages/pins/"+id), status: 403, code: 50013, text: "Missing Permissions"},
		"call GET users/@me: 401: the token isn't right": {route: routeOf(http.MethodGet, "users/@me"), status: 401, text: "the token isn't right"},
		"call Discord: nobody answers":                   {text: "nobody answers"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
