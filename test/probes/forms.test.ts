import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { redirected } from "../../src/outbound/follow.ts";
import { OutboundPolicy } from "../../src/outbound/outbound-policy.ts";
import { greetingBytes, readSocksRequest } from "../../src/probes/browser/socks-messages.ts";
import { MONITOR_TYPES } from "../../src/probes/check.ts";
import { CheckFailure } from "../../src/probes/check-failure.ts";
import { holds, type StepAnswer, textOf } from "../../src/probes/steps/assertions.ts";
import { valueAt } from "../../src/probes/steps/dotted-path.ts";
import { render } from "../../src/probes/steps/template.ts";
import { parseDnsTarget } from "../../src/probes/targets/dns-target.ts";
import { parseHostTarget } from "../../src/probes/targets/host-target.ts";
import { judgeTarget } from "../../src/probes/targets/judge-target.ts";

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);

describe("a template", () => {
  test("says its values where their names stand, once, and everything else as it is", () => {
    const plain = fc.string().filter((text) => !/[{}]/.test(text));
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, name, fc.string())), plain, (parts, end) => {
        const values = new Map(parts.map(([, key, value]) => [key, value]));
        const written = parts.map(([before, key]) => `${before}{{${key}}}`).join("") + end;
        const expected = parts.map(([before, key]) => before + (values.get(key) ?? "")).join("") + end;
        expect(render(written, values)).toBe(expected);
      }),
    );
  });

  test("never becomes longer than it may", () => {
    const long = new Map([["a", "x".repeat(60_000)]]);
    expect(() => render("{{a}}".repeat(5), long)).toThrow(CheckFailure);
    expect(render("{{a}}".repeat(4), long)).toHaveLength(240_000);
  });
});

describe("a dotted path", () => {
  test("leads to every value of a document by the names on the way", () => {
    const key = fc.stringMatching(/^[a-z]{1,5}$/);
    const value = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.integer(),
        fc.string(),
        fc.constant(null),
        fc.array(tie("node")),
        fc.dictionary(key, tie("node")),
      ),
    })).node;
    const visit = (root: unknown, at: unknown, path: string[]): void => {
      expect(valueAt(root, path.join("."))).toBe(at);
      if (at === null || typeof at !== "object") return;
      for (const [part, child] of Object.entries(at)) visit(root, child, [...path, part]);
    };
    fc.assert(fc.property(value, (root) => visit(root, root, [])));
  });

  test("leads to nothing that a document does not say", () => {
    for (const path of [
      "__proto__",
      "constructor",
      "toString",
      "a.length",
      "list.length",
      "list.-1",
      "list.x",
      "a.b",
    ])
      expect(valueAt({ a: "text", list: [1] }, path)).toBeUndefined();
    expect(valueAt({ list: [{ id: 4 }] }, "$.list[0].id")).toBe(4);
  });

  test("of any text and any document is read without an error", () => {
    fc.assert(fc.property(fc.json(), fc.string(), (text, path) => void valueAt(JSON.parse(text), path)));
  });
});

test("an assertion and its opposite never hold together, and one of them does where there is a value", () => {
  const opposites = [
    ["eq", "ne"],
    ["contains", "not_contains"],
    ["exists", "not_exists"],
  ] as const;
  fc.assert(
    fc.property(
      fc.json(),
      fc.oneof(fc.string(), fc.integer()),
      fc.constantFrom(...opposites),
      (text, value, [is, isNot]) => {
        const answer: StepAnswer = {
          status: 200,
          responseTimeMs: 1,
          headers: new Headers(),
          text,
          json: JSON.parse(text),
        };
        for (const source of ["body_json", "body_text", "status_code"] as const)
          expect(holds({ source, comparison: is, value }, answer)).toBe(
            !holds({ source, comparison: isNot, value }, answer),
          );
      },
    ),
  );
});

test("every value is equal to its own text", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const json: unknown = JSON.parse(text);
      const answer: StepAnswer = { status: 200, responseTimeMs: 1, headers: new Headers(), text, json };
      expect(holds({ source: "body_json", comparison: "eq", value: textOf(json) }, answer)).toBe(true);
    }),
  );
});

describe("a target", () => {
  test("of host and port is read back whatever stands around it", () => {
    const host = fc.stringMatching(/^[a-z]([a-z0-9]{0,8}[a-z0-9])?(\.[a-z]{2,5}){1,2}$/);
    fc.assert(
      fc.property(
        host,
        fc.integer({ min: 1, max: 65_535 }),
        fc.constantFrom("", "tcp://", "SMTP://"),
        fc.constantFrom("", "/", "/x?y#z"),
        (written, port, scheme, end) => {
          expect(parseHostTarget(`${scheme}${written}:${port}${end}`)).toMatchObject({ host: written, port });
          expect(parseHostTarget(`${scheme}${written}${end}`)).toMatchObject({ host: written, port: null });
        },
      ),
    );
    expect(parseHostTarget("2001:db8::1")).toMatchObject({ host: "2001:db8::1", port: null });
    expect(parseHostTarget("[2001:db8::1]:25")).toMatchObject({ host: "2001:db8::1", port: 25 });
    for (const text of ["", ":80", "a:0", "a:70000", "u@a", "a b", "a:80:90", "http://", "[::1", "a:"])
      expect(parseHostTarget(text)).toBeNull();
  });

  test("of DNS is read as RFC 4501 writes it", () => {
    expect(parseDnsTarget("dns://192.168.1.1/ftp.example.org?type=A")).toEqual({
      server: { host: "192.168.1.1", port: 53 },
      name: "ftp.example.org",
      type: "A",
    });
    expect(parseDnsTarget("dns:www.example.org.?clAsS=IN;tYpE=mx")).toEqual({
      server: null,
      name: "www.example.org",
      type: "MX",
    });
    expect(parseDnsTarget("_sip._tcp.example.org?type=SRV")).toMatchObject({ server: null, type: "SRV" });
    expect(parseDnsTarget("dns:///example.org")).toMatchObject({ server: null, name: "example.org" });
  });

  test("that is any text is read without an error, and never takes long", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2048 }), fc.constantFrom(...MONITOR_TYPES), (text, type) => {
        expect(["ok", "invalid", "blocked"]).toContain(judgeTarget(type, text, policy));
      }),
    );
    expect(parseDnsTarget(`${"a-".repeat(1_000)}!`)).toBeNull();
    expect(parseDnsTarget(`${"a-".repeat(120)}!`)).toBeNull();
  });
});

