import { expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { FollowedSource } from "../../../clients/cli/ship/followed-source.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

interface Followed {
  readonly path: string;
  /** What happens to the file just before its bytes are read at an offset. */
  beforeRead: (offset: number) => void;
  /** Everything there is, until the source ends or waits for more. */
  readonly read: () => Promise<string>;
  readonly source: FollowedSource;
}

/** Follows a file with that content from `offset` on. */
async function following(
  content: string,
  offset: number,
  work: (followed: Followed) => Promise<void>,
): Promise<void> {
  using home = temporaryDirectory();
  const path = join(home.path, "followed.log");
  writeFileSync(path, content);
  await using file = await open(path, "r");
  const stop = new AbortController();
  const watched = new Proxy(file, {
    get(target, name) {
      if (name !== "read") {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async (into: Buffer, start: number, length: number, position: number) => {
        if (length === BUFFER_BYTES) followed.beforeRead(position);
        const result = await target.read(into, start, length, position);
        if (length === BUFFER_BYTES && result.bytesRead === 0) stop.abort();
        return result;
      };
    },
  });
  const source = new FollowedSource({ file: watched, path }, offset, stop.signal);
  const read = async () => {
    const into = Buffer.alloc(BUFFER_BYTES);
    let text = "";
    for (let bytes = await source.read(into); bytes > 0; bytes = await source.read(into))
      text += into.toString("utf8", 0, bytes);
    return text;
  };
  const followed: Followed = { path, beforeRead: () => undefined, read, source };
  await work(followed);
}

/** More than any of these files, and unlike what is read of their beginnings. */
const BUFFER_BYTES = 5_000;

test("nothing is read of a file written anew just before it is read further", async () => {
  await following("one\ntwo\n", 0, async (followed) => {
    followed.beforeRead = (offset) => {
      if (offset > 0) writeFileSync(followed.path, "three\nfour\nfive\nsix\n");
    };
    expect(await followed.read()).toBe("one\ntwo\n");
    expect(followed.source.isTruncated).toBe(true);
  });
});

test("nothing is read of a file written anew just before it is gone on with", async () => {
  await following("one\ntwo\n", 4, async (followed) => {
    followed.beforeRead = () => writeFileSync(followed.path, "three\nfour\nfive\nsix\n");
    expect(await followed.read()).toBe("");
    expect(followed.source.isTruncated).toBe(true);
  });
});

test("what is appended at the last moment is read, and nothing is called cut", async () => {
  await following("one\ntwo\n", 4, async (followed) => {
    let isFirst = true;
    followed.beforeRead = () => {
      if (isFirst) appendFileSync(followed.path, "three\n");
      isFirst = false;
    };
    expect(await followed.read()).toBe("two\nthree\n");
    expect(followed.source.isTruncated).toBe(false);
  });
});
