//go:build !linux

package agentlab

import (
	"context"
	"errors"
	"net"
)

// port is where the model listens.
const port = 18080

// Main does nothing here.
func Main() {}

type namespace struct{ listener net.Listener }

func newNamespace(context.Context) (*namespace, error) {
	return nil, errors.New("make a network namespace: agents are run on Linux only")
}

func (n *namespace) enter() []string { return nil }
func (n *namespace) endAll() []int   { return nil }
func (n *namespace) close()          {}
