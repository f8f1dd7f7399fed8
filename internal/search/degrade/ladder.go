package degrade

// The steps of degradation before a query fails. The first is the share: candidates with
// the worst priors are not ranked, which loses the fewest clicks on generated catalogues.
// The others follow below these shares of the policy.
const (
	StaleBelow  = 0.2  // a remembered answer, up to a minute old, is better
	DefaultBots = 0.15 // programs are refused
)
