package app

import (
	"sync"

	"github.com/panebridge/panebridge/internal/render/screenshot"
	"github.com/panebridge/panebridge/sessions"
)

// renderer is made when the first picture is asked for: its fonts take some memory.
var renderer = sync.OnceValues(screenshot.New) //nolint:gochecknoglobals // made once, and then constant

// picture draws a screen as a PNG.
func picture(s sessions.Screen) ([]byte, error) {
	r, err := renderer()
	if err != nil {
		return nil, err
	}
	data, _, err := r.PNG(s)
	return data, err
}
