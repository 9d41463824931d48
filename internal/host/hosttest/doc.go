// Package hosttest has disks for tests: those in memory that can be full, or may only be read. Only
// Linux mounts them; elsewhere each function returns an error.
package hosttest
