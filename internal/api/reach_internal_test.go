package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A page that listens away from the loopback interface has no address for this machine's browsers: they'd be
// refused there. Who asks for one is told what to do.
func TestAddressesAreForTheLoopbackInterface(t *testing.T) {
	for origin, want := range map[string]bool{
		"http://127.0.0.1:7333": true, "https://127.9.9.9:1": true, "http://[::1]:7333": true, "http://localhost:7333": true, "http://[::ffff:127.0.0.1]:7333": true,
		"https://192.0.2.7:7333": false, "https://[2001:db8::7]:7333": false, "https://pane.example.com": false, "https://127.0.0.1.example.com": false, "": false,
	} {
		if got := IsLocal(origin); got != want {
			t.Errorf("%q is local: %t", origin, got)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/api/v1/page/addresses", http.NoBody)
	err := (&api{origin: "https://192.0.2.7:7333"}).newAddress(httptest.NewRecorder(), r)
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != http.StatusConflict || !strings.Contains(refused.Message, "panebridge page share") {
		t.Errorf("an address that lets nobody in: %v", err)
	}
}
