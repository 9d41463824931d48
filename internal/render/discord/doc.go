// Package discord writes rendered text in Discord's Markdown
// (support.discord.com/hc/articles/210298617), which differs from others: lines are
// lines, there are no tables, and a backslash before any sign takes its meaning.
//
// All text is escaped, so that nothing but the styles is markup. Code is put
// between fences or as many backticks as it takes; three in a row within a block
// are divided by a zero-width space (U+200B), because nothing else keeps them from
// ending it. Links that are text stand between "<" and ">": so they end where they
// end, and no preview takes the room of the message.
//
// # Mentions
//
// Behind each "@" outside of code, but in e-mail addresses, stands a zero-width
// space, and "<" is escaped:
// "@everyone", "<@1>", "<@&1>" and "<#1>" read as they were and call nobody. That's
// for the reader's sake. What calls nobody for certain is allowed_mentions with an
// empty list, which belongs in every request.
package discord
