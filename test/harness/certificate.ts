import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "./temporary-directory.ts";

/** A certificate of localhost that signs itself; null, and a note, when there is no openssl on this machine. */
export function makeCertificate(): { readonly cert: string; readonly key: string } | null {
  if (Bun.which("openssl") === null) {
    process.stderr.write("skipped: no openssl on this machine\n");
    return null;
  }
  using directory = temporaryDirectory();
  const [cert, key] = [join(directory.path, "cert.pem"), join(directory.path, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const made = Bun.spawnSync([
    "openssl",
    "req",
    "-x509",
    ...newKey,
    ...subject,
    "-out",
    cert,
    "-keyout",
    key,
  ]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}
