// Package doctest holds the tests of what README.md and docs say: links lead somewhere, and commands,
// flags, make's targets and keys of the configuration are there.
package doctest
