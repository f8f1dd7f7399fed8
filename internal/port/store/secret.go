package store

import (
	"context"
	"crypto/rand"
)

// Secret is a key of 32 bytes that all processes of a platform share by its name.
// Who needs it first makes it.
func (s *Store) Secret(ctx context.Context, name string) (key []byte, err error) {
	fresh := make([]byte, 32)
	rand.Read(fresh) // never fails
	err = s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(putSecret, name, fresh); err != nil {
			return err
		}
		return tx.Row(readSecret, name).Scan(&key)
	})
	return key, err
}
