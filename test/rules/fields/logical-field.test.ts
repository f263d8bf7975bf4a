/** Whatever a source calls it, a logical field answers what the entry says; nobody who signs in writes his own address. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { project, scan } from "../../../query/index.ts";
import { logicalFieldReference } from "../../../src/rules/fields/field-reference.ts";
import { AUTH_MARKS, AUTH_OUTCOME, FIELD_SOURCES } from "../../../src/rules/fields/field-table.ts";
import { isLogicalField, logicalField } from "../../../src/rules/fields/logical-field.ts";
import { idAt, insertRows } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner, rowsOf } from "../../query/query-store.ts";

const FILE = join(import.meta.dir, "../../../docs/logical-fields.md");
const NAMES = [...FIELD_SOURCES.map(({ name }) => name), "auth.outcome"];

interface StoredEntry {
  readonly message?: string;
  readonly host?: string;
  readonly attrs?: Readonly<Record<string, string>>;
  readonly jsonKeys?: readonly string[];
}

let stores: TestStores;
let organizationId = 0;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** What the logical fields say of each entry, in the order of the entries. */
async function fieldsOf(
  entries: readonly StoredEntry[],
  mayHave?: (key: string) => boolean,
): Promise<Record<string, string>[]> {
  organizationId += 1;
  await insertRows(
    stores.clickhouse,
    entries.map((entry, i) => ({
      organizationId,
      ts: 0n,
      id: idAt(Date.UTC(2026, 0, 1), i),
      message: "",
      ...entry,
      attrs: Object.entries(entry.attrs ?? {}),
    })),
  );
  const logs = scan("logs");
  const columns = NAMES.flatMap((name) => {
    const expression = logicalField(name, mayHave);
    return expression === null ? [] : [{ name, expression }];
  });
  const id = logs.columns.find(({ name }) => name === "id");
  if (id === undefined) throw new Error("logs have no ids");
  const plan = project(logs, [
    {
      name: "id",
      expression: { kind: "column", name: "id", type: id.type, isNullable: false, isLoose: false },
    },
    ...columns,
  ]);
  const rows = await rowsOf(queryRunner(stores), plan, organizationId);
  return [...rows]
    .sort(([a], [b]) => (BigInt(String(a)) < BigInt(String(b)) ? -1 : 1))
    .map((row) => Object.fromEntries(NAMES.map((name, i) => [name, String(row[i + 1])])));
}

describe("attributes", () => {
  test("each alias is read, and of several the first", async () => {
    const cases = FIELD_SOURCES.flatMap(({ name, aliases }) => aliases.map((alias) => ({ name, alias })));
    const found = await fieldsOf(cases.map(({ alias }, i) => ({ attrs: { [alias]: `value-${i}` } })));
    expect(cases.map(({ name }, i) => found[i]?.[name])).toEqual(cases.map((_, i) => `value-${i}`));
    const [both] = await fieldsOf([{ attrs: { src_ip: "192.0.2.1", "source.ip": "192.0.2.2" } }]);
    expect(both?.sourceAddress).toBe("192.0.2.2");
  });

  test("a name leads into an object, and an object or a list is no value", async () => {
    const [nested, object] = await fieldsOf([
      {
        attrs: { client: '{"ipAddress":"203.0.113.9"}', actor: '{"alternateId":"sam@example.com"}' },
        jsonKeys: ["client", "actor"],
      },
      { attrs: { user: '{"id":7}', src: '["203.0.113.9"]' }, jsonKeys: ["user", "src"] },
    ]);
    expect([nested?.sourceAddress, nested?.userName]).toEqual(["203.0.113.9", "sam@example.com"]);
    expect([object?.sourceAddress, object?.userName]).toEqual(["", ""]);
  });

  test("what is left out because no entry has it changes no answer", async () => {
    const entries = FIELD_SOURCES.flatMap(({ aliases }) =>
      aliases.map((alias) => ({ attrs: { [alias]: "x" } })),
    );
    await fc.assert(
      fc.asyncProperty(fc.subarray(entries, { minLength: 1 }), async (some) => {
        const keys = new Set(some.flatMap(({ attrs }) => Object.keys(attrs)));
        expect(await fieldsOf(some, (key) => keys.has(key))).toEqual(await fieldsOf(some));
      }),
      { numRuns: 5 },
    );
  });
});

