// Package intake takes in what people do in chats, the same on every platform: a
// platform's adapter makes an Event of an update, and a Queue hands it on.
//
//	platform ──update──▶ adapter: Queue.Keep, then acknowledge       journal.go
//	                        │ one at a time per place, in order       queue.go
//	                        ▼
//	                     QueueOptions.Handle
//
// An update is handled at least once: after a crash it comes again. Files that were sent
// together are one message, also where the platform sends them one by one (album.go).
//
// Platform is what the rooms behind need of a platform's adapter in return (event.go);
// Vitals watches a part that reads updates (health.go).
//
// What an event means isn't known here, nor who may do what.
package intake
