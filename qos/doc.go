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
//   - Interactive requests are first come, first served; of finals goes first what has waited longest,
//     from its oldest line on. So p counts the documents that have waited longer, and the final itself:
//     each of them can go before it once at most, since what it has afterwards is younger. A question
//     goes before finals whose lines haven't waited Options.MaxStale longer. What failed, and
//     what takes several calls, goes to the end of its class, so one document that
//     the platform chokes on holds up no other.
//
// Cosmetic calls aren't queued: they're made if a slot is free right now and
// nothing else waits.
//
// # What a session gets (chat.go)
//
// Between sessions, all calls but answers to people are shared by start-time fair queuing (Goyal, Vin,
// Cheng 1996). The chat has a virtual time V. A session that gets something to send receives the start
// tag S = max(V, F), where F is its last finish tag. Of streams the lowest S is served (ties: the oldest),
// and F = S + 1/w; V is the lowest S of all who wait, those who rest included. Being idle earns nothing,
// since S is at least V. The weight w is 1, and 2 for a session somebody spoke to within two minutes.
// For two sessions that always have something to print, served/w differs by at most 1/w of the one plus
// 1/w of the other.
//
// A final goes ahead of its turn, and its session pays for it all the same: F = max(V, F) + 1/w. It
// does so only while F <= V + B/w, where B is 2 (finalBurst). Beyond that it's charged: it waits as a stream
// does, with all ends of its session that come meanwhile, for which one call is enough, until the others
// have caught up. So do questions of a session. A stream may go before its turn if nothing else is
// due, or if it has waited much longer than a turn of all takes, while S <= V + 1/w (streamLead).
//
// The bound: between any two moments, what a session i got, divided by its weight, is at most
// (B + 1)(1/wi + 1/wj) more than what a session j got that always had something to send, whatever the
// classes. For F <= V + (B + 1)/w holds always: each grant asks for F <= V + B/w, and adds 1/w. Each
// grant of i raises Fi by 1/wi from V or more, so i got, by weight, at most the rise of V and (B + 1)/wi. While j waits, V
// is at most its tag, so V rose by at most what j got, by weight, and the (B + 1)/wj that j was ahead
// at first. What's flushed, because its document is being closed, isn't held back: that's over
// soon. A penalty's call is paid back and has no rest, since it was refused for the chat's sake; it's none that a session
// got, and nothing that it did to V stays.
//
// How late an end can be told: of sessions that end turns without end, within three fair intervals ((window + latency) *
// sessions/(N - commands a window)) and a window with its latency. Each is B + 1 calls ahead at most, and so are the others.
// And finals keep to no pace, so few sessions may use up a window, but for a command's slot, and wait for it. Of one such
// session beside others that only print it's two fair intervals, or a window if that's longer. (Measured, not proved: TestAnEndIsToldWithinAFewTurns.)
//
// # Reserve and pace (pace.go)
//
// Streams leave one slot of the chat's first window free, so a command never waits for a window
// that streams have filled. So do finals of a session that had two (finalBurst) within the window. (If all
// finals did, those of a quiet chat would come later: p99 15.7 s, that of the original 8.9 s.)
//
// Streams could use the other slots at once, and be silent for the rest of a window. So they're paced: (window + latency)/(N - u - s) apart, rounded up to rounding_ms. u is the usual number of
// commands and finals a window, a moving average, at most reserve_mpm; s is slack, 5/8 of that
// average and N/8 at most. While anything interactive or final is about, it's at least
// window/(N * output_budget_ratio). All calls together are held to 0.95 of the window on average, of
// which a tenth of a window is saved for commands: after more commands than that, streams give way
// one by one. The first call after a rest goes at once, and no burst comes after. Where a command or a
// call in flight held a stream up, the next one comes earlier by as much. pbbench qos --trade shows
// what other values do. With lend_reserve: false, all of reserve_mpm is always kept, less what was used.
//
// A document that got a stream call rests: for min_session_tick_s if its session is
// in focus, else for max(min_session_tick_s, (active sessions - 1/2) * the full pace). During
// that time its updates only coalesce. (The half is so that a document isn't late
// for its own turn.)
//
// # Penalties (penalty.go)
//
// "Too many requests" silences its chat until the response plus retry_after plus up
// to a second. That time is never shortened, is kept over restarts, and holds in
// every mode. Up to 5 s are for the method family only; longer ones for the whole
// chat, because field reports have bans from methods nobody counted. Three chats
// within 2 s silence the bot. When a penalty lifts, one call goes as a probe, of the best class that
// waits, or the next cosmetic message where nothing does, and nothing more until it's answered.
//
// A penalty halves the pace, and each accepted call after the probe brings a tenth of the full one back:
// after the first penalty it's whole again five calls later. Each further one that isn't worked off (20
// accepted calls do that) halves that step. A probe that's refused cuts nothing. Until the pace is
// whole, finals keep to it, too. It's never less than three tenths of the full one: in a group
// about five calls a minute. Meanwhile streams and finals make up for the silence: they go at twice the
// pace until as many have gone as it cost them, half a window at most. The silence has left that many
// slots, and the window guards. Most gaps are no longer then than those of a FIFO that doesn't slow down. In general
// the worst gap of a run with one penalty is at most two calls at full pace and the second that's added to the platform's
// time longer than the penalty and the gap without it together, or than 1.6 times the FIFO's (measured:
// TestAPenaltyCostsLittleWhateverIsPrinted).
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
