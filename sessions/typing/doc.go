// Package typing is the hand that types into a session's pane: what a person writes, a
// preview of something that's kept elsewhere, the answer to a dialog, and single keys.
//
// Whatever it types, the hand works in a closed loop: look at the screen; see whether it's one
// on which this may be typed, and what has to stand there still when it is (sessions.PaneGuard);
// paste, or press keys, in one atomic step with that check; wait until the program has read
// it; look what came of it. Nothing is done because it was right a moment ago.
//
// It reads screens with what it's given (Options), and knows of its session what its desk
// tells (sessions.Desk). The Manager says what's typed, in which order, and keeps the receipts.
package typing
