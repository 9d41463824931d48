-- Who is told of a session's ends of turns, questions and exits, besides the director of its
-- fleet: they have asked for it. Both are addresses.
CREATE TABLE subscriptions (
	session    TEXT NOT NULL,
	subscriber TEXT NOT NULL,
	PRIMARY KEY (session, subscriber)
) STRICT, WITHOUT ROWID;
