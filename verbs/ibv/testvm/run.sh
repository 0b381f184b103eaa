#!/bin/sh
# run.sh [-b build] [-t seconds] command…: boots the guest, makes rxe0 on lo,
# runs the command there (the host's root is shared read-only, /run/tmp can be
# written), prints its output and exits with its status.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build
limit=120
while getopts b:t: o; do
	case $o in b) build=$OPTARG ;; t) limit=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
build=$(cd "$build" && pwd)
root=$build/root
lib=$root/usr/lib/x86_64-linux-gnu
command=
for a; do
	command="$command '$(printf %s "$a" | sed "s/'/'\\\\''/g")'"
done
io=$(mktemp -d "$build/io.XXXXXX")
trap 'rm -rf "$io"' EXIT
cat >"$io/cmd.sh" <<CMD
export PATH=$root/bin:$root/sbin:$root/usr/bin:\$PATH LD_LIBRARY_PATH=$lib:$root/lib/x86_64-linux-gnu
export IBV_DRIVERS=$lib/libibverbs/librxe
rdma link add rxe0 type rxe netdev lo || exit 125
cd '$PWD' && exec $command
CMD
status=0
LD_LIBRARY_PATH=$lib:$root/lib/x86_64-linux-gnu nice timeout "$limit" "$root/usr/bin/qemu-system-x86_64" \
	-L "$root/usr/share/qemu" -L "$root/usr/share/seabios" -nodefaults -no-user-config -display none -no-reboot \
	-accel tcg,thread=multi -cpu max -M q35 -smp 2 -m 1024 -kernel "$build/vmlinux" -initrd "$build/image.cpio" \
	-append "console=ttyS0 panic=-1 quiet mitigations=off tsc=reliable clocksource=tsc" \
	-serial "file:$io/console" -device isa-debug-exit,iobase=0x501,iosize=1 \
	-virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap \
	-virtfs "local,path=$io,mount_tag=io,security_model=none" || status=$?
[ -e "$io/out" ] && cat "$io/out"
if [ ! -e "$io/status" ]; then
	echo "run.sh: the guest left no status (qemu: $status); its console ends:" >&2
	tail -n 20 "$io/console" >&2
	exit 124
fi
exit "$(cat "$io/status")"
