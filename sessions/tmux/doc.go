// Package tmux talks to tmux servers over control mode: one client process per
// server for as long as it runs, no process per call.
//
// The client attaches to a hidden session of its own ("_panebridge") and never
// to a user's, sends no sizes and sets no option but the pane option
// @panebridge_id, so that the user's sessions stay as they are. The hidden
// session is removed when the client ends in order, and when it is the last
// one, so that it doesn't keep a tmux server alive.
//
// parser.go reads the control protocol; conn.go is one connection with its
// request queue; client.go keeps a connection up and knows its health;
// snapshot.go takes atomic snapshots; input.go types; panes.go lists, makes and
// ends panes; tty.go looks at the terminal behind a pane.
//
// What may not live here: what text means (polling), and who may type
// (adapters).
package tmux
