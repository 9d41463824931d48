//go:build !linux && !darwin

package inbox

// started is 0: only the id tells processes apart here.
func started(int) int64 { return 0 }
