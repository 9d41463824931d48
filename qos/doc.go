// Package qos decides when which call is made to a chat platform, so that the
// platform never has to say no and what matters comes first.
//
// # Who does what
//
// OutputQoSScheduler (scheduler.go) is what others use: one per bot. Its
// goroutine owns a SlotEngine (engine.go), which is the algorithm: it does nothing
// by itself, takes the time as a parameter, and says which calls to make now and
// when to look again. The scheduler gives it a clock, a letterbox that
// never makes anybody wait, and a goroutine per call. A Budget guards: LocalBudget
// (local.go) is the one for a single process, kept over restarts in a Ledger. A
// Deliverer, implemented by the adapters, renders and makes the calls.
//
// # Documents, not frames
//
// Nothing is queued that was rendered already. Per binding there's a document: how
// far the chat is (delivered), how far it should be (wanted), and where a turn
// ended that isn't announced yet (final). Output only raises wanted. When a slot
// comes, the document's newest state is rendered and sent, however many updates
// made it. So coalescing loses nothing, an update costs the same whether one or a
// thousand wait, and since final is a number of the document and no entry in
// another queue, a partial can't follow its final.
//
// Requests are the single things that are no documents: command replies, receipts,
// prompts. They wait under a key; their payload, too, stays with the adapter.
//
// # Budgets
//
// A budget of N calls per W is N slots, each of which comes back W after the
// response of the call that took it; calls in flight hold theirs. That's an exact
// sliding window, and holds at the platform whatever the network does: a call
// arrived before it was answered, and the next one in its slot leaves W after that.
// (Counting from dispatch doesn't hold: with delays of up to 3 s, 30 calls arrived
// in a minute that allowed 20. Nor does a bucket that refills: N at once and N more
// while it refills is 2N - 1 in a window.) A call that timed out after it was
// written is taken to have been answered 5 s after its deadline; one whose connection
// broke, or whose answer leaves open whether it was done, half a second after that. The slot
// is made durable before its call goes out, so a crash doesn't open the window either.
//
// A call needs a slot in every window that applies: its chat's, the bot's, and no
// penalty. The key is the chat, as the platform counts: a forum's topics are one
// chat. Methods that the platform counts apart (typing, drafts, renaming) are
// families with windows of their own.
//
// # Who gets the next slot of a chat (choose.go)
//
// At most one call per chat is in flight, which keeps the order, and at most eight
// per bot. Four classes: interactive, final, stream, cosmetic; the better one goes
// first. So that nothing starves:
//
//   - While a final waits, at most three grants in a row go to others. So the
//     final at position p is granted within 4p grants of its chat.
//   - If a stream has waited for 45 s, at least one grant in eight goes to
//     streams. It takes an interactive request's place if one waits, and never that
//     of a final whose turn it is.
//   - Interactive requests and finals are first come, first served. What failed, and
//     what takes several calls, goes to the end of its class, so one document that
//     the platform chokes on holds up no other.
//
// Cosmetic calls aren't queued: they're made if a slot is free right now and
// nothing else waits.
//
// Between sessions, streams share by start-time fair queuing (Goyal, Vin, Cheng
// 1996; chat.go). The chat has a virtual time V. A session that gets something to
// send receives the start tag S = max(V, F), where F is its last finish tag. The
// lowest S is served (ties: the oldest), V becomes that S, and F = S + 1/w. Being
// idle earns nothing, since S is at least V. The weight w is 1, and 2 for a session
// somebody spoke to within two minutes. For two sessions that always have something
// to send, served/w differs by at most 1/w of the one plus 1/w of the other.
//
// # Reserve and pace (pace.go)
//
// Streams must leave room for what matters more. In the chat's first window one
// slot is always free: a command never waits for a window that streams have
// filled. Turns end several at a time, so those that a usual minute still has to
// bring have their slots too: ceil(1.5 f) less what finals have used, at most
// reserve_mpm, where f is a moving average of finals per minute. What isn't kept is
// lent. With lend_reserve: false, all of reserve_mpm is always kept, less what was
// used.
//
// The guard alone would let streams use a minute's slots at once and be silent for
// the rest. So they're paced: window/rate apart, rounded up to rounding_ms. The rate
// is N - R, where R = 1 + ceil(1.5 x), at most reserve_mpm, and x is a moving average
// of interactive and final arrivals per minute; it's at most N * output_budget_ratio
// while anything interactive or final is about. The first call after a rest goes at
// once, and no burst comes after. Where a command or a call in flight held a stream
// up, the next one comes earlier by as much.
//
// A document that got a stream call rests: for min_session_tick_s if its session is
// in focus, else for max(min_session_tick_s, (active sessions - 1/2) * pace). During
// that time its updates only coalesce. (The half is so that a document isn't late
// for its own turn.)
//
// # Penalties (pace.go)
//
// "Too many requests" silences its chat until the response plus retry_after plus up
// to a second. That time is never shortened, is kept over restarts, and holds in
// every mode. Up to 5 s are for the method family only; longer ones for the whole
// chat, because field reports have bans from methods nobody counted. Three chats
// within 2 s silence the bot. The pace is multiplied by 0.7, and gets 0.05 back per clean
// minute with traffic; a probe that's refused cuts nothing. When a penalty lifts, one call goes
// as a probe, of the best class that waits, or the next cosmetic message where nothing does,
// and nothing more until it's answered.
// Until a minute after it lifted, finals and streams go at half the reduced pace. It's never less
// than three tenths of the full one: in a group four such calls a minute, so that the little
// that waited is there a minute after the penalty.
//
// Other failures back off per chat, 1 s to 30 s with full jitter (pace.go). Two of them in
// ten seconds count for no pace and have no document rest: what failed once is made again as
// soon as the back-off is over, if there's a slot.
//
// # What may not live here
//
// Texts, message ids, platform clients, SQL, configuration files. This package
// imports nothing else of panebridge.
package qos
