/** What a script is made of. */
interface InstallOptions {
  /** Where the server is reached: an http or https origin. */
  readonly url: string;
  /** Of the command line, in hexadecimal digits. */
  readonly sha256: string;
  /** The version of Bun that the command line was tried with. */
  readonly bun: string;
}

/**
 * A POSIX shell script that installs the command line of this server for one user, and takes it away again. It holds no
 * token: whoever runs it signs in afterwards.
 */
export function installScript({ url, sha256, bun }: InstallOptions): string {
  return `#!/bin/sh
# Installs obs, the command line of the server at ${url}, for the user who runs this. Needs Bun, or npm to get it.
#   sh install.sh                     install, or bring up to date
#   sh install.sh --ship '/var/log/*.log'   ... and ship these files from now on, as a service of the user
#   sh install.sh --uninstall         take all of it away, but for what obs login and obs ship keep
set -eu

url=${quoted(url)}
sha256=${quoted(sha256)}
bun_version=${quoted(bun)}
bin="\${HOME:?}/.local/bin"
share="$HOME/.local/share/obs"
service="$HOME/.config/systemd/user/obs-ship.service"

fail() {
  echo "obs: $1" >&2
  exit 1
}

uninstall() {
  if [ -f "$service" ]; then
    if command -v systemctl >/dev/null 2>&1; then
      systemctl --user disable --now obs-ship.service >/dev/null 2>&1 || true
    fi
    rm -f "$service"
  fi
  rm -f "$bin/obs"
  rm -rf "$share"
  echo "obs was taken away. What obs login keeps stays, and how far obs ship has come."
  exit 0
}

ship=
while [ $# -gt 0 ]; do
  case $1 in
    --uninstall) uninstall ;;
    --ship)
      [ $# -gt 1 ] || fail "--ship needs a path"
      ship=$2
      shift
      ;;
    *) fail "$1 is not known; --ship PATH and --uninstall are" ;;
  esac
  shift
done

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location "$1" -o "$2"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet "$1" -O "$2"
  else
    fail "needs curl or wget"
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "needs sha256sum or shasum"
  fi
}

mkdir -p "$bin" "$share"

if command -v bun >/dev/null 2>&1; then
  bun=$(command -v bun)
elif [ -x "$HOME/.bun/bin/bun" ]; then
  bun="$HOME/.bun/bin/bun"
elif [ -x "$share/node_modules/.bin/bun" ]; then
  bun="$share/node_modules/.bin/bun"
elif command -v npm >/dev/null 2>&1; then
  echo "Bun is not here; npm gets it."
  npm install --prefix "$share" --no-fund --no-audit --silent "bun@$bun_version" || fail "npm could not get Bun"
  bun="$share/node_modules/.bin/bun"
else
  fail "needs Bun (https://bun.sh) or npm"
fi

new="$share/obs.js.new"
download "$url/install/obs.js" "$new" || fail "$url/install/obs.js cannot be read"
if [ "$(digest "$new")" != "$sha256" ]; then
  rm -f "$new"
  fail "what came from $url is not what this script is for; get the script again"
fi
mv "$new" "$share/obs.js"

cat >"$bin/obs" <<WRAPPER
#!/bin/sh
: "\\\${OBS_URL:=$url}"
export OBS_URL
exec "$bun" "$share/obs.js" "\\$@"
WRAPPER
chmod 755 "$bin/obs"
echo "obs is at $bin/obs."
case ":$PATH:" in
  *":$bin:"*) ;;
  *) echo "$bin is not on your PATH: add it, or call it by its whole name." ;;
esac

if [ -n "$ship" ]; then
  mkdir -p "$(dirname "$service")"
  cat >"$service" <<UNIT
[Unit]
Description=obs ships $ship

[Service]
ExecStart="$bin/obs" ship -f "$ship"
Restart=always
RestartSec=5

[Install]
WantedBy=default.target
UNIT
  if command -v systemctl >/dev/null 2>&1 && systemctl --user daemon-reload >/dev/null 2>&1; then
    systemctl --user enable obs-ship.service >/dev/null 2>&1 || true
    echo "After 'obs login': systemctl --user start obs-ship"
  else
    echo "No systemd of a user runs here; after 'obs login': $bin/obs ship -f '$ship'"
  fi
fi
echo "Next: obs login"
`;
}

/** A text as one word of the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
