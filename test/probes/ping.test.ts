import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { checksum, ECHO_V4, ECHO_V6, encodeEcho, isEchoReply } from "../../src/probes/ping/icmp-packet.ts";
import { openIcmpSocket } from "../../src/probes/ping/icmp-socket.ts";
import { eventually } from "../harness/eventually.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { checking, specOf, verdict } from "./checking.ts";

const mayPing = (address: string): boolean => {
  const socket = openIcmpSocket(address);
  socket?.destroy();
  return socket !== null;
};
const openFiles = async (): Promise<number> =>
  (await Bun.$`ls /proc/self/fd`.text()).trim().split("\n").length;

describe.skipIf(!mayPing("127.0.0.1"))("a host", () => {
  const run = checking({ allow: ["127.0.0.1", "127.0.0.2"] });

  test("that answers echo requests is up, by its round trip", async () => {
    const outcome = await run(specOf({ type: "ping", url: "127.0.0.1" }));
    expect(verdict(outcome)).toBe("up");
    expect(outcome.durationMs).toBe(outcome.phases.firstByteMs);
  });

  test("is told from another that is asked at the same time", async () => {
    const urls = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? "127.0.0.1" : "ping://127.0.0.2/",
    );
    const verdicts = await Promise.all(
      urls.map(async (url) => verdict(await run(specOf({ type: "ping", url })))),
    );
    expect(new Set(verdicts)).toEqual(new Set(["up"]));
  });

  test("leaves no socket behind", async () => {
    await run(specOf({ type: "ping", url: "127.0.0.1" }));
    const before = await openFiles();
    await Promise.all(Array.from({ length: 50 }, () => run(specOf({ type: "ping", url: "127.0.0.1" }))));
    // Others of this process, such as the clients of stores, open and close files meanwhile.
    expect(await openFiles()).toBeLessThan(before + 25);
  });
});

/** A network of its own, in which the system is told who may have a socket for echo requests that needs no privilege. */
const inNamespace = (groups: string): string[] => [
  ...["unshare", "--net", "sh", "-c"],
  `ip link set lo up && echo "${groups}" > /proc/sys/net/ipv4/ping_group_range && exec "$@"`,
  "sh",
];
const hasNamespaces = Bun.which("unshare") !== null && Bun.spawnSync([...inNamespace("1 0"), "true"]).success;

test.skipIf(!hasNamespaces)(
  "an echo request goes out by the socket that anybody may have where there is one, else by a raw one",
  async () => {
    const ask = async (groups: string) => {
      const program = join(import.meta.dir, "ping-in-namespace.ts");
      return JSON.parse(await Bun.$`${inNamespace(groups)} ${process.execPath} ${program}`.text());
    };
    expect(await ask("0 2147483647")).toEqual({ datagram: 1, raw: 0, isSent: true, isAnswered: true });
    expect(await ask("1 0")).toEqual({ datagram: 0, raw: 1, isSent: true, isAnswered: true });
  },
);

test.skipIf(!mayPing("::1"))("a host of IPv6 that answers is up", async () => {
  expect(verdict(await checking({ allow: ["::1"] })(specOf({ type: "ping", url: "::1" })))).toBe("up");
});

test("a host is down when three requests were lost, each with its share of the time", async () => {
  let sent = 0;
  let isOpen = true;
  const openSocket = () => ({
    send: () => {
      sent += 1;
      return true;
    },
    receive: () => null,
    destroy: () => {
      isOpen = false;
    },
  });
  const silent = checking({ ping: { openSocket, program: null } });
  expect(verdict(await silent(specOf({ type: "ping", url: "127.0.0.1", timeoutMs: 300 })))).toBe(
    "down timeout",
  );
  expect(isOpen).toBe(false);
  // A machine that is busy sends the last one when the time is over.
  await eventually("the last request is sent", () => sent === 3);
});

test("a host to which there is no way is down", async () => {
  const openSocket = () => ({ send: () => false, receive: () => null, destroy: () => undefined });
  const cut = checking({ ping: { openSocket, program: null } });
  expect(verdict(await cut(specOf({ type: "ping", url: "127.0.0.1" })))).toBe("down unreachable");
});

test("where the system lets nobody ping, nothing is found out, and that is said", async () => {
  const forbidden = checking({ ping: { openSocket: () => null, program: null } });
  expect(verdict(await forbidden(specOf({ type: "ping", url: "127.0.0.1" })))).toBe(
    "unknown ping_not_permitted",
  );
});

/** What a `ping` says, by a program that says it. */
async function pinging(script: string, timeoutMs = 30_000): Promise<string> {
  using folder = temporaryDirectory({ holdsPrograms: true });
  const program = join(folder.path, "ping");
  await Bun.write(program, `#!/bin/sh\n${script}\n`);
  await Bun.$`chmod +x ${program}`;
  const run = checking({ ping: { openSocket: () => null, program } });
  const outcome = await run(specOf({ type: "ping", url: "127.0.0.1", timeoutMs }));
  return outcome.status === "up" ? `up ${outcome.durationMs}` : verdict(outcome);
}

test("where only the program of the system may ping, it is asked, and believed", async () => {
  expect(await pinging('echo "64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.042 ms"')).toBe("up 0.042");
  expect(await pinging("exit 1")).toBe("down timeout");
  expect(await pinging("exit 2")).toBe("unknown ping_not_permitted");
  expect(await pinging("exec sleep 600", 300)).toBe("down timeout");
});

describe("an echo request", () => {
  const tokens = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const words = fc.nat(0xffff);

  test("has a checksum that makes the sum of all its words zero", () => {
    fc.assert(
      fc.property(tokens, words, words, (token, identifier, sequence) => {
        expect(checksum(encodeEcho(ECHO_V4, identifier, sequence, token))).toBe(0);
      }),
    );
  });

  test("is answered by what brings its token back, with or without a header of IP, and by nothing else", () => {
    fc.assert(
      fc.property(tokens, words, fc.boolean(), (token, sequence, hasHeader) => {
        const reply = encodeEcho(ECHO_V4, 1, sequence, token);
        expect(isEchoReply(ECHO_V4, reply, token)).toBe(false);
        reply[0] = ECHO_V4.reply;
        const header = Uint8Array.of(0x45, ...new Uint8Array(19));
        const received = hasHeader ? Uint8Array.of(...header, ...reply) : reply;
        expect(isEchoReply(ECHO_V4, received, token)).toBe(true);
        expect(isEchoReply(ECHO_V6, received, token)).toBe(false);
        expect(
          isEchoReply(
            ECHO_V4,
            received,
            Uint8Array.from(token, (byte) => byte ^ 1),
          ),
        ).toBe(false);
      }),
    );
  });

  test("is not answered by whatever else comes in", () => {
    const token = new Uint8Array(16).fill(9);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (junk) => {
        expect(isEchoReply(ECHO_V4, junk, token) || isEchoReply(ECHO_V6, junk, token)).toBe(false);
      }),
    );
  });
});
