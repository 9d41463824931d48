// Package installtest holds the tests of install.sh: what a server may answer, and what a machine
// may lack. Each runs the script as people do, against a server on loopback.
package installtest
