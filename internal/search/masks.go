package search

import "context"

// SetMasks says by which rules the log masks secrets now, in words of the caller's. An index that was made by others is made
// anew: it may have words that are masked now, of which the time that a search takes would tell, and lacks others. It may be
// called before Follow, and blocks while a batch of lines is indexed. The error is the database's.
func (ix *Indexer) SetMasks(ctx context.Context, masks string) error {
	x := ix.Index
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.masks = masks; x.hasMasks(ctx) {
		return nil
	}
	if x.isEmpty() && x.storeMasks(ctx) == nil { // else it's damaged
		return nil
	}
	ix.Logger.Info("other secrets are masked than when the index for searches was made; it's made anew")
	ix.markAll()
	return x.makeAnew(ctx)
}

// isEmpty reports whether the index has no line yet. x.writing is held.
func (x *Index) isEmpty() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return !x.isShut && len(x.blocks) == 0
}

// storeMasks notes by which rules what's indexed from now on was masked. x.writing is held.
func (x *Index) storeMasks(ctx context.Context) error {
	_, err := x.write.ExecContext(ctx, "UPDATE masks SET text = ?", x.masks)
	return err
}

// hasMasks reports whether the index was made by the rules of x.masks. x.writing is held.
func (x *Index) hasMasks(ctx context.Context) bool {
	if x.isShut {
		return false
	}
	var masks string
	err := x.write.QueryRowContext(ctx, "SELECT text FROM masks").Scan(&masks)
	return err == nil && masks == x.masks
}
