// Package tmux talks to tmux servers over control mode: one client process per
// server for as long as it runs, no process per call.
//
// The client attaches to a hidden session of its own ("_panebridge") and never
// to a user's, sends no sizes and sets no option but the pane option
// @panebridge_id, so that the user's sessions stay as they are. The hidden
// session is removed when the client ends in order, and when it is the last
// one, so that it doesn't keep a tmux server alive.
//
// conn.go is one connection with its request queue, and reads the control protocol;
// process.go is the client process of it; client.go keeps a connection up and knows its
// health; snapshot.go looks at panes; input.go types, and looks at the terminal behind a
// pane; panes.go lists, makes and ends panes; start.go starts programs in them; tall.go
// makes them taller for a moment; literal.go quotes.
//
// # Strings
//
// Every string that reaches tmux arrives as it is, or is refused; none is run or
// expanded. The table says which there are and how each stays literal. What tries them
// all against a real tmux is in literal_test.go, literal_pane_test.go,
// literal_server_test.go and folder_test.go.
//
//	string                                  goes to tmux as                    is literal because
//	folder of a program                     -e PANEBRIDGE_FOLDER=…             quote; never -c, which is a format: startScript enters it, or fails
//	program and arguments                   new-window, respawn-pane -- …      quote; several words, so that no shell reads them; checkText
//	environment                             -e NAME=value                      quote; checkVariable
//	the command that tmux keeps             respawn-pane without a command     tmux keeps words; they know no folder
//	name of a session that's made           new-session -s (a format), =NAME:  checkCreate: letters, digits, - and _; sessions.tmuxName makes such
//	a session's id                          set-option @panebridge_id          ID.Valid, quote; no -F
//	pane                                    -t %12                             checkPane: % and digits
//	text                                    set-buffer -- …, paste-buffer      quote; NUL is refused
//	keys                                    send-keys -- …                     quote; Manager.Keys takes names of single keys alone
//	phrases of dialogs                      if-shell -F '#{C/ri:…}'            literalPattern, quote
//	rows of the screen                      if-shell -F '#{C/r:…}'             literalRow, quote
//	title                                   if-shell -F '#{==:…}'              plainTitle: ASCII letters, digits and blanks; quote
//	how a window was (@panebridge_tall)     if-shell -F '#{==:…}', run-shell   tallMarks: what isn't of ours to the letter is left
//	channel                                 wait-for -- …, a process           literalArgument
//	socket's name or path, -f               options of a process               the kernel hands them over; tmux doesn't expand them
//	names of others' buffers                delete-buffer -b                   quote
//	names, folders, programs, marks of      list-panes -F                      values aren't expanded again; safeField keeps fields and lines apart
//	others' panes
//
// What may not live here: what text means (polling), and who may type
// (adapters).
package tmux
