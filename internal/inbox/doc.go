// Package inbox is the agents' own side: fleets, mail and notices. A fleet is a named
// group of sessions, one of which may direct it. Mail goes from one to another and is
// settled by its recipient (completed) or its sender (canceled). A notice is told once
// to who listens.
//
// All of it is in the database, which the command line opens itself: it works with the
// daemon stopped, and there's one way to do each thing. What's typed into a pane is only
// a preview of a mail that has been committed before.
//
// Here are the words, the rules and the order of steps; internal/store has the SQL, and
// who types is given to it. It knows nothing of command lines and of chats.
package inbox
