package sessions

// Feed hands on what happens to sessions to all who want to know. Whoever does subscribes while
// a daemon is put together, before any of its parts runs. The Publish methods call all subscribers
// one after the other, in the order in which they subscribed, on the goroutine that made it happen;
// so a subscriber must not block and must not call back. The zero value has no subscribers.
type Feed struct {
	output  []func(OutputEvent)
	session []func(Session)
	receipt []func(Receipt)
	prompt  []func(Prompt)
}

// OnOutput subscribes to events of output. An event's lines are in the output log by then.
func (f *Feed) OnOutput(hear ...func(OutputEvent)) { f.output = append(f.output, hear...) }

// OnSession subscribes to sessions that are created, change or end.
func (f *Feed) OnSession(hear ...func(Session)) { f.session = append(f.session, hear...) }

// OnReceipt subscribes to each change of a receipt, in order, after it was stored.
func (f *Feed) OnReceipt(hear ...func(Receipt)) { f.receipt = append(f.receipt, hear...) }

// OnPrompt subscribes to each change of a prompt, in order, after it was stored.
func (f *Feed) OnPrompt(hear ...func(Prompt)) { f.prompt = append(f.prompt, hear...) }

// PublishOutput tells of an event whose lines are in the output log.
func (f *Feed) PublishOutput(ev OutputEvent) {
	for _, hear := range f.output {
		hear(ev)
	}
}

// PublishSession tells of a session that was created, has changed or ended.
func (f *Feed) PublishSession(s Session) {
	for _, hear := range f.session {
		hear(s)
	}
}

// PublishReceipt tells of a receipt that has changed and is stored.
func (f *Feed) PublishReceipt(r Receipt) {
	for _, hear := range f.receipt {
		hear(r)
	}
}

// PublishPrompt tells of a prompt that has changed and is stored.
func (f *Feed) PublishPrompt(p Prompt) {
	for _, hear := range f.prompt {
		hear(p)
	}
}
