#!/bin/sh
# Prepares a qemu guest with soft-RoCE in the folder $1 (default ./build):
# packages are downloaded and unpacked there; nothing is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../build}
mkdir -p "$build/debs" "$build/root" "$build/kroot"
build=$(cd "$build" && pwd)
cd "$build"

kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/{print $2;exit}')
version=${kernel#linux-image-}
if [ ! -e "debs/.$kernel" ]; then
	qemu=$(apt-get install -s --no-install-recommends qemu-system-x86 2>/dev/null | awk '/^Inst/{print $2}')
	(cd debs && apt-get download "$kernel" busybox-static kmod iproute2 libibverbs1 ibverbs-providers \
		ibverbs-utils librdmacm1 rdmacm-utils perftest libibumad3 libnl-3-200 libnl-route-3-200 libpci3 \
		libibverbs-dev $qemu)
	for d in debs/*.deb; do
		case $d in debs/linux-image*) dpkg -x "$d" kroot ;; *) dpkg -x "$d" root ;; esac
	done
	touch "debs/.$kernel"
fi

# The modules, in loading order with their options, one insmod line each.
mkdir -p tools
ln -sf ../root/bin/kmod tools/depmod
ln -sf ../root/bin/kmod tools/modprobe
tools/depmod -b kroot "$version"
rm -rf initrd && mkdir -p initrd/mods initrd/bin initrd/h initrd/io initrd/proc initrd/sys initrd/dev
: >initrd/insmod
for m in virtio_pci 9pnet_virtio 9p crc32_generic ib_uverbs rdma_ucm rdma_rxe veth dummy virtio_net sch_netem; do
	tools/modprobe -d kroot -S "$version" --show-depends "$m" | while read -r how path opts; do
		[ "$how" = insmod ] || continue
		f=$(basename "$path")
		[ -e "initrd/mods/$f" ] && continue
		cp "$path" initrd/mods/
		echo "insmod /mods/$f $opts" >>initrd/insmod
	done
done
cp root/bin/busybox initrd/bin/
cat >initrd/init <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b --install -s /bin
PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
. /insmod
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose hostroot /h
mount -t proc proc /h/proc
mount -t sysfs sysfs /h/sys
mount --bind /dev /h/dev
mkdir -p /h/dev/shm
mount -t tmpfs shm /h/dev/shm
mount -t tmpfs run /h/run
mkdir -p /h/run/io /h/run/tmp
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none io /h/run/io
ip link set lo up
ulimit -l unlimited
chroot /h /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/tmp TMPDIR=/run/tmp \
	/bin/sh /run/io/cmd.sh >/h/run/io/out 2>&1
echo $? >/h/run/io/status.tmp
mv /h/run/io/status.tmp /h/run/io/status
sync
poweroff -f
INIT
chmod +x initrd/init
(cd initrd && find . | ../root/bin/busybox cpio -o -H newc) >image.cpio

# The kernel's ELF out of the bzImage: it boots in half the time.
python3 - "kroot/boot/vmlinuz-$version" vmlinux <<'PY'
import lzma, struct, sys
b = open(sys.argv[1], "rb").read()
start = (b[0x1f1] + 1) * 512 + struct.unpack_from("<I", b, 0x248)[0]
n = struct.unpack_from("<I", b, 0x24c)[0]
if b[start:start+6] != b"\xfd7zXZ\0":
    sys.exit("vmlinuz: no xz payload at %#x: the packing has changed" % start)
# the payload ends with the unpacked length, which is no part of the xz stream
elf = lzma.LZMADecompressor().decompress(b[start:start+n])
if elf[:4] != b"\x7fELF":
    sys.exit("vmlinuz: the payload is no ELF")
open(sys.argv[2], "wb").write(elf)
PY
ls -l vmlinux image.cpio
