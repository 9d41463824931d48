package agent

import (
	"bytes"
	_ "embed"
	"fmt"
)

// pluginFile is a plug-in of opencode, a file that's ours alone.
type pluginFile struct{ Install }

//go:embed install_opencode.js
var openCodePlugin []byte

// pluginMark begins each plug-in that an install wrote.
const pluginMark = "// panebridge hooks\n"

func (f pluginFile) install(text []byte) ([]byte, bool, error) {
	found, err := f.found(text)
	if err != nil {
		return nil, false, err
	}
	command := []string{f.Program, "hook", f.Agent}
	if f.StateDir != "" {
		command = append(command, "--state-dir", f.StateDir)
	}
	written := append([]byte(pluginMark), openCodePlugin...)
	return bytes.Replace(written, []byte("const command = []"), append([]byte("const command = "), plainJSON(command, "", "")...), 1), found, nil
}

func (f pluginFile) remove(text, _ []byte) ([]byte, bool, error) {
	found, err := f.found(text)
	if !found {
		return text, false, err
	}
	return nil, true, nil
}

func (f pluginFile) found(text []byte) (bool, error) {
	switch {
	case bytes.HasPrefix(text, []byte(pluginMark)):
		return true, nil
	case len(bytes.TrimSpace(text)) > 0:
		return false, fmt.Errorf("line 1, column 1: it isn't a plug-in that panebridge wrote: move it away (%w)", ErrFile)
	}
	return false, nil
}
