// Package discord mirrors sessions to Discord and carries what people write there back,
// through the REST API and the gateway (docs.discord.com/developers).
//
// # Outbound
//
// Adapter implements adapters.Adapter, Poster and Asider (deliver.go). Each
// call takes the slot that the scheduler has granted, and nothing is called without one
// but looks, and answers to interactions, which have limits of their own. client.go
// makes the calls and reads the answers, and failure.go says what they mean.
//
// A session's place is a thread of a text channel, a post of a forum channel (thread.go),
// or a channel of its own. Threads are channels to Discord: calls name them alone, and
// their limits are their own.
//
// # Limits
//
// limits.go reads the limits of each answer: buckets by their hash and the top-level
// resource, orders of silence for a bucket, the bot, the address. They're handed to the
// scheduler (Options.Learn), which waits; what comes too early all the same is refused
// here, because ten thousand refusals ban the address for an hour.
// What the headers don't say is known ahead: two renames in ten minutes
// (Limits in adapter.go), few edits of messages older than an hour (oldEditTimes), threads
// that others make too (Adapter.Threads).
//
// Sends carry a nonce that Discord enforces: one that wasn't answered is made again, and
// is there once. Threads have none: one that may have been made is looked for, by its
// name and by being empty.
//
// # Inbound
//
//	gateway ──event──▶ intake: the journal ──▶ intake.Queue ──▶ inbound.Inbound
//	   │                  ▲   │ then the session counts it as come
//	   │                  │   ▼
//	   │               backfill: what was missed, by REST, before what's said now
//	   └─ interactions: acknowledged within three seconds, beside all of that
//
// Gateway holds the connection (gateway.go, gateway_conn.go). It reads, and
// waits for nothing: an event is put into a bounded queue, from which eventIntake stores one
// after the other. A session is resumed from the last event that's stored, so that what
// was lost on the way to the disk comes again, and so does what didn't fit.
//
// When a session can't be resumed, each channel and thread is read from where it was
// read last (backfill.go); what's said there meanwhile waits behind. The journal knows
// what it has by its key: the message's id, the message's id and the time of its edit,
// the interaction's id.
//
// Decoder (decode.go) makes an event of what was stored. Slash commands are the lines
// that people could write (Adapter.SetCommands); Discord shows them as they were understood, and
// the reply follows (interaction.go). Who isn't let in gets no answer at all.
//
// Where other programs use the bot, too, each takes what's in its own threads
// (sharing.go).
//
// # Looking
//
// Probe looks at a bot and its channels for whoever sets it up or looks for what's wrong
// (probe.go).
//
// # The library
//
// github.com/bwmarrin/discordgo builds requests and has the types. It doesn't wait,
// retry or print here: it sees no failure and no header of a limit, and each call has a
// session of its own, so that no lock is shared (client.go). Its gateway isn't used: it
// has no deadline while it connects, notices a dead connection after minutes, can't be
// told to stop, and doesn't say with which code Discord closed.
//
// # What may not live here
//
// Decisions about when to call, which are qos's, and about what to show, which are
// package adapters'; formatting, which is internal/render's; SQL; the token in any error
// or log.
package discord
