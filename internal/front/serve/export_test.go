package serve

import "context"

// Forget drops the copies of all pages that the change feed has.
func (s *Serve) Forget(ctx context.Context) error {
	_, err := s.forgetAfter(ctx, 0)
	return err
}
