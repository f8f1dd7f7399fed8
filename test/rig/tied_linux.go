package rig

import "syscall"

// tied has a process end with ours, even if ours is killed: a test that runs
// into its time limit cleans nothing up.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
