package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/media/picture"
)

// lost replaces the files of a picture of which one is missing or damaged: the smaller
// versions are made again if the picture itself is whole, otherwise it is fetched again.
func (m *Media) lost(ctx context.Context, f flow.File) error {
	var had stored
	had, err := m.sameContent(ctx, f.Content)
	if store.NoRow(err) {
		return nil // it is already wanted, or nobody needs it any more
	}
	if err != nil {
		return err
	}
	made, err := m.again(ctx, had)
	if err != nil {
		return err
	}
	if made {
		m.Metrics.Add("courant_media_lost_total", 1, "then", "made")
		return nil
	}
	m.Metrics.Add("courant_media_lost_total", 1, "then", "fetched")
	m.Log.Warn("picture missing or damaged; it is fetched again", "content", f.Content)
	return m.Store.Write(ctx, func(tx *store.Tx) error { return refetch(tx, f.Content) })
}

// again makes all files of a picture again; false if the picture itself is not whole.
func (m *Media) again(ctx context.Context, had stored) (bool, error) {
	body, err := m.Blobs.Get(ctx, courant.PictureKey(courant.PictureFile(had.content, had.full.Width, had.full.Type)))
	if blob.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(body)
	info, bad := picture.Inspect(body)
	if had.content != hex.EncodeToString(sum[:]) || bad != nil {
		return false, nil
	}
	made := stored{content: had.content}
	if err := m.make(ctx, &made, body, info); err != nil {
		return false, err
	}
	for _, v := range had.variants {
		if _, own := courant.PictureDigest(v.File); own {
			continue
		}
		small, _, err := m.scaler.Resize(ctx, body, v.Width) // of an earlier version, and pages name it
		if err == nil && small != nil {
			err = m.put(ctx, v, small)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// refetch has all pictures with a content fetched again.
func refetch(tx *store.Tx, content string) error {
	var wanted []flow.Fetch
	var requests [][]any
	now := tx.Now().UnixMilli()
	err := tx.Rows(func(rows store.Rows) error {
		var hash []byte
		var url string
		if err := rows.Scan(&hash, &url); err != nil {
			return err
		}
		f := flow.Fetch{Hash: hash, Origin: link.Origin(url), Partition: courant.Partition(link.Domain(link.Host(url))), Priority: lostPriority}
		requests = append(requests, []any{hash, url, f.Origin, f.Partition, "picture", f.Priority, now})
		wanted = append(wanted, f)
		return nil
	}, loseContent, content, now)
	if err != nil {
		return err
	}
	if _, err := insertedKeys(tx, putFetch, requests, func(int) bool { return true }); err != nil {
		return err
	}
	tx.Emit(flow.FetchWanted.Encode(wanted...))
	return nil
}

// lostPriority is the priority of these fetches: behind those for new documents.
const lostPriority = 2
