// Package hostlist reads the ways in which users and batch systems say on which hosts a
// job runs: hostfiles (ParseFile), lists on a command line (ParseArg) and Slurm's
// variables (Slurm). It also knows which of the hosts is this one (Self).
//
// # Hostfiles
//
// One host a line: its name or address, and what is to be known about it.
//
//	h0 slots=4 max_slots=8       # to the line's end
//	h1:4                         # Hydra's form: 4 slots
//	user@h2 port=2222            # for ssh; its own configuration counts, too
//	[fe80::1%eth0]:2             # an IPv6 address with a number after it has brackets
//	^h3                          # not this one, whatever else names it
//
// Open MPI and Hydra don't agree about a host that stands there twice, and here all slots
// count: those of its lines are added (Hydra does that for neighbours, Open MPI has done
// it or taken the last). Where a host is repeated without numbers each mention is a slot,
// for all hosts of the list, as in the node files of batch systems. The largest
// max_slots counts. A host with max_slots alone has as many slots (Open MPI). Slots that
// nobody stated are 0 here; what they mean is decided by who places ranks.
//
// Numbers, lengths and the count of hosts are bounded. Nothing is allocated by a number.
package hostlist
