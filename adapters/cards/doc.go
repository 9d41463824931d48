// Package cards keeps messages in chats as they're to be: how far a text has got, an open question,
// what can be done in a session's thread, a pinned list, what was missed, an answer. A Clerk has
// them all. What each of them shows is in the store as soon as it's known, so that a restart takes
// up what an earlier run left.
//
// A message that's wanted is a value: a Wanted at a Spot. The kinds of cards make those of what's
// known of sessions and bindings, and one reconciler posts, edits, confirms and tries again
// (reconciler.go).
//
// Buttons carry an offer's random id and nothing else (clerk.go). What pressing one does,
// where, for whom, until when and how often, is in the store.
//
// What people ask for isn't known here, nor how they ask.
package cards
