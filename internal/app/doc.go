// Package app puts the daemon together: it alone imports everything, and
// translates the configuration into the parts' own options. No decision about
// output, input or limits is taken here.
//
// app.go starts and ends the parts; wire.go fits one part's interface to
// another; health.go, metrics.go and reload.go say and change how they are;
// statedir.go keeps what belongs to one daemon alone.
package app
