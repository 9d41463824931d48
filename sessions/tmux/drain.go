package tmux

// drainScript runs its arguments as a program and ends with that program's
// status, but not before tmux has read all its output. tmux 3.3a drops what it
// hasn't read when a pane's program ends: `seq 1 1000` lost its end in one of
// six runs, and even three lines were lost in one of thirty. So the terminal is
// asked for its status (DSR), which tmux answers in order, behind all that was
// printed; after two seconds without an answer the script ends all the same.
//
// tmux 3.3a also loses the exit status, in one of four runs, when it sees the
// terminal closed before it hears of the program's end. Therefore a sleep keeps
// the terminal open for a moment longer.
//
// The traps keep the shell alive when the program is interrupted from the
// keyboard; traps with a command are reset in the program, so it gets the
// signals as ever.
const drainScript = `trap : INT QUIT TSTP; "$@"; s=$?; trap '' INT QUIT TSTP
stty -echo -icanon min 0 time 20 2>/dev/null && printf '\033[5n' && head -c 4 >/dev/null
trap '' HUP; sleep 0.5 & exit $s`

// drained wraps a program's arguments in drainScript.
func drained(command []string) []string {
	return append([]string{"sh", "-c", drainScript, "sh"}, command...)
}
