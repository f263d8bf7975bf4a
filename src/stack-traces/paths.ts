/** Folders that programs are put into: the same file lies in another one elsewhere. */
const ROOTS = new Set(
  "app apps srv src www html htdocs code workspace build dist current opt release releases task var home usr public static assets js * . ..".split(
    " ",
  ),
);

/** A hash of contents, a number of a build or of a chunk, between other parts of a file's name. */
const NAME_HASH =
  /[.\-_](?=[\w-]*\d)(?:[0-9a-f]{6,40}|[A-Za-z0-9_-]{8}|\d+)(?=\.[a-z]+$|\.(?:chunk|bundle|min)\.)/g;
const WHOLE_HASH = /^(?:\d+|[0-9a-f]{8,40})(?=\.)/;

/** A version, a hash, a time or a number. */
const CHANGING =
  /^(?:v?\d[\d.\-_T:Z]*(?:[-+][\w.]+)?|(?=.*\d)[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** A path without scheme, host and query, with forward slashes. */
export function plainPath(path: string): string {
  const end = path.search(/[?#]/);
  const bare = (end > 0 ? path.slice(0, end) : path).replaceAll("\\", "/");
  return bare
    .replace(/^webpack(?:-internal)?:\/\/(?:\/|[^/]*\/)?/, "")
    .replace(/^(?:file|app|https?|capacitor|ionic):\/\/[^/]*/, "")
    .replace(/^[A-Za-z]:/, "");
}

/** What of a file's path stays over builds, releases and hosts: its name, and the folder where that says something. */
export function moduleOfPath(path: string): string {
  const segments = plainPath(path)
    .split("/")
    .filter((segment) => segment !== "");
  const name = (segments.at(-1) ?? "").replace(WHOLE_HASH, "*").replace(NAME_HASH, "");
  const folder = segments.at(-2) ?? "";
  return folder === "" || ROOTS.has(folder) || CHANGING.test(folder) ? name : `${folder}/${name}`;
}
