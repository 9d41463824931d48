package app

import (
	"math"
	"path/filepath"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/sessions"
)

// readFile reads a file of a session's folder for the page: what /send would send to a chat, without secrets as there.
func (d *daemon) readFile(s sessions.Session, path string) (name string, data []byte, err error) {
	files := commands.SentFiles{StateDir: d.opt.StateDir, ShownPath: d.masker.Line}
	path, data, err = files.ReadFile(s.Cwd, path, math.MaxInt)
	if err != nil {
		return "", nil, err
	}
	masked := adapters.MaskedFile(d.masker, adapters.File{Name: filepath.Base(path), Data: data})
	return masked.Name, masked.Data, nil
}
