// Package qostrace writes down what a scheduler of package qos was told and did, and reads it
// again: one file a day and adapter, of JSON lines, with times and numbers and no text. What
// makes the scheduler do it again is internal/qosbench.
//
// A file's first line has the version of the format. Each further one is a step (qos.TraceStep);
// format.go says which keys it has. What names a chat, a document, a session or a request is a number,
// made by a key that stays in the folder of the files, so that it's the same over restarts, and tells
// nothing to who has the file alone.
package qostrace
