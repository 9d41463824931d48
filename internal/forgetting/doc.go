// Package forgetting has sessions forgotten that have ended, with all that was kept of them, also
// what was on its way to them.
package forgetting
