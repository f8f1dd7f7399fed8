package courant

// Role is what an account may do.
type Role string

// The roles. An operator may change everything.
const (
	RoleOperator  Role = "operator"
	RolePublisher Role = "publisher"
	RoleViewer    Role = "viewer"
)

// Visitor is the account on whose behalf a request is made. The zero value is a reader
// who has not signed in.
type Visitor struct {
	Account string // name of the account, as in the audit
	Role    Role
}

// MayOperate returns an error of kind Forbidden unless the visitor is an operator.
func (v Visitor) MayOperate() error {
	if v.Role != RoleOperator {
		return Errorf(Forbidden, "only an operator may do this")
	}
	return nil
}
