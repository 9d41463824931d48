package qos

// node is a place in a list; it's a field of what is listed, so moving things
// between lists allocates nothing.
type node[T any] struct {
	prev, next *node[T]
	in         *list[T]
	value      T
}

// list is first in, first out, with removal from anywhere.
type list[T any] struct {
	first, last *node[T]
	len         int
}

// push appends n, which must not be in a list.
func (l *list[T]) push(n *node[T]) {
	n.in, n.prev, n.next = l, l.last, nil
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
	l.len++
}

// remove takes n out of the list it's in, if any.
func (n *node[T]) remove() {
	l := n.in
	if l == nil {
		return
	}
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	l.len--
	n.in, n.prev, n.next = nil, nil, nil
}

// all yields the values, oldest first. The one yielded may be removed.
func (l *list[T]) all(yield func(T) bool) {
	for n := l.first; n != nil; {
		next := n.next
		if !yield(n.value) {
			return
		}
		n = next
	}
}
