// Package statedir owns the state folder: it makes the folder, refuses one that others can write
// to, locks it for one daemon, and knows the names of what's in it.
package statedir
