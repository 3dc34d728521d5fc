# The tests open the notebooks in Chromium. Install it where it is missing and that can be done, else say how.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    install="apt-get install -y -qq --no-install-recommends chromium"
    { $install || { apt-get update -qq && $install; }; } >/dev/null 2>&1 && exit 0
fi
echo "Chromium is not installed: the tests in a browser are skipped. Install it: apt install chromium."
