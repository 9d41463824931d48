// Package viewing shows panes to people who look at them, as they are drawn. A pane that nobody looks at costs nothing.
//
// A [Viewer] gets frames: the whole screen each, with its number and the moment in which it was so. One goroutine a pane takes
// them, for all of its viewers: when the kernel says that its program has written (package ttywatch), when keys were pressed,
// and now and then. A viewer who is slow gets the newest frame next, and none in between, so nothing is queued.
// docs/adr/0043-a-watched-pane-is-captured-when-the-kernel-says-it-was-written-to.md has why frames, and no bytes.
package viewing
