/** Whoever dies in the middle of whatever: judged by what the people that are paged have received, from two real servers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { proofRounds } from "../../harness/proof.ts";
import { makeToken, type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type MailPeer, openMailPeer } from "../../notify/mail/mail-peer.ts";

const ROUNDS = proofRounds({ sample: 1, whole: 20 });
const INCIDENTS_PER_ROUND = 5;
/** Of the proof: the moments at which servers die. */
const SEED = 20_260_301;

let stores: TestStores;
let peer: MailPeer;
const directories: TemporaryDirectory[] = [];
beforeAll(async () => {
  stores = await openTestStores();
  peer = await openMailPeer();
});
afterAll(async () => {
  await peer.close();
  await stores.close();
  for (const directory of directories) directory[Symbol.dispose]();
});

/** One of several servers on the same stores, which is started again where it was killed. */
class Instance {
  readonly #directory = temporaryDirectory();
  server: ServerProcess | null = null;

  constructor() {
    directories.push(this.#directory);
  }

  async start(): Promise<void> {
    this.server = await startServer({
      dataDirectory: this.#directory.path,
      env: {
        DATABASE_URL: stores.postgresUrl,
        CLICKHOUSE_URL: stores.clickhouseUrl,
        SMTP_URL: peer.url,
      },
    });
  }

  async kill(): Promise<void> {
    this.server?.kill("SIGKILL");
    await this.server?.exited;
    await this.start();
  }

  async send(token: string, method: string, path: string, json?: unknown) {
    const answer = await fetch(`${this.server?.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return JSON.parse(await answer.text());
  }
}

/** Two more people of the organisation, and their ids by address. */
async function addPeople(organizationId: number): Promise<Map<string, number>> {
  const people = new Map<string, number>();
  for (const name of ["ben", "cleo"]) {
    const email = `${name}${organizationId}@example.com`;
    const [user] = await stores.postgres<{ id: string }[]>`
      INSERT INTO users (email, created_at) VALUES (${email}, now()) RETURNING id`;
    await stores.postgres`
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      VALUES (${organizationId}, ${user?.id ?? 0}, 'member', now())`;
    people.set(email, Number(user?.id));
  }
  return people;
}

/** Numbers from 0 to 1, the same in each run (Park and Miller). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

test("every page arrives, every step is taken once and as it was simulated, whoever is killed", async () => {
  const [stable, dying] = [new Instance(), new Instance()];
  await Promise.all([stable.start(), dying.start()]);
  const token = await makeToken(stable.server?.url ?? "");
  const { user, organization } = await stable.send(token, "GET", "/api/v1/me");
  const people = await addPeople(organization.id);
  people.set(user.email, user.id);
  const [ben = 0, cleo = 0] = people.values();
  const addresses = new Map([...people].map(([email, id]) => [id, email]));
  const steps = [
    { type: "user", delaySec: 1, userId: ben },
    { type: "user", delaySec: 1, userId: cleo },
    { type: "user", delaySec: 2, userId: user.id },
  ];
  const policy = await stable.send(token, "POST", "/api/v1/escalation-policies", { name: "p", steps });
  const simulated = await stable.send(token, "GET", `/api/v1/on-call/simulate?policyId=${policy.id}`);
  const expected = simulated.steps.map(({ userId }: { userId: number }) => addresses.get(userId));
  expect(expected).toHaveLength(steps.length);

  const random = seeded(SEED);
  const titles: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let nth = 0; nth < INCIDENTS_PER_ROUND; nth += 1) {
      const title = `incident ${round}.${nth}`;
      titles.push(title);
      await stable.send(token, "POST", "/api/v1/incidents", { title, escalationPolicyId: policy.id });
    }
    // Within the time that the steps take.
    await Bun.sleep(random() * 3_000);
    await (random() < 0.5 ? stable : dying).kill();
  }

  /** The mails about an incident that page somebody, each repetition but once, as they came. */
  const pagesOf = (title: string) => {
    const own = peer.received.filter(({ mail }) => mail.subject === title);
    return [...new Map(own.map(({ mail, recipients: [to] }) => [mail.messageId, to])).values()];
  };
  await eventually("everybody is paged", () =>
    titles.every((title) => pagesOf(title).length >= steps.length),
  );
  await eventually("every escalation is over", async () => {
    const rows = await stores.postgres`SELECT 1 FROM escalations WHERE state = 'running'`;
    return rows.length === 0;
  });
  await eventually("nothing is on its way", async () => {
    const rows = await stores.postgres`SELECT 1 FROM deliveries WHERE state = 'pending'`;
    return rows.length === 0;
  });
  for (const title of titles)
    expect([title, pagesOf(title).toSorted()]).toEqual([title, expected.toSorted()]);
  const exhausted = peer.received.filter(({ mail }) => mail.subject?.startsWith("Nobody has answered"));
  expect(new Set(exhausted.map(({ mail }) => mail.messageId)).size).toBe(titles.length);
  await Promise.all([stable, dying].map(({ server }) => server?.stop()));
});
