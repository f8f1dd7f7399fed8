package rig

import "syscall"

// tied makes a process end with ours, even if ours is killed: a test that exceeds
// its time limit cleans nothing up.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
