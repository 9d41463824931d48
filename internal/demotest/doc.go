// Package demotest holds the test that does in a browser what the demos say one can do. `make pictures`
// has it keep what the browser shows in docs/pictures.
package demotest
