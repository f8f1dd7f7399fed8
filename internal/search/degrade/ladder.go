package degrade

// What is left out before a query fails. First candidates with the worst priors are
// not ranked: that is what a share is, and on made catalogues what is missed least.
// Then, below these shares of the policy:
const (
	StaleBelow  = 0.2  // an answer of a minute ago is better than such a one
	DefaultBots = 0.15 // programs are turned away
)
