// Package showing has what programs in sessions put to people by panebridge: inquiries, which wait for an
// answer, and exhibits, which are files and pictures that people are shown.
//
// What lives here: what's taken, what becomes of it, and until when it's kept. What may not: how it's drawn in
// chats (adapters/cards), who may ask for it (internal/api), and which files may be read (adapters/commands).
package showing
