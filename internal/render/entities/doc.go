// Package entities writes rendered text as Telegram takes it: plain text, and
// entities that say what's bold or a link, with offsets in UTF-16 units. There's no
// markup, so there's nothing to escape and nothing to be refused for.
//
// The rules are those of core.telegram.org/bots/api#messageentity and of TDLib,
// which the Bot API server is made of:
//
//   - entities nest properly, or don't touch;
//   - pre and code hold no others, and stand in none but quotes;
//   - links don't hold links, quotes don't hold quotes;
//   - at most 100 of them count;
//   - blanks and line breaks at the start and the end of a message are cut, those at
//     the start of an entity are taken out of it, and entities without anything else
//     are dropped.
//
// From keeps all of them by itself, but for the number: that's what Form is for.
//
// # Mentions
//
// "@name" in a message mentions a person, who is told. In code it doesn't. So each
// one outside of code and links becomes code: it reads and copies as it was, and
// nobody is called. No entity ever mentions anybody: links are of the web only.
//
// # Indentation
//
// Telegram takes blanks from the start of a message, and from the start of code. A
// zero-width space (U+200B) stands before them, so that a first line isn't out of
// line with the others. It's the only character that's added.
package entities
