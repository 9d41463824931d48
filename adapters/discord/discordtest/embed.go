package discordtest

// Embed is docs.discord.com/developers/resources/message#embed-object, as far as
// it's understood.
type Embed struct {
	Type        string       `json:"type,omitempty"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	URL         string       `json:"url,omitempty"`
	Timestamp   string       `json:"timestamp,omitempty"`
	Color       int          `json:"color,omitempty"`
	Footer      *EmbedText   `json:"footer,omitempty"`
	Author      *EmbedText   `json:"author,omitempty"`
	Image       *EmbedImage  `json:"image,omitempty"`
	Fields      []EmbedField `json:"fields,omitempty"`
}

// EmbedText is an embed's footer (Text) or author (Name).
type EmbedText struct {
	Text string `json:"text,omitempty"`
	Name string `json:"name,omitempty"`
}

// EmbedImage is an image by its address.
type EmbedImage struct {
	URL string `json:"url,omitempty"`
}

// EmbedField is a field of an embed.
type EmbedField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}

// The limits of embeds (docs.discord.com/developers/resources/message#embed-object-embed-limits).
const (
	maxEmbeds, maxEmbedTotal    = 10, 6000
	maxTitle, maxDescription    = 256, 4096
	maxFields, maxFieldName     = 25, 256
	maxFieldValue, maxFooter    = 1024, 2048
	embedTooLong                = "Must be %d or fewer in length."
	embedTotalTooLong, required = "Embed size exceeds maximum size of 6000", "This field is required"
)

func checkEmbeds(list []Embed) *refusal {
	if len(list) > maxEmbeds {
		return invalid("embeds", embedTooLong, maxEmbeds)
	}
	total := 0
	for i := range list {
		size, r := list[i].check()
		if r != nil {
			return r
		}
		total += size
		if list[i].Type == "" {
			list[i].Type = "rich"
		}
	}
	if total > maxEmbedTotal {
		return invalid("embeds", embedTotalTooLong)
	}
	return nil
}

// check returns how many characters an embed has.
func (e Embed) check() (int, *refusal) {
	size := units(e.Title) + units(e.Description)
	footer := 0
	for _, t := range []*EmbedText{e.Footer, e.Author} {
		if t != nil {
			footer = max(footer, units(t.Text))
			size += units(t.Text) + units(t.Name)
		}
	}
	switch {
	case units(e.Title) > maxTitle:
		return 0, invalid("embeds.title", embedTooLong, maxTitle)
	case units(e.Description) > maxDescription:
		return 0, invalid("embeds.description", embedTooLong, maxDescription)
	case len(e.Fields) > maxFields:
		return 0, invalid("embeds.fields", embedTooLong, maxFields)
	case footer > maxFooter:
		return 0, invalid("embeds.footer", embedTooLong, maxFooter)
	}
	for _, f := range e.Fields {
		size += units(f.Name) + units(f.Value)
		if f.Name == "" || f.Value == "" {
			return 0, invalid("embeds.fields", required)
		}
		if units(f.Name) > maxFieldName || units(f.Value) > maxFieldValue {
			return 0, invalid("embeds.fields", embedTooLong, maxFieldValue)
		}
	}
	return size, nil
}
