package api

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Nobody has to sign for the test of a stream, so few are under way at once.
func TestStreamTestsAreBounded(t *testing.T) {
	d := newDoor(Options{}, "1", nil)
	for range maxStreamTests {
		d.tests <- struct{}{}
	}
	w := httptest.NewRecorder()
	d.testStream(t.Context(), w)
	if w.Code != http.StatusTooManyRequests {
		t.Errorf("one more is answered %d", w.Code)
	}
}
