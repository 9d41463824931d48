package qos

import (
	"reflect"
	"testing"
	"time"
)

// TestShadowSharesNothing with the engine that it's a copy of: a field that's added to a chat, and
// that the copy forgets, is found here.
func TestShadowSharesNothing(t *testing.T) {
	limit := Limit{Windows: []Window{{Calls: 20, Per: time.Minute}}}
	opt := Options{Limits: Limits{Bot: limit, Private: limit, Families: map[Family]Limit{FamilyRename: limit}}}
	e, err := NewSlotEngine(opt, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, id := range []DocID{"a", "b", "c", "d"} {
		e.Open(now, Doc{ID: id, Chat: "chat", Session: SessionKey("session " + id), Wanted: 2, Final: 1})
	}
	for range 3 {
		for _, c := range e.Advance(now) {
			e.Finish(now, c, CallResult{Outcome: Delivered, Delivered: 2, Final: 1}, now)
		}
	}
	e.Want(now, "a", 3, false)
	e.Want(now, "b", 3, true)
	e.Close(now, "b", Flush)
	for _, f := range []Family{FamilyMessage, FamilyRename} {
		for _, class := range []Class{Interactive, Final, Stream} {
			if err := e.PostRequest(now, Request{Chat: "chat", Key: class.String() + string(f), Class: class, Family: f, Session: "session a"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.Advance(now)
	_, c := e.shadowOf(e.chats["chat"])
	own := map[uintptr]bool{}
	walk(reflect.ValueOf(e.chats["chat"]), "chat", own, nil)
	walk(reflect.ValueOf(e.docs), "docs", own, nil)
	if len(own) < 20 {
		t.Fatalf("the chat has %d things, too few to show anything", len(own))
	}
	walk(reflect.ValueOf(c), "chat", map[uintptr]bool{}, func(path string, p uintptr) {
		if own[p] {
			t.Errorf("%s is shared with the engine", path)
		}
	})
}

// walk visits all that's reachable by pointers, maps and slices.
func walk(v reflect.Value, path string, seen map[uintptr]bool, visit func(path string, p uintptr)) {
	if len(path) > 2000 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() || v.Type() == reflect.TypeFor[*time.Location]() || v.Kind() == reflect.Slice && v.Cap() == 0 || seen[v.Pointer()] {
			return
		}
		seen[v.Pointer()] = true
		if visit != nil {
			visit(path, v.Pointer())
		}
		switch v.Kind() {
		case reflect.Map:
			for it := v.MapRange(); it.Next(); {
				walk(it.Value(), path+"[]", seen, visit)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), path+"[]", seen, visit)
			}
		default:
			walk(v.Elem(), path, seen, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), path+"."+v.Type().Field(i).Name, seen, visit)
		}
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), path+"[]", seen, visit)
		}
	default:
	}
}
