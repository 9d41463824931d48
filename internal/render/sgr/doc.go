// Package sgr reads rows of a terminal's screen with SGR escape sequences, as tmux
// captures them: "ESC [ … m" switches colours and attributes. ECMA-48 and
// xterm's ctlseqs document them.
package sgr