describe("messages of sshd, sudo, su and PAM", () => {
  test("hold a mark wherever a pattern takes them", () => {
    const patterns = [
      ...FIELD_SOURCES.flatMap(({ patterns }): readonly string[] => patterns),
      AUTH_OUTCOME.failure,
      AUTH_OUTCOME.success,
    ];
    for (const pattern of patterns)
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(pattern)), (message) =>
          AUTH_MARKS.some((mark) => message.includes(mark)),
        ),
      );
  });

  const cases = [
    ["Failed password for root from 203.0.113.9 port 4711 ssh2", "root", "203.0.113.9", "failure"],
    [
      "Failed password for invalid user admin from 2001:db8::7 port 22 ssh2",
      "admin",
      "2001:db8::7",
      "failure",
    ],
    [
      "Accepted publickey for sam from 203.0.113.9 port 4711 ssh2: RSA SHA256:x",
      "sam",
      "203.0.113.9",
      "success",
    ],
    ["Invalid user oracle from 203.0.113.9", "oracle", "203.0.113.9", "failure"],
    ["Received disconnect from 203.0.113.9: 11: Bye Bye [preauth]", "", "203.0.113.9", ""],
    [
      "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=203.0.113.9  user=root",
      "root",
      "203.0.113.9",
      "failure",
    ],
    ["pam_unix(su:session): session opened for user root(uid=0) by sam(uid=1000)", "root", "", "success"],
    ["sam : TTY=pts/0 ; PWD=/home/sam ; USER=root ; COMMAND=/bin/ls", "sam", "", "success"],
    [
      "sam : 3 incorrect password attempts ; TTY=pts/0 ; PWD=/home/sam ; USER=root ; COMMAND=/bin/ls",
      "sam",
      "",
      "failure",
    ],
    ["FAILED SU (to root) sam on pts/0", "root", "", "failure"],
    [
      "reverse mapping checking getaddrinfo for a.example [203.0.113.9] failed - POSSIBLE BREAK-IN ATTEMPT!",
      "",
      "203.0.113.9",
      "",
    ],
    [
      "Address 203.0.113.9 maps to a.example, but this does not map back to the address - POSSIBLE BREAK-IN ATTEMPT!",
      ...["", "203.0.113.9", ""],
    ],
    ["GET /cart from 203.0.113.9", "", "", ""],
  ] as const;

  test("say who, from where and how it ended", async () => {
    const found = await fieldsOf(cases.map(([message]) => ({ message })));
    const told = found.map((fields) => [
      fields["auth.user"],
      fields["auth.sourceAddress"],
      fields["auth.outcome"],
    ]);
    expect(told).toEqual(cases.map(([, ...expected]) => [...expected]));
    expect(found.map(({ userName, sourceAddress }) => [userName, sourceAddress])).toEqual(
      cases.map(([, user, address]) => [user, address]),
    );
  });

  test("whatever somebody calls himself, the address is where he came from", async () => {
    const names = [
      "from 192.0.2.1 port 1 ssh2",
      "x from 192.0.2.1",
      "root from 192.0.2.1 port 22",
      "a from 192.0.2.1 port 2 ssh2 b",
    ];
    const found = await fieldsOf(
      names.map((name) => ({
        message: `Failed password for invalid user ${name} from 203.0.113.9 port 4711 ssh2`,
      })),
    );
    expect(found.map((fields) => [fields["auth.user"], fields["auth.sourceAddress"]])).toEqual(
      names.map((name) => [name, "203.0.113.9"]),
    );
  });
});

test("another name is no logical field", () => {
  expect(NAMES.every(isLogicalField)).toBe(true);
  expect([isLogicalField("client_ip"), logicalField("client_ip"), logicalField("")]).toEqual([
    false,
    null,
    null,
  ]);
});

/** `RECORD=1 bun test test/rules/fields` writes the file anew. */
test("docs/logical-fields.md is what the table of fields says", async () => {
  if (Bun.env.RECORD === "1") await Bun.write(FILE, logicalFieldReference());
  expect(await Bun.file(FILE).text()).toBe(logicalFieldReference());
});