const policy = new OutboundPolicy({ allow: [], allowPrivate: true });
const strict = new OutboundPolicy({ allow: [], allowPrivate: false });

describe("a target that is saved", () => {
  const inward = [
    "127.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "localhost",
    "LOCALHOST",
    "a.localhost.",
    "0.0.0.0",
    "100.100.100.200",
  ];
  test.each(inward)(
    "as %p is blocked for every type that connects, and opened by the operator's list",
    (host) => {
      for (const type of ["http", "https", "keyword", "browser", "multi_step"] as const)
        expect(judgeTarget(type, `http://${host}:8080/x`, policy)).toBe("blocked");
      for (const type of ["tcp", "port", "ping", "ssl", "smtp"] as const)
        expect(judgeTarget(type, host, policy)).toBe("blocked");
      expect(judgeTarget("dns", `dns://${host}/example.org`, policy)).toBe("blocked");
      expect(judgeTarget("heartbeat", host, policy)).toBe("ok");
    },
  );

  test("is opened by the operator's list, and private ones by the setting", () => {
    const open = new OutboundPolicy({ allow: ["127.0.0.0/8", "localhost"], allowPrivate: false });
    expect([judgeTarget("tcp", "127.0.0.1", open), judgeTarget("http", "http://localhost/", open)]).toEqual([
      "ok",
      "ok",
    ]);
    expect([judgeTarget("tcp", "192.168.0.1", policy), judgeTarget("tcp", "192.168.0.1", strict)]).toEqual([
      "ok",
      "blocked",
    ]);
    expect(judgeTarget("http", "http://inside.example/", strict)).toBe("ok");
  });

  test("with a variable for a host is judged when it is known", () => {
    for (const url of ["{{base}}/x", "http://{{host}}/x", "http://{{host}}:80/", "https://a.{{zone}}/"])
      expect(judgeTarget("multi_step", url, strict)).toBe("ok");
    expect(judgeTarget("multi_step", "http://127.0.0.1/{{path}}", strict)).toBe("blocked");
  });
});

test("a redirected message loses what it must, and nothing else", () => {
  const headers = fc.dictionary(
    fc.constantFrom("Authorization", "x-a", "Content-Type", "content-length"),
    fc.string(),
  );
  const methods = fc.constantFrom("GET", "POST", "PUT", "HEAD");
  fc.assert(
    fc.property(
      headers,
      methods,
      fc.constantFrom(301, 302, 303, 307, 308),
      fc.boolean(),
      (given, method, status, isForeign) => {
        const sent = redirected({ method, headers: given, body: "b" }, status, () => isForeign);
        if (isForeign) expect(sent.headers).toEqual({});
        const keepsBody = status >= 307 || (status < 303 && method !== "POST");
        expect(sent.body).toBe(keepsBody ? "b" : method === "HEAD" && status === 303 ? "b" : undefined);
        if (!isForeign && keepsBody) expect(sent).toEqual({ method, headers: given, body: "b" });
      },
    ),
  );
});

describe("a message of SOCKS", () => {
  const hosts = fc.stringMatching(/^[a-z0-9.-]{1,255}$/);
  test("is read when it is whole, and not before", () => {
    fc.assert(
      fc.property(hosts, fc.nat(0xffff), (host, port) => {
        const bytes = Uint8Array.of(5, 1, 0, 3, host.length, ...Buffer.from(host), port >> 8, port & 255);
        for (let length = 0; length < bytes.length; length += 1)
          expect(readSocksRequest(bytes.subarray(0, length))).toBeNull();
        expect(readSocksRequest(bytes)).toEqual({ isConnect: true, host, port });
      }),
      { numRuns: 30 },
    );
    expect(readSocksRequest(Uint8Array.of(5, 2, 0, 1, 10, 0, 0, 1, 0, 80))).toEqual({
      isConnect: false,
      host: "10.0.0.1",
      port: 80,
    });
    const v6 = Uint8Array.of(5, 1, 0, 4, ...new Uint8Array(15), 1, 0, 80);
    expect(readSocksRequest(v6)).toEqual({ isConnect: true, host: "0:0:0:0:0:0:0:1", port: 80 });
  });

  test("that is none is an error or is waited for, and nothing else", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        for (const read of [greetingBytes, readSocksRequest]) {
          try {
            read(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        }
      }),
    );
  });
});
