package store

import (
	"context"
	"time"
)

// Lease is the right to something that one process has at a time. The epoch
// grows each time it changes hands, so that a result of a holder that was
// paused can be told from one of its successor.
type Lease struct {
	Name, Owner string
	Epoch       int64
}

// Take takes or renews the lease for d; Epoch is 0 while somebody else has it.
func (tx *Tx) Take(name, owner string, d time.Duration) (Lease, error) {
	lease := Lease{Name: name, Owner: owner}
	now := tx.now.UnixMilli()
	err := tx.Row(takeLease, name, owner, now+d.Milliseconds(), now).Scan(&lease.Epoch)
	if NoRow(err) {
		err = nil
	}
	return lease, err
}

// Holds says whether the lease is still its owner's.
func (tx *Tx) Holds(l Lease) (bool, error) {
	var one int
	err := tx.Row(holdLease, l.Name, l.Owner, l.Epoch).Scan(&one)
	if NoRow(err) {
		return false, nil
	}
	return err == nil, err
}

// Release gives all of an owner's leases up.
func (s *Store) Release(ctx context.Context, owner string) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(freeLeases, owner)
		return err
	})
}

// forget ends the leases of processes that cannot live any more.
func (s *Store) forget(ctx context.Context) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(wipeLeases)
		return err
	})
}
