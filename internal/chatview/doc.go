// Package chatview is the page that shows a stand-in for a chat platform as a phone
// would: chats and threads, messages with buttons and menus, and what people can do
// there. A stand-in is a World; nothing here knows which platform it stands for, but for
// how it looks.
//
// Ids are texts: Discord's don't fit into the numbers of a browser. Times are in
// milliseconds since 1970. Offsets into texts are in UTF-16 units, as browsers count.
package chatview
