package tmux

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

// bufferPrefix begins the names of all buffers of ours.
const bufferPrefix = "_panebridge_"

// A buffer's number begins with the id of the process whose it is, so that several may use
// one server, and goes on with 16 random bits for each connection.
const (
	bufferPIDShift  = 40
	bufferConnShift = 24
)

// firstBuffer is the number before the first of a new connection.
func firstBuffer() uint64 {
	return uint64(os.Getpid())<<bufferPIDShift | uint64(rand.Uint32N(1<<(bufferPIDShift-bufferConnShift)))<<bufferConnShift
}

// inUse reports whether a buffer belongs to another process that lives.
func inUse(name string) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, bufferPrefix), 10, 64)
	pid := int(n >> bufferPIDShift)
	return err == nil && pid != os.Getpid() && runs(pid)
}

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
		if strings.HasPrefix(name, bufferPrefix) && !inUse(name) {
			_, _ = l.do(ctx, &request{blocks: 1, line: "delete-buffer -b " + quote(name)})
		}
	}
}
