import { expect, test } from "bun:test";
import { ApiError } from "../../src/errors.ts";
import { argon2id, DUMMY_PASSWORD_HASH, PasswordHasher } from "../../src/identity/password-hasher.ts";

/** An algorithm whose every call waits to be let go. */
function heldAlgorithm() {
  const held: (() => void)[] = [];
  let running = 0;
  let runningMax = 0;
  const hash = async (password: string): Promise<string> => {
    running += 1;
    runningMax = Math.max(runningMax, running);
    await new Promise<void>((resolve) => held.push(resolve));
    running -= 1;
    if (password === "bad") throw new Error("the algorithm failed");
    return `hash of ${password}`;
  };
  return {
    algorithm: { hash, verify: async () => true },
    running: () => running,
    runningMax: () => runningMax,
    letGo: async () => {
      held.shift()?.();
      await Bun.sleep(0);
    },
  };
}

test("hashes are argon2id with the costs that are asked for, salted, and verify the password exactly as given", async () => {
  const passwords = new PasswordHasher({ concurrency: 2 });
  const [one, other] = await Promise.all([passwords.hash("pässword ✓ 😀"), passwords.hash("pässword ✓ 😀")]);
  expect(one).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
  expect(one).not.toBe(other);
  expect(await passwords.verify("pässword ✓ 😀", one)).toBe(true);
  expect(await passwords.verify("pa\u0308ssword ✓ 😀", one)).toBe(false);
  expect(await passwords.verify("pässword ✓ 😀 ", one)).toBe(false);
});

test("the hash that stands in for a missing account costs what every other costs and matches nothing", async () => {
  const costs = (hash: string) => hash.split("$").slice(0, 4);
  expect(costs(DUMMY_PASSWORD_HASH)).toEqual(costs(await argon2id.hash("anything")));
  const seen: string[] = [];
  const passwords = new PasswordHasher({
    concurrency: 1,
    algorithm: { hash: argon2id.hash, verify: async (_password, hash) => seen.push(hash) > 0 },
  });
  expect(await passwords.verify("even the right one", null)).toBe(false);
  expect(seen).toEqual([DUMMY_PASSWORD_HASH]);
});

test("no more hashes run at once than allowed, the waiting ones run in order, the rest are refused", async () => {
  const { algorithm, running, runningMax, letGo } = heldAlgorithm();
  const passwords = new PasswordHasher({ concurrency: 2, maxWaiting: 3, algorithm });
  const done: string[] = [];
  const asked = ["a", "b", "c", "d", "e"].map((password) =>
    passwords.hash(password).then((hash) => done.push(hash)),
  );
  const refused = await passwords.hash("f").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ code: "UNAVAILABLE", status: 503, retryAfterSeconds: 2 });
  expect(running()).toBe(2);
  for (let turn = 0; turn < 5; turn += 1) await letGo();
  await Promise.all(asked);
  expect(done).toEqual(["a", "b", "c", "d", "e"].map((password) => `hash of ${password}`));
  expect(runningMax()).toBe(2);
});

test("a hash that fails gives its place back", async () => {
  const { algorithm, running, letGo } = heldAlgorithm();
  const passwords = new PasswordHasher({ concurrency: 1, maxWaiting: 1, algorithm });
  const failing = passwords.hash("bad").catch((error: unknown) => error);
  const waiting = passwords.hash("good");
  await letGo();
  expect(await failing).toBeInstanceOf(Error);
  await letGo();
  expect(await waiting).toBe("hash of good");
  expect(running()).toBe(0);
  const again = passwords.hash("again");
  await letGo();
  expect(await again).toBe("hash of again");
});
