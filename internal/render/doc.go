// Package render turns the text of sessions into what chat messages show.
//
// # Stages
//
//	Page (lines) ──▶ Part (source text of one kind) ──▶ MessageText (styled runs) ──▶ a platform's form
//
// A Page is what one message shows: lines of the output log (page.go). Neighbours of
// one kind are one Part: an answer in Markdown, rows of a pane, what a person wrote, a
// notice (part.go). Render makes one MessageText of parts: text in runs of equal
// Style, without markup, the same for all platforms. Package entities writes it as
// Telegram takes it, package discord as Discord's Markdown. Packages sgr and screenshot
// are about screens.
//
// # Places
//
// Each run knows where in its source it comes from. Render is given the places
// between which a message shows its parts, and parses what stands before them
// all the same: a message that begins inside a code block, a list or a quote goes
// on in it, with the block's language, the item's indentation and the quote.
// Rendering two neighbouring stretches shows everything once: what's before the
// place between them in the first, and the rest in the second.
//
// Render looks at nothing behind the line in which a message ends. So a message
// is a function of the text up to there, and stays what it is when more text
// comes.
//
// # Splitting
//
// MessageForm.Next finds the end of a message (split.go). It looks for the lines that fit, and
// in the first that doesn't for the best place: between blocks, between lines, between
// words, and at worst between two characters as people see them (grapheme clusters). A
// further line makes a text longer, but for one that closes markup of a line above;
// nothing hangs on that but how full a message gets.
//
// The work for a message doesn't depend on how much text there is: what's tried is a
// window of the source (split.go), and what's parsed is bounded (markdown.go), as the
// parser's time isn't.
//
// # Nothing is lost
//
// What isn't markup is shown, in the order of the source. That goes further than
// HTML renderers: link definitions are shown, as are the cells that a table row
// has too many, HTML, titles of links, and the targets of links that a chat
// couldn't open. What isn't shown is markup, the target of a web link (it's in the
// link), the label of a reference, and the first word behind a fence (it's the
// language of the block).
package render
