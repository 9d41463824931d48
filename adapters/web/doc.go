// Package web is the page: files that the API's server mounts at its root. What's written
// lies in static: index.html, modules and style sheets. A browser gets index.html as it is, and
// three files that `make generate` makes of the rest (internal/gen), as it may keep nothing and would
// ask for each of them again (docs/adr/0041-the-page-is-made-into-three-files.md); beside them are a service
// worker, which shows what's pushed (worker.js; docs/adr/0044-a-push-that-needs-no-chat.md), a manifest and icons.
//
// The page is a client of the API. It signs its requests with a key that the browser
// keeps (key.js; package browsers says why) and shows what to do while the browser isn't
// let in (gate.js). It isn't a binding and needs no slots: app.js puts the parts together, stream.js keeps one event stream
// and goes on behind the last event it got, conversation.js keeps a window of
// the output log in the document, answers.js shows the answers among its lines as
// their Markdown says. That's worked out here (markdown.go), by what chats use, and
// comes as runs of text: nothing that a session printed is ever HTML.
package web
