import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isRecord } from "../../api/json.ts";
import { SECRET_FILE_MAX_BYTES } from "../limits.ts";
import { type Place, type PlacedProblem, pointerTo } from "./yaml-file.ts";

type Resources = Record<string, Record<string, Record<string, unknown>>>;

interface Resolved {
  readonly resources: Resources;
  readonly problems: readonly PlacedProblem[];
}

/**
 * Puts in place of `{ secret: env:NAME }` and `{ secret: file:PATH }` what these hold, marked as secret; a path counts from the
 * file that names it. What is not there is a problem, all of them at once.
 */
export async function resolveSecrets(
  resources: Resources,
  places: ReadonlyMap<string, Place>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Resolved> {
  const problems: PlacedProblem[] = [];
  const resolved: Resources = Object.create(null);
  const walk = async (value: unknown, pointer: string): Promise<unknown> => {
    if (Array.isArray(value))
      return Promise.all(value.map((item, index) => walk(item, `${pointer}/${index}`)));
    if (!isRecord(value)) return value;
    const source = sourceOf(value);
    if (source === null) {
      const members = Object.entries(value).map(
        async ([name, member]): Promise<[string, unknown]> => [
          name,
          await walk(member, pointer + pointerTo(name)),
        ],
      );
      return Object.fromEntries(await Promise.all(members));
    }
    const place = places.get(pointer);
    const found =
      source.kind === "env" ? fromEnvironment(source.name, env) : await fromFile(source.name, place);
    if ("value" in found) return { secret: { value: found.value } };
    if (place !== undefined) problems.push({ place, message: found.problem });
    return null;
  };
  for (const [kind, records] of Object.entries(resources)) {
    const walked = Object.entries(records).map(
      async ([key, record]): Promise<[string, Record<string, unknown>]> => {
        const read = await walk(record, pointerTo(kind) + pointerTo(key));
        return [key, isRecord(read) ? read : record];
      },
    );
    resolved[kind] = Object.fromEntries(await Promise.all(walked));
  }
  return { resources: resolved, problems };
}

type Found = { readonly value: string } | { readonly problem: string };

/** What a secret is read from; null for anything else, `{ secret: kept }` among it. */
function sourceOf(value: Readonly<Record<string, unknown>>): { kind: "env" | "file"; name: string } | null {
  if (Object.keys(value).length !== 1 || typeof value.secret !== "string") return null;
  const [, kind, name] = /^(env|file):(.+)$/.exec(value.secret) ?? [];
  if (name === undefined) return null;
  return { kind: kind === "env" ? "env" : "file", name };
}

/** Empty is as good as absent: no secret is, and a pipeline passes on as empty what it does not know. */
function fromEnvironment(name: string, env: Readonly<Record<string, string | undefined>>): Found {
  const value = env[name];
  return value === undefined || value === "" ? { problem: `${name} is not set` } : { value };
}

async function fromFile(name: string, place: Place | undefined): Promise<Found> {
  const path = resolve(dirname(place?.file ?? "."), name);
  try {
    if ((await stat(path)).size > SECRET_FILE_MAX_BYTES)
      return { problem: `${name} is too large for a secret` };
    // The line break that editors and echo leave at the end is no part of it.
    const value = (await readFile(path, "utf8")).replace(/\r?\n$/, "");
    return value === "" ? { problem: `${name} is empty` } : { value };
  } catch {
    return { problem: `${name} cannot be read` };
  }
}
