// Package redisbucket is the qos.Budget that several processes with one bot share
// through Redis. qostest.Budget is its conformance suite too.
//
// # One question
//
// A call first needs a slot of the process's own LocalBudget (local, kept in the
// ledger), then one of Redis: one Lua script (scripts/acquire.lua), one round trip,
// all windows, penalties and what was learned at once, on Redis' own time. A ring is a
// sorted set of permits by when their call was answered; a call in flight stands at its
// deadline and 5 s until it's settled, which happens off the critical path, in the
// beat. All keys of a bot carry one hash tag, and all but the list of members expire.
//
// Who isn't granted leaves a claim: class, start tag, and when to come back. A slot
// goes to the best claim: better class first, among interactive requests and finals
// who came first, among streams the lowest start tag (start-time fair queuing between
// processes, with weights). The process with r better claims before it is told to come
// back when r+1 slots are free, so a slot costs about one question, not one per process.
//
// Finals are charged to their process's tag as streams are, and go first only while its start tag S is
// at most V + B/w, where V is the chat's virtual time, w the process's weight and B = 2; beyond that a final
// waits as a stream. V rises only with what's served in the order of tags, and passes no waiting claim's
// start tag. So a grant leaves the finish tag F at most at V + (B+1)/w, and a claim has S at least at V. In a
// stretch in which V rises by D, a process j thus gets at most w(D + (B+1)/w) calls, and a process i that always has a
// claim at least w(D - (B+1)/w): per weight, j gets at most (B+1)/w of the one plus (B+1)/w of the other
// more. With nobody else's claim nothing is held back, since the order of one is no order.
// The bound is about those who have a claim: who has all slots of a window itself, or has just called where
// the chat has a gap, claims none until its own budget lets it.
//
// # Epochs
//
// What Redis holds can't be trusted after a restart, a fail-over, a pause, or when its
// clock moved: grants may be missing, or be timed by another clock. The script sees all
// of these (another run id, nobody served for a second, a clock that disagrees with
// the asker's monotonic one) and begins a new epoch. Nothing is granted in it until
// every member has merged what it knows, as ages: its own calls, penalties, what it
// learned; and who else there is, which a server that's empty or older than that doesn't
// know. A member that doesn't come is waited for until what it did can't matter any
// more. The same is done where a member has seen a newer epoch than the server has: it
// may be an old master that's still about, with nobody else to merge. A server that's
// empty has lost the list of members too, so for one window members send within their
// share even when all that are known have merged.
//
// # Cut off
//
// No answer is no grant. The safe share of a window of N calls is
// floor(N / max_processes). A member without an answer is silent for W plus a call's
// deadline, 5 s and the time below, and then sends within its share. Redis holds that
// share back from the others from 0.8 s after the last answer that the member has
// confirmed (an answer that's lost counts as none), until it's back or an operator
// forgets it. So the sum stays within N whatever is cut off from what. A member that
// signed off, or never was one, doesn't send before it has been admitted: nothing
// would be held back for it. Windows with fewer calls than max_processes can't be divided;
// hasShare says what holds there.
//
// # Who owns what
//
// One goroutine (serve.go) tells Redis that the process is there, what became of
// its calls, and merges; one listens; each question that reaches Redis has its
// own, so a slow one holds up nobody. docs/adr/0010 says why it's done so, and what's left.
package redisbucket
