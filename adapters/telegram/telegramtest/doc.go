// Package telegramtest is a stand-in for Telegram's Bot API that refuses what
// Telegram refuses, remembers everything, and has people with phones in it.
//
// # How it's used
//
// New makes a Server, which is an http.Handler and starts nothing. memnet.Serve
// puts it on a listener: a socket for a daemon that's another process, or a Network
// inside a synctest bubble, where days pass in no time. Only webhooks need Server.Run.
// A Person says, presses, reacts, promotes and deletes; the bot gets the updates
// that Telegram would send. See, Rings, Topics, Drafts and Doing tell what a
// person sees and which phone rang; Calls, Refusals, Worst and Penalties what the
// bot did. Shown checks a text without sending it. Inject and Penalise break
// things. NewView is a page that shows it all as a phone would.
//
// Nothing of it comes from the client library it's used with: its JSON is written
// from core.telegram.org/bots/api, so that a mistake of the library shows.
//
// # What's counted
//
// Every call counts when it has arrived, whatever becomes of it (limits.go has
// the windows and where they're from):
//
//   - sending, editing, deleting, reactions, pins and everything about topics:
//     20 in 60 s for a group, all its topics together; 3 in 3 s for a private
//     chat, which is one a second with a burst of three;
//   - chat actions and drafts: 20 in 5 s and 40 in 30 s for a chat;
//   - both for all chats together: 30 in 1 s;
//   - setMyCommands and deleteMyCommands: 4 in 10 min;
//   - reading and answerCallbackQuery: not at all.
//
// One call too many earns a penalty, with a retry_after until the window has room
// again; for commands it's 8 min at least, and for actions and drafts 3 s at most,
// after which their window may still be full. A
// call inside a penalty is refused, counted, and makes the penalty start anew at
// twice its length. A penalty of more than 5 s silences its whole chat,
// whatever earned it.
//
// # Where it's stricter than Telegram
//
// Telegram repairs some things without a word, and what's missing then is found by
// nobody. The stand-in refuses them: entities that are empty, cross each other or
// are nested against the rules, more than 100 of them, names of topics over 128
// characters, more than 100 buttons or 8 in a row, colours that topics don't have.
// It doesn't take the old "Markdown" mode, nor fetch files by address.
//
// # Where it's laxer
//
// It doesn't know channels, albums sent by bots, inline mode, payments, stickers
// and the rest of the Bot API: those methods aren't found. A webhook may be plain
// http on any port and gets one update at a time. Of what Telegram finds in texts by itself, addresses without a scheme,
// phone and card numbers and cashtags are left out.
package telegramtest
