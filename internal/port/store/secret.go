package store

import (
	"context"
	"crypto/rand"
)

// Secret returns a random key of 32 bytes that all processes of a platform share under
// name. The first process that needs it creates it; a process reads it once.
func (s *Store) Secret(ctx context.Context, name string) (key []byte, err error) {
	if known, ok := s.secrets.Load(name); ok {
		return known.([]byte), nil
	}
	fresh := make([]byte, 32)
	rand.Read(fresh) // never fails
	err = s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(putSecret, name, fresh); err != nil {
			return err
		}
		return tx.Row(readSecret, name).Scan(&key)
	})
	if err == nil {
		s.secrets.Store(name, key)
	}
	return key, err
}
