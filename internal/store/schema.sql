-- What the migrations make of an empty database. Don't edit: see migrate.go.

CREATE TABLE sessions (
	seq          INTEGER PRIMARY KEY AUTOINCREMENT,
	id           TEXT    NOT NULL UNIQUE,
	name         TEXT    NOT NULL,
	agent        TEXT    NOT NULL,
	cwd          TEXT    NOT NULL,
	state        TEXT    NOT NULL,
	reason       TEXT    NOT NULL,
	server       TEXT    NOT NULL,
	server_pid   INTEGER NOT NULL,
	server_start INTEGER NOT NULL,
	pane         TEXT    NOT NULL,
	tmux_session TEXT    NOT NULL,
	owned        INTEGER NOT NULL,
	created_at   INTEGER NOT NULL,
	ended_at     INTEGER NOT NULL,
	exit_status  INTEGER,          -- NULL: the program hasn't ended
	exit_signal  TEXT    NOT NULL
, addressee TEXT NOT NULL DEFAULT '', fresh INTEGER NOT NULL DEFAULT 0, program TEXT NOT NULL DEFAULT '', real_cwd TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE logs (
	session        INTEGER PRIMARY KEY REFERENCES sessions (seq) ON DELETE CASCADE,
	head           INTEGER NOT NULL DEFAULT 0, -- number of the newest line
	oldest         INTEGER NOT NULL DEFAULT 1, -- number of the oldest line kept; head + 1: none
	last_output_at INTEGER NOT NULL DEFAULT 0,
	turn           INTEGER NOT NULL DEFAULT 0, -- number of the present turn
	engine         BLOB                        -- the line engine's state as of head
) STRICT;

CREATE TABLE lines (
	session INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	n       INTEGER NOT NULL,
	kind    TEXT    NOT NULL,
	text    TEXT    NOT NULL,
	at      INTEGER NOT NULL, author TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT '', begins INTEGER NOT NULL DEFAULT 0, tool TEXT NOT NULL DEFAULT '', receipt TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE gaps (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	session  INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	after    INTEGER NOT NULL,
	at_least INTEGER NOT NULL,
	reason   TEXT    NOT NULL
) STRICT;

CREATE INDEX gaps_by_place ON gaps (session, after, id);

CREATE TABLE turns (
	session    INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	number     INTEGER NOT NULL,
	open       INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	ended_at   INTEGER NOT NULL,
	first_line INTEGER NOT NULL,
	last_line  INTEGER NOT NULL, status INTEGER, failed TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    TEXT    NOT NULL, -- its id: a receipt may outlive its session
	text       TEXT    NOT NULL,
	submit     INTEGER NOT NULL,
	author     TEXT    NOT NULL,
	state      TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	open       INTEGER NOT NULL  -- 0: the receipt is final
, key TEXT, name TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT '', anyway TEXT NOT NULL DEFAULT '', pressed INTEGER NOT NULL DEFAULT 0, addressee TEXT NOT NULL DEFAULT '', cause TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX open_receipts ON receipts (created_at, seq) WHERE open;

CREATE TABLE closed_panes (
	seq          INTEGER PRIMARY KEY,
	server       TEXT    NOT NULL,
	server_pid   INTEGER NOT NULL,
	server_start INTEGER NOT NULL,
	pane         TEXT    NOT NULL,
	UNIQUE (server, server_pid, server_start, pane)
) STRICT;

CREATE TABLE bindings (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    TEXT    NOT NULL, -- its id
	adapter    TEXT    NOT NULL,
	chat       TEXT    NOT NULL,
	thread     TEXT    NOT NULL,
	view       TEXT    NOT NULL,
	input      INTEGER NOT NULL,
	origin     TEXT    NOT NULL,
	disabled   TEXT    NOT NULL, -- why; '': it works
	unbound    INTEGER NOT NULL,
	created_at INTEGER NOT NULL, resting INTEGER NOT NULL DEFAULT 0, tools TEXT NOT NULL DEFAULT '', thinking TEXT NOT NULL DEFAULT '', prompts TEXT NOT NULL DEFAULT '', output TEXT NOT NULL DEFAULT '', quotes INTEGER NOT NULL DEFAULT 0,
	UNIQUE (session, adapter, chat, thread)
) STRICT;

CREATE TABLE documents (
	binding      INTEGER PRIMARY KEY REFERENCES bindings (seq) ON DELETE CASCADE,
	shown_line   INTEGER NOT NULL, -- everything before this place is in the chat
	shown_byte   INTEGER NOT NULL,
	turn         INTEGER NOT NULL, -- the newest turn whose end was announced
	announced    INTEGER NOT NULL, -- the line at which it ended
	chat         TEXT    NOT NULL, -- where the platform has the target now, if elsewhere
	thread       TEXT    NOT NULL,
	doubt_line   INTEGER NOT NULL, -- what unanswered calls may have shown
	doubt_byte   INTEGER NOT NULL,
	doubt_turn   INTEGER NOT NULL,
	doubt_screen INTEGER NOT NULL,
	tail         TEXT,             -- adapters.Message as JSON
	stale        TEXT,             -- adapters.Message as JSON
	intent       TEXT              -- adapters.Intent as JSON; NULL: no call is under way
) STRICT;

CREATE TABLE messages (
	binding   INTEGER NOT NULL REFERENCES bindings (seq) ON DELETE CASCADE,
	n         INTEGER NOT NULL,
	id        TEXT    NOT NULL, -- the platform's
	from_line INTEGER NOT NULL,
	to_line   INTEGER NOT NULL, -- less than from_line: it shows no line
	PRIMARY KEY (binding, n)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (id, binding);

CREATE TABLE slots (
	bot    TEXT    NOT NULL,
	permit INTEGER NOT NULL, -- unsigned: the bits are what counts
	chat   TEXT    NOT NULL,
	family TEXT    NOT NULL,
	stamp  INTEGER NOT NULL, -- when the call was answered, or the latest it could be
	PRIMARY KEY (bot, permit)
) STRICT, WITHOUT ROWID;

CREATE TABLE penalties (
	bot          TEXT    NOT NULL,
	chat         TEXT    NOT NULL, -- '': the whole bot
	family       TEXT    NOT NULL,
	all_families INTEGER NOT NULL,
	until        INTEGER NOT NULL,
	multiplier   REAL    NOT NULL,
	PRIMARY KEY (bot, chat, family, all_families)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX receipts_by_key ON receipts (key) WHERE key IS NOT NULL;

CREATE TABLE grants (
	person TEXT    NOT NULL, -- "telegram:123"
	role   TEXT    NOT NULL,
	name   TEXT    NOT NULL, -- as the platform showed it then
	by     TEXT    NOT NULL, -- who made the code
	at     INTEGER NOT NULL, adapter    TEXT    NOT NULL DEFAULT '', chat       TEXT    NOT NULL DEFAULT '', checked_at INTEGER NOT NULL DEFAULT 0, used_at    INTEGER NOT NULL DEFAULT 0, void       TEXT    NOT NULL DEFAULT '',
	PRIMARY KEY (person, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	by      TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (adapter, chat)
) STRICT, WITHOUT ROWID;

CREATE TABLE codes (
	hash       TEXT    NOT NULL PRIMARY KEY,
	role       TEXT    NOT NULL,
	by         TEXT    NOT NULL,
	expires_at INTEGER NOT NULL,
	used_key   TEXT    NOT NULL DEFAULT '' -- of the event that used it
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
	seq     INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE,
	at      INTEGER NOT NULL,
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	person  TEXT    NOT NULL,
	name    TEXT    NOT NULL,
	kind    TEXT    NOT NULL,
	what    TEXT    NOT NULL,
	session TEXT    NOT NULL,
	bytes   INTEGER NOT NULL,
	hash    TEXT    NOT NULL,
	outcome TEXT    NOT NULL
) STRICT;

CREATE TABLE offers (
	id         TEXT    NOT NULL PRIMARY KEY,
	adapter    TEXT    NOT NULL,
	chat       TEXT    NOT NULL,
	thread     TEXT    NOT NULL,
	do         TEXT    NOT NULL,
	session    TEXT    NOT NULL,
	args       TEXT    NOT NULL,
	role       TEXT    NOT NULL,
	person     TEXT    NOT NULL,
	single     INTEGER NOT NULL,
	together   TEXT    NOT NULL,
	expires_at INTEGER NOT NULL,
	used_key   TEXT    NOT NULL DEFAULT '',
	used_by    TEXT    NOT NULL DEFAULT '',
	used_at    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX offers_together ON offers (together);

CREATE INDEX offers_by_expiry ON offers (expires_at);

CREATE TABLE waiting (
	key     TEXT    NOT NULL PRIMARY KEY,
	kept_at INTEGER NOT NULL,
	message TEXT    NOT NULL -- inbound.Waiting as JSON
) STRICT;

CREATE TABLE origins (
	seq     INTEGER PRIMARY KEY,
	key     TEXT    NOT NULL UNIQUE, -- of the input
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	message TEXT    NOT NULL,
	person  TEXT    NOT NULL,
	session TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	receipt TEXT    NOT NULL,
	told    TEXT    NOT NULL,
	reply   TEXT    NOT NULL,
	edited  INTEGER NOT NULL DEFAULT 0, -- its writer was told about edits
	done    INTEGER NOT NULL
, shows TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX origins_by_message ON origins (message);

CREATE INDEX open_origins ON origins (seq) WHERE NOT done;

CREATE TABLE preferences (
	adapter     TEXT    NOT NULL,
	chat        TEXT    NOT NULL,
	thread      TEXT    NOT NULL,
	session     TEXT    NOT NULL, -- '': all of the place
	muted_until INTEGER NOT NULL,
	quiet_from  INTEGER NOT NULL,
	quiet_to    INTEGER NOT NULL,
	zone        TEXT    NOT NULL,
	PRIMARY KEY (adapter, chat, thread, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE updates (
	seq     INTEGER PRIMARY KEY AUTOINCREMENT, -- a number that is free again must not come back
	adapter TEXT    NOT NULL,
	key     TEXT    NOT NULL, -- the platform's
	kept_at INTEGER NOT NULL,
	raw     BLOB    NOT NULL, -- '': it's settled
	tries   INTEGER NOT NULL,
	outcome TEXT    NOT NULL, -- '': it waits
	UNIQUE (adapter, key)
) STRICT;

CREATE INDEX waiting_updates ON updates (adapter, seq) WHERE outcome = '';

CREATE INDEX settled_updates ON updates (adapter, seq) WHERE outcome <> '';

CREATE TABLE notes (
	adapter TEXT NOT NULL,
	key     TEXT NOT NULL,
	value   TEXT NOT NULL,
	PRIMARY KEY (adapter, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE prompts (
	seq       INTEGER PRIMARY KEY,
	id        TEXT    NOT NULL UNIQUE,
	session   TEXT    NOT NULL, -- its id
	dialog    TEXT    NOT NULL, -- JSON
	state     TEXT    NOT NULL,
	reason    TEXT    NOT NULL,
	answer    TEXT,             -- JSON; NULL: nobody's counts
	origin    TEXT    NOT NULL, -- of the answer, as a target of adapters
	opened_at INTEGER NOT NULL,
	closed_at INTEGER NOT NULL, -- 0: it's open
	open      INTEGER NOT NULL  -- 0: the prompt is final
) STRICT;

CREATE INDEX open_prompts ON prompts (opened_at, seq) WHERE open;

CREATE INDEX prompts_by_session ON prompts (session);

CREATE INDEX closed_prompts ON prompts (closed_at) WHERE NOT open;

CREATE TABLE prompt_messages (
	prompt  TEXT    NOT NULL,
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	kind    TEXT    NOT NULL, -- asked, reminded, escalated
	session TEXT    NOT NULL,
	message TEXT    NOT NULL, -- the platform's id
	checked TEXT    NOT NULL, -- JSON: indexes of options, of a question that takes several
	closed  INTEGER NOT NULL, -- it says what came of the question
	at      INTEGER NOT NULL, shows TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (prompt, adapter, chat, thread, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX prompt_messages_by_message ON prompt_messages (adapter, chat, message);

CREATE TABLE prompt_writers (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	person  TEXT    NOT NULL,
	prompt  TEXT    NOT NULL,
	expires INTEGER NOT NULL,
	PRIMARY KEY (adapter, chat, thread, person)
) STRICT, WITHOUT ROWID;

CREATE TABLE missed (
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	session TEXT    NOT NULL,
	what    TEXT    NOT NULL,
	times   INTEGER NOT NULL,
	at      INTEGER NOT NULL, -- the last
	PRIMARY KEY (adapter, chat, thread, session, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE fleets (
	name       TEXT    PRIMARY KEY,
	created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mail (
	seq            INTEGER PRIMARY KEY AUTOINCREMENT,
	id             TEXT    NOT NULL UNIQUE,
	kind           TEXT    NOT NULL,
	sender         TEXT    NOT NULL,
	sender_name    TEXT    NOT NULL, -- as it was then
	recipient      TEXT    NOT NULL, -- '': a summary's
	recipient_name TEXT    NOT NULL,
	fleet          TEXT    NOT NULL,
	text           TEXT    NOT NULL,
	status         TEXT    NOT NULL,
	sent_at        INTEGER NOT NULL,
	settled_at     INTEGER NOT NULL,
	preview        TEXT    NOT NULL,
	preview_reason TEXT    NOT NULL
, seen_at INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX mail_recipient ON mail (recipient, status, seq);

CREATE INDEX mail_sender ON mail (sender, seq);

CREATE INDEX mail_previews ON mail (recipient, seq) WHERE preview = 'waiting';

CREATE TABLE listeners (
	id      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
	session TEXT    NOT NULL,
	common  INTEGER NOT NULL,
	pid     INTEGER NOT NULL,
	started INTEGER NOT NULL,
	bell    TEXT    NOT NULL
) STRICT;

CREATE TABLE notices (
	seq         INTEGER PRIMARY KEY AUTOINCREMENT,
	recipient   TEXT    NOT NULL,
	at          INTEGER NOT NULL,
	sender      TEXT    NOT NULL,
	type        TEXT    NOT NULL,
	text        TEXT    NOT NULL,
	lease       INTEGER NOT NULL DEFAULT 0, -- a listener's id; 0: free
	redelivered INTEGER NOT NULL DEFAULT 0
, session TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX notices_free ON notices (recipient, lease, seq);

CREATE INDEX notices_lease ON notices (lease) WHERE lease > 0;

CREATE TABLE mail_messages (
	adapter TEXT NOT NULL,
	chat    TEXT NOT NULL,
	message TEXT NOT NULL,
	mail    TEXT NOT NULL REFERENCES mail (id) ON DELETE CASCADE,
	PRIMARY KEY (adapter, chat, message)
) STRICT, WITHOUT ROWID;

CREATE TABLE browsers (
	id         TEXT    PRIMARY KEY,
	label      TEXT    NOT NULL,
	address    TEXT    NOT NULL, -- host:port of the page, as the browser calls it
	key        BLOB    NOT NULL, -- a point of P-256, uncompressed
	next_key   BLOB,             -- takes key's place as soon as it's used
	created_at INTEGER NOT NULL,
	used_at    INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
, name TEXT NOT NULL DEFAULT '', roles TEXT NOT NULL DEFAULT 'admin') STRICT, WITHOUT ROWID;

CREATE TABLE private_chats (
	adapter TEXT NOT NULL,
	chat    TEXT NOT NULL,
	person  TEXT NOT NULL,
	PRIMARY KEY (adapter, chat)
) STRICT, WITHOUT ROWID;

CREATE INDEX mail_seen ON mail (recipient, seen_at);

CREATE TABLE "fleet_members" (
	session  TEXT    NOT NULL,
	fleet    TEXT    NOT NULL REFERENCES fleets (name) ON DELETE CASCADE,
	director INTEGER NOT NULL,
	added_at INTEGER NOT NULL,
	PRIMARY KEY (session, fleet)
) STRICT, WITHOUT ROWID;

CREATE INDEX fleet_members_fleet ON fleet_members (fleet);

CREATE UNIQUE INDEX fleet_directors ON fleet_members (fleet) WHERE director;

CREATE UNIQUE INDEX fleet_membership ON fleet_members (session) WHERE NOT director;

CREATE TABLE subscriptions (
	session    TEXT NOT NULL,
	subscriber TEXT NOT NULL,
	PRIMARY KEY (session, subscriber)
) STRICT, WITHOUT ROWID;

CREATE TABLE reminders (
	session      TEXT    PRIMARY KEY,
	conversation TEXT    NOT NULL, -- the last that was told how to listen; '': none
	reminded_at  INTEGER NOT NULL  -- when it was told last that nobody listens; 0: never
) STRICT, WITHOUT ROWID;

CREATE TABLE moves (
	seq       INTEGER PRIMARY KEY,
	adapter   TEXT NOT NULL,
	from_chat TEXT NOT NULL,
	to_chat   TEXT NOT NULL, followed INTEGER NOT NULL DEFAULT 0,
	UNIQUE (adapter, from_chat)
) STRICT;

CREATE TABLE replies (
	seq     INTEGER PRIMARY KEY,
	id      TEXT    NOT NULL UNIQUE,
	session TEXT    NOT NULL, -- '': it's about none
	at      INTEGER NOT NULL,
	post    BLOB    NOT NULL
) STRICT;

CREATE INDEX audit_hashed ON audit (session) WHERE hash <> '';

CREATE TABLE standing (
	kind    TEXT    NOT NULL,
	subject TEXT    NOT NULL, -- a session's id, say; '': it's about all of the place
	adapter TEXT    NOT NULL,
	chat    TEXT    NOT NULL,
	thread  TEXT    NOT NULL,
	session TEXT    NOT NULL, -- with which it's forgotten; '': none
	message TEXT    NOT NULL, -- the platform's id; '': it isn't known to be there
	shows   TEXT    NOT NULL, -- names what it shows
	begun   INTEGER NOT NULL, -- a call was begun, and it isn't known what came of it
	PRIMARY KEY (kind, adapter, chat, thread, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_details (
	session INTEGER NOT NULL REFERENCES logs (session) ON DELETE CASCADE,
	n       INTEGER NOT NULL,
	call    TEXT    NOT NULL,
	size    INTEGER NOT NULL,
	args    TEXT    NOT NULL,
	output  TEXT    NOT NULL,
	diff    TEXT    NOT NULL,
	PRIMARY KEY (session, n)
) STRICT;

CREATE INDEX tool_details_call ON tool_details (session, call, n);

CREATE TABLE push_subscriptions (
	browser    TEXT    PRIMARY KEY REFERENCES browsers (id) ON DELETE CASCADE,
	endpoint   TEXT    NOT NULL UNIQUE,
	p256dh     TEXT    NOT NULL,
	auth       TEXT    NOT NULL,
	wishes     TEXT    NOT NULL, -- as JSON
	created_at INTEGER NOT NULL
, not_before INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE push_shown (
	browser TEXT NOT NULL REFERENCES push_subscriptions (browser) ON DELETE CASCADE,
	session TEXT NOT NULL,
	alert   TEXT NOT NULL, -- its key
	PRIMARY KEY (browser, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE push_alerts (
	session TEXT PRIMARY KEY,
	alert   TEXT NOT NULL -- as JSON, masked
) STRICT, WITHOUT ROWID;

CREATE TABLE session_bases (
	session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	base    TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
	session     TEXT    NOT NULL,
	day         TEXT    NOT NULL, -- 2026-11-30
	agent       TEXT    NOT NULL,
	input       INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	cost_usd    REAL    NOT NULL,
	answers     INTEGER NOT NULL,
	PRIMARY KEY (session, day, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_counted (
	key INTEGER PRIMARY KEY,
	day TEXT NOT NULL -- of the answer
) STRICT;

CREATE TABLE usage_now (
	session TEXT PRIMARY KEY,
	usage   TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE continuations (
	session      TEXT PRIMARY KEY,
	continuation TEXT NOT NULL -- as JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE inquiries (
	id        TEXT    PRIMARY KEY,
	session   TEXT    NOT NULL,
	open      INTEGER NOT NULL,
	opened_at INTEGER NOT NULL,
	closed_at INTEGER NOT NULL, -- 0: it's open
	inquiry   TEXT    NOT NULL  -- as JSON
) STRICT, WITHOUT ROWID;

CREATE INDEX inquiries_open ON inquiries (opened_at) WHERE open;

CREATE INDEX inquiries_session ON inquiries (session, closed_at);

CREATE TABLE exhibits (
	id      TEXT    PRIMARY KEY,
	session TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	waits   INTEGER NOT NULL, -- some of its chats don't have it yet
	exhibit TEXT    NOT NULL, -- as JSON
	content BLOB    NOT NULL
) STRICT;

CREATE INDEX exhibits_session ON exhibits (session, at);

CREATE INDEX exhibits_waiting ON exhibits (at) WHERE waits;
