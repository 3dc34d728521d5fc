# The sandbox compiles its system-call filter with libseccomp, which nearly every Linux has. Install it where it is
# missing and that can be done, else say how.
[ "$(uname -s)" = Linux ] || exit 0
for place in /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib; do
    [ -n "$(find "$place" -maxdepth 2 -name 'libseccomp.so.2*' 2>/dev/null | head -n 1)" ] && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get install -y -qq libseccomp2 || { apt-get update -qq && apt-get install -y -qq libseccomp2; }; } >/dev/null 2>&1 && exit 0
fi
echo "libseccomp is not installed: submissions would not be isolated. Install it: apt install libseccomp2 (or dnf, pacman: libseccomp)."
