// Package telegram mirrors sessions to Telegram and carries what people write there
// back, through the Bot API (core.telegram.org/bots/api).
//
// # Outbound
//
// Adapter implements adapters.Adapter, Poster and Asider (deliver.go). Each call takes the
// slot that the scheduler has granted, and nothing is called without one but what Telegram
// doesn't count. client.go makes the calls by adapters/exchange, reads the answer, and says
// what a refusal means.
//
// Text goes out as text and entities (text.go), never as markup: there's nothing to
// escape and nothing to be refused. Should Telegram refuse entities all the same,
// the same text goes plain at its next slot.
//
// # Inbound
//
// Updates come through one of two doors: Poller asks for them (poll.go), or Webhook is
// told them (webhook.go). Either stores an update before Telegram may forget it.
// Decoder makes an intake.Event of it, without a call (decode.go). Adapter makes the
// calls that inbound needs besides posts, too; none of them takes a slot (platform.go).
//
// # Looking
//
// Probe looks at a bot and its chats for whoever sets it up or looks for what's wrong,
// and acknowledges no update (probe.go).
//
// # Topics
//
// A session's topic is made when it has something to say, made anew when it was
// deleted, and closed when the session has ended: these are planned as all calls of
// a document are, in package adapters. deliver.go has what's Telegram's: General has
// a number that messages mustn't carry, and private chats may lose topics silently.
//
// # The library
//
// github.com/go-telegram/bot encodes calls. It doesn't poll, retry, sleep or print
// here, and what it makes of answers isn't used: it loses the status of errors it
// doesn't know, prints whole bodies, and fails for fields it doesn't know.
//
// # What may not live here
//
// Decisions about when to call, which are qos's, and about what to show, which are
// package adapters'; formatting, which is internal/render's; SQL; the token in any
// error or log.
package telegram
