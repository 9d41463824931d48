// Package commands does what people ask for by commands and buttons. Each command is one line of the
// table in table.go. A Runner finds the command or the button's handler, looks
// whether its person may use it, and runs it as an Invocation, whose methods answer.
//
// A command that was begun and isn't the same twice isn't done again after a crash; its person is
// told.
//
// A platform's ids, markup or limits aren't known here, nor how text is typed.
package commands
