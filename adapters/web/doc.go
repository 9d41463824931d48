// Package web is the page: static files that the API's server mounts at its
// root. There's no build step; what lies in static is what the browser gets.
//
// The page is a client of the API. It signs its requests with a key that the browser
// keeps (key.js; package browsers says why) and shows what to do while the browser isn't
// let in (gate.js). It isn't a binding and needs no slots: app.js puts the parts together, stream.js keeps one event stream
// and goes on behind the last event it got, conversation.js keeps a window of
// the output log in the document, answers.js shows the answers among its lines as
// their Markdown says. That's worked out here (markdown.go), by what chats use, and
// comes as runs of text: nothing that a session printed is ever HTML.
package web
