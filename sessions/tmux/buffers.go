package tmux

import (
	"context"
	"fmt"
	"strings"
)

// bufferPrefix begins the names of all buffers of ours.
const bufferPrefix = "_panebridge_"

// learn sets the probe buffer and looks how it's shown.
func (l *live) learn(ctx context.Context) error {
	reply, err := l.do(ctx, &request{blocks: 3, line: "set-buffer -b " + bufferPrefix + "probe " + quote(probeText) +
		" ; show-buffer -b " + bufferPrefix + "probe ; delete-buffer -b " + bufferPrefix + "probe"})
	if err != nil {
		return fmt.Errorf("learn how tmux shows buffers: %w", err)
	}
	enc, ok := learnEncoding(reply[1].lines)
	if !ok {
		return fmt.Errorf("learn how tmux %s shows buffers: got %q for %q", l.version, reply[1].lines, probeText)
	}
	l.enc = enc
	return nil
}

// dropOldBuffers deletes what an earlier client left when it was killed.
func (l *live) dropOldBuffers(ctx context.Context) {
	reply, err := l.do(ctx, &request{blocks: 1, line: "list-buffers -F '#{buffer_name}'"})
	if err != nil {
		return
	}
	for _, name := range reply[0].lines {
		if strings.HasPrefix(name, bufferPrefix) {
			_, _ = l.do(ctx, &request{blocks: 1, line: "delete-buffer -b " + quote(name)})
		}
	}
}
