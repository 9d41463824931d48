// Package diffs makes unified diffs that git apply takes: of what an agent asks to change in files
// (edits.go, before anybody allows it), and of what has changed in a session's repository (repository.go).
//
// What an agent's record says is made to a copy of the file as it's on the disk (applied.go), and the diff is
// between both. Where the file isn't as the record has it there's no diff, and a sentence that says why: nobody
// guesses what an agent would do.
//
// A repository is whatever an agent, or what it was talked into, has made of it. No setting of it is believed, and no
// program that it names runs: git is given a repository of its own, which has nothing but the other's objects (git.go).
//
// What lives here: reads files and runs git, in bounds of size and time. What may not: masks secrets, writes
// anything outside of a temporary folder, keeps anything.
package diffs
