package config

// Mail is about messages between sessions.
type Mail struct {
	MaxTextLen int `yaml:"max_text_len" min:"20" max:"4000" doc:"How many characters (code points) of a message's text are typed into its recipient's pane; all of it is kept."`
}

func defaultMail() Mail { return Mail{MaxTextLen: 500} }

// Notices are about what fleets' directors are told.
type Notices struct {
	Auto bool `yaml:"auto" doc:"Whether ends of turns, questions and exits of a fleet's members become notices for its director."`
}

func defaultNotices() Notices { return Notices{Auto: true} }
