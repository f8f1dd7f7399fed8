package store

import (
	"context"
	"time"
)

// Lease is an exclusive right of one process for a limited time. Epoch grows each time
// the owner changes, so that results of a paused owner can be told from those of its
// successor.
type Lease struct {
	Name, Owner string
	Epoch       int64
}

// Take takes or renews a lease for d. If another owner has it, Epoch is 0.
func (tx *Tx) Take(name, owner string, d time.Duration) (Lease, error) {
	lease := Lease{Name: name, Owner: owner}
	now := tx.now.UnixMilli()
	err := tx.Row(takeLease, name, owner, now+d.Milliseconds(), now).Scan(&lease.Epoch)
	if NoRow(err) {
		err = nil
	}
	return lease, err
}

// Holds reports whether l.Owner still has the lease, with the same epoch. It does not
// check whether the lease has expired.
func (tx *Tx) Holds(l Lease) (bool, error) {
	var one int
	err := tx.Row(holdLease, l.Name, l.Owner, l.Epoch).Scan(&one)
	if NoRow(err) {
		return false, nil
	}
	return err == nil, err
}

// Release ends all leases of an owner.
func (s *Store) Release(ctx context.Context, owner string) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(freeLeases, owner)
		return err
	})
}

// forget ends all leases, for the start of an exclusive store: their owners are dead.
func (s *Store) forget(ctx context.Context) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(wipeLeases)
		return err
	})
}
