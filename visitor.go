package courant

// Role is what an account may do.
type Role string

// The roles. An operator may change everything.
const (
	RoleOperator  Role = "operator"
	RolePublisher Role = "publisher"
	RoleViewer    Role = "viewer"
)

// Visitor is who asks for something: an account with its role. The zero value is
// a reader who has not signed in.
type Visitor struct {
	Account string // its name, as the audit shows it
	Role    Role
}

// MayOperate returns an error of kind Forbidden unless the visitor is an operator.
func (v Visitor) MayOperate() error {
	if v.Role != RoleOperator {
		return Errorf(Forbidden, "only an operator may do this")
	}
	return nil
}
