package telegram

// Secret is what comes with each update.
func (w *Webhook) Secret() string { return w.secret }
