//go:build !linux

package ttywatch

import "context"

// TTYWatch watches one terminal.
type TTYWatch struct{}

// Open returns ErrUnsupported.
func Open(string) (*TTYWatch, error) { return nil, ErrUnsupported }

// Wait returns ErrUnsupported.
func (*TTYWatch) Wait(context.Context) error { return ErrUnsupported }

// Close does nothing.
func (*TTYWatch) Close() error { return nil }
