// Package exchange is what adapters share of an HTTP exchange with their platform: one request, one
// answer, nothing again. It knows of a call that failed whether it was surely not made, surely not
// done, or may have been done; it bounds what an answer may take; and it takes secrets out of what's
// said about a failure.
//
// What an answer means is the adapter's to say: its refusals, its orders of silence, its limits.
package exchange
