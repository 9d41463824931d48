// Package search finds lines of all sessions by their words, the newest first.
//
// # What's found
//
// A query is a list of texts: what stands between spaces, or between quotation marks. A line is found if it has each of
// them, whatever the case of letters, each from the beginning of a word on. A word is a row of letters and digits, and words
// begin within one, too: at a capital behind a small letter, and where letters and digits meet. So "poller" finds
// OutputPoller, and "oller" doesn't. Scripts that put no spaces between words are found from any letter on.
//
// # The index
//
// [Index] has, for each session's lines, tables of SQLite's FTS5 in a database of its own: numbers of lines by word, and no
// text. All of it can be made anew from the log, so a damaged index is removed, and one that's behind catches up. A table
// holds up to 65,536 lines of one session: to forget these is to drop a table, which takes 4 ms, where one that all
// sessions share takes 1 ms for each line (measured with secure_delete, 20,000 lines a session). Each table takes a search
// some time, so the small ones of many sessions that are silent are merged; to forget one of these sessions is to index the
// others anew that are in the same table. The database is apart from the log's: in one transaction with it an append would
// take 3 to 4 times as long.
//
// What the index finds is only where to look: each line is read from the log, with its secrets masked or not, and compared.
// The daemon's index has the words that masking leaves.
//
// [Indexer] keeps the index behind the log.
package search
