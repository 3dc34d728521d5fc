# The sandbox's full tier needs bubblewrap. Install it where that can be done, else say how.
[ "$(uname -s)" = Linux ] || exit 0
command -v bwrap >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get install -y -qq bubblewrap || { apt-get update -qq && apt-get install -y -qq bubblewrap; }; } >/dev/null 2>&1 && exit 0
fi
echo "bubblewrap is not installed; submissions will run in the partial tier. Install it: apt install bubblewrap (or dnf, pacman)."
