// Package access decides who may do what, and where.
//
// Nobody may do anything until the configuration or a pairing code names them. The check is in
// one place, Guard.Admit, before anything else looks at an event, and is the same for texts,
// buttons, files and commands. A stranger gets silence, one line in the log and a counter. A
// known person in a chat that nobody named is a stranger, too.
//
// What a pairing code gave holds as long as whoever gave it could give it again, and, if it was
// written in a group, as its person is in there (grants.go).
//
// What an event means isn't known here.
package access
