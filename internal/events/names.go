package events

// named are the stable names of all events by their messages. A message may be worded anew; then its name stays.
// internal/doctest sees to it that each message of the log is here, and no other.
//
//nolint:gochecknoglobals,gosec // a constant table; the secrets that it speaks of are in none of it
var named = map[string]string{
	"note whose private chat one is":                       "access.chat-unstored",
	"a pairing code was made":                              "access.code-made",
	"a person was let in by a pairing code":                "access.code-used",
	"a wrong pairing code":                                 "access.code-wrong",
	"access was given":                                     "access.given",
	"end what a group gave":                                "access.group-end-failed",
	"what a group gave has ended: its person has left it":  "access.group-left",
	"nobody can tell whether a person is still in a group": "access.group-unknown",
	"note that a person is in a group":                     "access.group-unstored",
	"bindings of a private chat couldn't be tried again":   "access.retry-failed",
	"a stranger is ignored":                                "access.stranger",
	"access was taken back":                                "access.taken-back",
	"end the mirroring to a private chat":                  "access.unbind-failed",
	"note when access was used":                            "access.use-unstored",

	"answering an API call":                      "api.failed",
	"reading the output log for an event stream": "api.stream-failed",

	"the audit log doesn't have what became of a call by the page": "audit.unstored",

	"binding begins":        "binding.begins",
	"a binding is disabled": "binding.disabled",
	"binding disabled":      "binding.lost",
	"a binding rests":       "binding.rests",
	"what the platform refused couldn't be tried again": "binding.retry-failed",

	"nothing can be sent: the budget fails": "budget.fails",
	"penalty":                               "budget.penalty",
	"nobody knows any more what bots have sent in the last minute: they begin when that's over": "budget.unknown",
	"the budget works again": "budget.works",

	"a pressed button failed": "button.failed",
	"answer a pressed button": "button.unanswered",

	"keep what came of a call": "call.outcome-unstored",

	"keep that a card is gone":                                  "card.end-unstored",
	"a card is given up, since it's refused":                    "card.given-up",
	"keep which card stands":                                    "card.place-unstored",
	"a card was refused; it's tried again":                      "card.refused",
	"a card couldn't be posted; it's tried again":               "card.retried",
	"a card couldn't be kept up to date":                        "card.stale",
	"it isn't known which cards are to stand; it's asked again": "card.unknown",
	"keep that a card stands":                                   "card.unstored",

	"a chat can't be written to any more":                         "chat.closed",
	"a line of the platform's own stays":                          "chat.line-stays",
	"what's kept for a chat couldn't follow it; it's tried again": "chat.move-failed",
	"a chat has another id now":                                   "chat.moved",
	"the platform ordered silence":                                "chat.silenced",

	"Codex' app server": "codex.connection",
	"Codex' app server isn't used; its questions are answered by keys": "codex.unused",
	"Codex' app server tells of a session's questions":                 "codex.used",

	"a command failed": "command.failed",

	"a key of the configuration does nothing":       "config.idle",
	"configuration not reloaded, the old one stays": "config.kept",
	"configuration reloaded":                        "config.reloaded",
	"changes that need a restart of the daemon":     "config.restart-needed",
	"the configuration isn't safe":                  "config.unsafe",

	"a program in a session's pane asks for a call":                                      "consent.asked",
	"a call from a session's pane was allowed":                                           "consent.given",
	"nobody can tell where a call comes from, so it counts as one from a session's pane": "consent.origin-unknown",

	"it isn't told that a session doesn't go on by itself": "continuation.drop-untold",
	"a session doesn't go on by itself":                    "continuation.dropped",
	"a session that goes on by itself; it's tried again":   "continuation.retried",
	"a session goes on by itself":                          "continuation.typed",

	"ready": "daemon.ready",

	"what's known of damaged databases that are gone stays":    "database.asides-stay",
	"look for what was put aside":                              "database.asides-unread",
	"the database is damaged; what can be read of it is saved": "database.damaged",
	"the database is gone; a new one begins":                   "database.gone",
	"a write-ahead log is there without its database: it's kept under another name, for whoever mends the database. Delete it otherwise": "database.log-alone",
	"migrated the database": "database.migrated",
	"a file of the database is gone or replaced, or a part of it is gone, and what it held is written anew": "database.rescued",
	"a backup was restored": "database.restored",
	"the database that a backup replaces can't be asked what was sent and taken since": "database.restored-blindly",
	"the database was written anew from a damaged one":                                 "database.salvaged",
	"joint transaction failed, its requests follow one by one":                         "database.split",
	"not all of a table can be read":                                                   "database.table-in-part",
	"whether the database is sound couldn't be found out; it's tried again":            "database.unchecked",
	"nothing of the damaged database can be read":                                      "database.unsalvageable",
	"the database isn't sound":                                                         "database.unsound",
	"the database can't be written to":                                                 "database.unwritable",
	"the database is written to again":                                                 "database.writable",
	"the database was written anew":                                                    "database.written-anew",

	"a device was let in":         "device.let-in",
	"a device was revoked":        "device.revoked",
	"a device waits to be let in": "device.waits",

	"an agent's hook answers its dialog":                                    "dialog.answered-by-hook",
	"an agent's server answers its dialog":                                  "dialog.answered-by-server",
	"took the key of an answer out of the input box: the question had gone": "dialog.key-removed",

	"how a session's repository was isn't kept: too many begin at once": "diff.too-many",
	"how a session's repository was isn't known":                        "diff.unknown",

	"what could be meant wasn't offered in time":                                                     "discord.completion-late",
	"an event can't be read, and was left out":                                                       "discord.event-unreadable",
	"what was written while panebridge was away can't be read: let the bot read the message history": "discord.history-denied",
	"an interaction wasn't acknowledged in time":                                                     "discord.interaction-late",
	"noting that an interaction is answered failed":                                                  "discord.interaction-unstored",
	"messages that can't be read were left out":                                                      "discord.messages-unreadable",
	"noting how far Discord was read failed":                                                         "discord.position-unstored",
	"noting with whom a private chat is failed":                                                      "discord.private-unstored",
	"Discord asks to connect again":                                                                  "discord.reconnect",
	"the bot may do all in the channel that it has to":                                               "discord.rights-enough",
	"the bot may not do all in the channel that it has to":                                           "discord.rights-missing",
	"what the bot may do couldn't be seen; it's tried again":                                         "discord.rights-unknown",
	"noting that a thread was made failed":                                                           "discord.thread-unstored",

	"a session has no folder for files": "file.no-folder",
	"fetch a file":                      "file.unfetched",

	"no file descriptor is left: what's open goes on, and who asks is answered one at a time; raise the limit (ulimit -n; LimitNOFILE of a systemd unit)": "files.exhausted",
	"there are file descriptors again": "files.free",

	"the state folder is this daemon's again":             "folder.own",
	"the state folder isn't this daemon's alone any more": "folder.shared",
	"look for what was written":                           "folder.unread",

	"what was put aside long ago is deleted":                                        "forgetting.aside-deleted",
	"what was put aside long ago is there still; it's tried again":                  "forgetting.aside-retried",
	"sessions that ended long ago are forgotten":                                    "forgetting.done",
	"what was forgotten may be in the state folder's files still; it's tried again": "forgetting.erase-retried",
	"a session that ended long ago isn't forgotten":                                 "forgetting.failed",
	"which answers were counted long ago isn't forgotten; it's tried again":         "forgetting.usage-retried",

	"ask about a text that waited too long; it's tried again": "held.ask-failed",
	"take back a text that waited too long; it's tried again": "held.end-failed",
	"offer what to do about a held input":                     "held.offer-failed",

	"an agent didn't take an answer by its hook": "hook.answer-refused",
	"a hook of no session":                       "hook.stray",

	"what waits goes on after the next start": "hub.left-waiting",
	"something is tried again until it works": "hub.retries",

	"forgetting what has expired failed; it's tried again in an hour": "inbound.unforgotten",

	"what came of a question couldn't be stored; it's tried again": "inquiry.unstored",

	"keys pressed": "keys.pressed",

	"an answer to a message won't be known as one to a letter":         "mail.answer-unknown",
	"mail to people that was being shown isn't shown again":            "mail.lost-sight",
	"what a director is told couldn't be looked up or kept":            "mail.notices-failed",
	"previews that wait couldn't be read":                              "mail.previews-unread",
	"nobody could be told of a session":                                "mail.session-untold",
	"a command that types by itself doesn't end, and isn't waited for": "mail.typing-goes-on",
	"mail couldn't be announced":                                       "mail.unannounced",

	"the port for monitoring is open to other machines": "monitoring.exposed",
	"the port for monitoring is closed":                 "monitoring.failed",
	"the port for monitoring is open":                   "monitoring.open",

	"output": "output.pace",

	"the page has another certificate":                                       "page.certificate",
	"the page's certificate can't be read again; the one of before is shown": "page.certificate-unread",

	"make a pane as high as it was": "pane.height-failed",

	"a connection to an app server panicked; it's begun anew": "panic.app-server",
	"a call panicked":                         "panic.call",
	"an answer to an interaction panicked":    "panic.interaction",
	"announcing mail panicked":                "panic.mail",
	"a poller panicked":                       "panic.poller",
	"a task panicked":                         "panic.task",
	"a fault isn't told in the session's log": "panic.untold",
	"handling an update panicked":             "panic.update",
	"a worker panicked; it's begun anew":      "panic.worker",

	"a part fails; it's tried again":                   "part.fails",
	"a part is refused; it's tried again now and then": "part.refused",
	"a part works again":                               "part.works",

	"the session is closed before all was told that its program has written": "poller.cut-short",
	"poller failed":     "poller.failed",
	"an observer's end": "poller.observer-end",

	"a post was given up":                            "post.given-up",
	"a post was refused, and goes elsewhere":         "post.moved",
	"a post was refused, and goes in a simpler form": "post.simplified",

	"prompt":                           "prompt.changed",
	"a question isn't read whole":      "prompt.read-in-part",
	"a refusal came too late":          "prompt.refused-late",
	"say that a refusal came too late": "prompt.refused-late-untold",
	"store a prompt":                   "prompt.unstored",

	"it can't be kept until when a push service is to be left alone; after a restart it's tried sooner": "push.pause-unstored",
	"a device isn't notified any more":                                                     "push.ended",
	"a device can't be notified; it's tried again":                                         "push.retried",
	"it can't be kept since when a device is notified; it's tried again at the next start": "push.since-unstored",
	"what a device shows can't be kept; it's tried again":                                  "push.shown-retried",
	"it can't be kept what a device shows; after a restart it may be told again":           "push.shown-unstored",
	"what devices are to show can't be kept; it's tried again":                             "push.store-retried",
	"what a turn said can't be read; its end is told without":                              "push.turn-unread",
	"a subscription can't be dropped; after a restart it's tried again":                    "push.undropped",
	"what devices are to show isn't kept":                                                  "push.unstored",

	"keep where a question is shown":                 "question.place-unstored",
	"keep that a question is about to be shown":      "question.plan-unstored",
	"a question couldn't be shown; it's tried again": "question.retried",
	"a question couldn't be shown":                   "question.unshown",

	"store that a text was answered":                  "receipt.answer-unstored",
	"an input goes on without its author being shown": "receipt.author-unshown",
	"store that a text was delivered after all":       "receipt.delivery-unstored",
	"store that an input waits behind another":        "receipt.order-unstored",
	"an input is sent anyway":                         "receipt.sent-anyway",
	"store a receipt":                                 "receipt.unstored",

	"recordings of what schedulers do aren't closed in time: their last lines may be missing": "recording.cut-short",
	"what a chat's scheduler does can't be recorded":                                          "recording.fails",
	"the day's recording of a scheduler is full: nothing more is recorded until tomorrow":     "recording.full",
	"the disk is too slow for what's recorded of chats' schedulers":                           "recording.slow",
	"what chats' schedulers do is recorded again":                                             "recording.works",

	"redis is back: the budget is shared again":                                                   "redis.back",
	"redis is gone: silent for a window, then within the safe share":                              "redis.gone",
	"keep the list of members":                                                                    "redis.members-unstored",
	"not admitted to the shared budget: nothing is sent":                                          "redis.not-admitted",
	"sign off from redis: the share of this process stays held back until it's back or forgotten": "redis.sign-off-failed",

	"somebody couldn't be answered":                                "reply.failed",
	"an answer to somebody is given up":                            "reply.given-up",
	"answers to people are given up, since too many wait":          "reply.too-many",
	"answers that were seen couldn't be dropped; it's tried again": "reply.undropped",
	"an answer that was kept can't be read":                        "reply.unreadable",
	"an answer to somebody can't be kept":                          "reply.unstored",

	"it's not known whether the end of a turn was to ring": "ring.unknown",

	"a screen couldn't be drawn": "screen.undrawn",

	"what's written can't be searched for; it's tried again":                             "search.behind",
	"the index for searches is damaged; it's made anew":                                  "search.damaged",
	"other secrets are masked than when the index for searches was made; it's made anew": "search.masks-changed",
	"nothing can be searched for; it's tried again":                                      "search.fails",
	"nothing can be searched until the next start":                                       "search.off",
	"a session that's gone can be found still; it's tried again at the next start":       "search.unforgotten",
	"the index for searches stays in many parts; it's tried again":                       "search.unmerged",

	"variables that have secrets aren't passed to the tmux server":             "secrets.kept-from-server",
	"variables of the tmux server that have secrets are kept from the session": "secrets.kept-from-session",

	"texts are for":                        "session.addressee",
	"store whom a session's texts are for": "session.addressee-unstored",
	"session begins":                       "session.begins",
	"compare sessions with tmux":           "session.compare-failed",
	"write the notice of a session's end":  "session.end-unnoted",
	"store the end of a session":           "session.end-unstored",
	"session ends":                         "session.ends",
	"session is forgotten":                 "session.forgotten",
	"store the new name of a session":      "session.name-unstored",
	"write a notice":                       "session.notice-failed",
	"session has another name":             "session.renamed",
	"write the notice of a restart":        "session.restart-unnoted",
	"session's program is started anew":    "session.restarted",
	"text comes from":                      "session.source",
	"the tmux session has another name":    "session.tmux-renamed",

	"what the start waited for is there":                                                           "start.goes-on",
	"serve while the start waits":                                                                  "start.serve-failed",
	"open the socket while the start waits":                                                        "start.socket-failed",
	"what an earlier run left can't be read; it's tried again":                                     "start.unread",
	"the start waits, and goes on by itself; output stays in tmux meanwhile, and nothing is taken": "start.waits",

	"tell systemd":                     "systemd.untold",
	"read systemd's watchdog interval": "systemd.watchdog-unread",

	"noting when Telegram's updates were read failed; it's tried again": "telegram.position-unstored",
	"Telegram refused a message, which goes without formatting now":     "telegram.unformatted",
	"an update wasn't stored; Telegram will send it again":              "telegram.update-unstored",
	"nobody has read Telegram's updates for longer than it keeps them":  "telegram.updates-expired",
	"updates without a number were left out":                            "telegram.updates-unnumbered",
	"took a webhook away, because the configuration says polling":       "telegram.webhook-removed",

	"a thread was deleted; it's made anew when there's something to show": "thread.deleted",
	"a thread keeps its title":                      "thread.title-kept",
	"a thread keeps its title until the next start": "thread.title-later",

	"a request for a tmux server can't be read": "tmux.start-unread",
	"a tmux server was started":                 "tmux.started",
	"no tmux server was started":                "tmux.start-failed",

	"tmux answers again": "tmux.answers",
	"tmux connected":     "tmux.connected",
	"tmux not connected": "tmux.disconnected",
	"look at panes":      "tmux.look-failed",
	"tmux doesn't answer: what's new is seen when it does": "tmux.silent",

	"a writer can't be told how far a text is":                      "told.refused",
	"a writer couldn't be told how far a text is; it's tried again": "told.retried",
	"look for the message of an input":                              "told.unread",
	"keep what a writer was told":                                   "told.unstored",

	"look for transcripts": "transcript.look-failed",
	"where a transcript was left isn't known; what's in it from later is told": "transcript.position-lost",
	"a transcript can't be read at the moment":                                 "transcript.retried",
	"the source of a session":                                                  "transcript.source-failed",
	"a transcript can't be read on":                                            "transcript.stopped",
	"a transcript can't be read":                                               "transcript.unreadable",

	"an update failed; it's tried again, and its place waits":    "updates.failed",
	"an update that fails at each try was set aside":             "updates.given-up",
	"forgetting old updates failed; it's tried again in an hour": "updates.unforgotten",
	"reading the updates that wait failed; it's tried again":     "updates.unread",
	"an update that can't be read was set aside":                 "updates.unreadable",

	"a voice note isn't transcribed": "voice.failed",
	"a recording stays":              "voice.recording-stays",
}
