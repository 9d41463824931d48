package adapters

// maxRemembered bounds the posts whose messages can be edited by their keys.
const maxRemembered = 10_000

// remembered keeps the newest of what was put into it, between half of
// maxRemembered and all of it.
type remembered struct {
	recent, older map[string]string
}

func (r *remembered) get(key string) string {
	if id, ok := r.recent[key]; ok {
		return id
	}
	id, ok := r.older[key]
	if ok {
		r.put(key, id)
	}
	return id
}

func (r *remembered) put(key, id string) {
	if len(r.recent) >= maxRemembered/2 {
		r.older, r.recent = r.recent, nil
	}
	if r.recent == nil {
		r.recent = map[string]string{}
	}
	r.recent[key] = id
}

func (r *remembered) drop(key string) {
	delete(r.recent, key)
	delete(r.older, key)
}
