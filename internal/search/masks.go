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
	ix.Logger.Info("other secrets are masked than when the index for searches was made; it's made anew")
	ix.markAll()
	return x.makeAnew(ctx)
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
