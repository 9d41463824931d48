// Package adapters brings sessions to chat platforms. It has what all platforms
// share: bindings (which target mirrors which session), the Hub that marks
// documents when a session prints, and the Deliverer that turns a granted slot into
// one planned call. What's a platform's own lives in a folder below, and implements
// Adapter: how a call is made, what its answer means, what a message can hold.
//
// # The way of a line
//
//	sessions.Manager ──event──▶ Hub: Want(document, line)        hub.go
//	                             │
//	                             ▼
//	               qos.OutputQoSScheduler, one per adapter ──a slot──▶ Deliverer
//	                             ▲                                      │ looks at the log    sight.go
//	                             │                                      │ plans one call      plan.go, page.go
//	                             │                                      │ keeps the intent    document.go, Store
//	                             │                                      │ Adapter.Call        the platform's folder
//	                             └──── Result ──── keeps the receipt ◀──┘
//
// Nobody on this way holds text but the call under way. The Hub passes on line
// numbers, the scheduler counts them, a Document says from where to where each
// message goes. What's shown is rendered from the output log when the slot is there,
// so any number of events costs one call, and a restart needs nothing but the
// document.
//
// # What one call does (plan.go)
//
// A stream adds lines to its newest message, the tail, by editing it; when not all
// of what's pending fits, the next message begins. Edits notify nobody, so the end of
// a turn is a message of its own that rings: the lines that are still pending, and
// below them "done · 3 min 12 s", which leads to the message in which the turn begins
// (ending.go), and the answer's first words if that's all it has (ending.go). Turns that
// ended meanwhile share it, and nothing is added to it later. The end of a brief turn rings
// nobody who has just asked for it (sight.go), and is said in the tail. Where it's quiet, it's
// a message of its own that doesn't ring. What takes more than three messages is attached as a
// file, and its end stands beside it; so is what takes more than one where the chat lags behind,
// because a file is one call whatever there is. Where the log has a gap, or has
// dropped lines before they could be sent, a notice says how many are missing at
// least. What would change nothing is no call. When all of an ended session is there,
// the thread that was made for it is closed.
//
// What a person sends to a session is shown wherever it's mirrored but where they wrote
// it: a line "name: first 200 characters", which the log gets right before Enter. The
// pane echoes the text as well, without a name and cut to its width, and that can't be
// taken out of what the program draws. So the line is short, and says what the echo
// doesn't; where it was written, it would be a second echo, and is hidden.
//
// What's shown in passing (drafts, "is typing") is no document's and waits for nothing
// (post.go).
//
// A chat that's more than ten minutes late, after an outage or a penalty, gets no
// replay but a digest (sight.go): how many lines there are, from when to when, the end
// of the newest, how many turns have ended. All the lines are in the file that it
// stands beside, so there's no "show all" to press: that would be a call more, would
// keep from the chat what nobody asks for, and could come when the log has dropped it.
// What's more than a file takes is in the next one. Where no file can be sent, all of it
// goes as messages.
//
// A live region may stand below the lines of the tail. When the next message begins
// it's out of date; a call of its own takes it away, after the new message, so that
// it doesn't delay an end of a turn. A new message shows none beside lines: should its
// call not be answered, nobody would know where to take it away.
//
// Of a known program the live region is no screen but the text that it's writing, which
// isn't in the log yet, and a line that says what it's doing (plan.go). That text counts
// as new: it makes a document due as a line does (hubBinding.wantProgress), and begins a message if
// there's none (plan.go). The lines, when they're there, take its place in the same
// message by the next edit, before anything else, an end of a turn included: so nobody
// ever sees both. A text that never comes leaves a note. What's shown is never older than
// the log: text that the log may have is left out until the Hub has heard of its lines.
//
// What somebody writes at the place, and what's posted there, ends the tail, its live region
// included (deliver.go): a text that's being written goes on in a message below that, and so do its
// lines, since nobody can tell what it answers. Where it stood, a note says so if there was nothing
// else.
//
// # Blocks
//
// Lines of an agent's transcript come in blocks: an answer, a call of a tool, what was
// asked. sessions.Line.Begins marks the first of each. Blocks have nothing to do with
// each other: a fence that one leaves open ends with it.
//
// # Crash safety
//
// Before a call, the document is stored with an Intent: what the call does, and how
// far the document is when it's done. After the call it's stored without, with the
// ids it returned; or as it was before, if the call surely had no effect. So what a
// crash leaves behind is one of four things:
//
//   - No intent: nothing was under way. The document goes on where it is.
//   - The intent of an edit: it's made once more, just as it was. An edit that's made
//     twice is an edit. Until that has worked nothing else is sent, because what the
//     message shows isn't known. If it can't be made again, it's in doubt like a send.
//   - The intent of a send, with a file or without: it's in doubt how far the chat is.
//     Within Shape.NonceFor the platform knows, and the same send with the same nonce is
//     made again: it shows what it did then, and announces the same turns. Else what's in
//     doubt is sent once more, in messages that begin with a mark.
//     A message with nothing but text that was being written stays as it was, if nobody
//     knows of it; the next one is marked.
//   - The intent of a thread: it's asked for as one that may be there (Op.Again). Where
//     the platform tells which threads there are, it's found; elsewhere an empty one may
//     be left.
//
// A call whose answer never came leaves the same behind, without a crash. Doubt is
// kept in the document until what's shown has passed it.
//
// The output log isn't written here, and its numbers never change, so that documents
// and log need no common transaction.
//
// # What may not live here
//
// Requests to a platform, its limits, ids or markup; SQL; what people write (that's
// inbound); decisions about when a call may be made, which are qos's.
package adapters
