// Package recording holds recorded sessions of real agent programs and gives
// tests what was really there: what the program drew, what it wrote into its
// transcript and when, which hooks it called, what the person typed, and what
// the model behind it was doing.
//
// testdata/AGENT/NAME holds one recording:
//
//	recording.json      program, version, size, time of its start, its folders and transcripts
//	cast.jsonl.gz       what the program drew: asciicast v2 events, tmux's read blocks
//	frames.json.gz      what a real tmux showed of it, every 100 ms (written by gen)
//	actions.json        what was typed, and when something was seen
//	hooks.jsonl.gz      calls of the program's hooks
//	transcript*.gz      the program's own files as they were at the end
//	rows.jsonl.gz       opencode: each version of each row of its database
//	model.jsonl.gz      what the scripted model did; not in all recordings
//	truth.json          the script: what the model said
//	final_history.txt   tmux's history and screen at the end
//	shots.json.gz       the screen at named moments
//
// All times are durations since the recording's start. Vendors' instruction
// texts in transcripts and hooks are replaced by "(removed)" or left out; all
// other records are as the program wrote them.
//
// Writer writes the transcript anew as it grew, Play plays a recording as the
// program of a pane, and Timeline says when the agent was idle, working or
// waiting for an answer.
//
// # Recordings of users
//
// `panebridge doctor record` writes one through the daemon, as a .tar.gz that holds
// AGENT/NAME. It has frames, actions and hooks, but neither what the program drew, nor
// its transcript, nor what the model did: so no timeline. Besides it has
//
//	verdicts.jsonl.gz   what the daemon believed, when that changed, and why
//	records.jsonl.gz    the transcript's records: kinds and times
//
// OpenArchive opens it as it is. To keep it, look through it, and unpack it:
//
//	tar -xzf FILE -C internal/recording/testdata
//
// Then Open opens it by its name, and the judge's TestJudgeOnHeard shows it to the judge.
// All leaves it out, as most tests need what it doesn't have; Heard lists those.
//
// This is test code in ordinary files: no daemon imports it.
package recording
