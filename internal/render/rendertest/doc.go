// Package rendertest makes random text for the tests of renderers, in which each
// character can be followed from the source to the message.
//
// A document's words are made of ideographs of which no two are the same. So
// whatever a renderer makes of a document, a test can tell what's missing, what
// comes twice, and what's out of order, without knowing anything of Markdown.
package rendertest
