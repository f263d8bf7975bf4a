import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout, rowsOfQuery } from "./answers.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

const TABLES = `let networks = datatable(network:string, ip:string)
  ["111.68.128.0/17", "AS", "5.8.0.0/19", "EU", "2.20.183.0/24", "near", "2.20.0.0/16", "far", "no network", "x", "0.0.0.300", "y"];
let addresses = datatable(ip:string)["2.20.183.12", "5.8.1.2", "192.165.12.17", "no address", ""];
addresses | evaluate`;

async function found(call: string): Promise<unknown[]> {
  return (await rowsOfQuery(runner, `${TABLES} ${call} | sort by ip asc, network asc`)).map((row) =>
    row.join(" "),
  );
}

describe("ipv4_lookup", () => {
  test("finds every network that an address is in", async () => {
    expect(await found("ipv4_lookup(networks, ip, network)")).toEqual([
      "2.20.183.12 2.20.0.0/16 far",
      "2.20.183.12 2.20.183.0/24 near",
      "5.8.1.2 5.8.0.0/19 EU",
    ]);
  });

  test("keeps the rows that find nothing where they are asked for, each of them once", async () => {
    const all = [
      "  ",
      "192.165.12.17  ",
      "2.20.183.12 2.20.0.0/16 far",
      "2.20.183.12 2.20.183.0/24 near",
      "5.8.1.2 5.8.0.0/19 EU",
      "no address  ",
    ];
    expect(await found("ipv4_lookup(networks, ip, network, return_unmatched = true)")).toEqual(all);
    expect(await found("ipv4_lookup(networks, ip, network, true)")).toEqual(all);
  });

  test("finds nothing in a table without networks", async () => {
    expect(await found("ipv4_lookup((networks | where ip == 'x'), ip, network)")).toEqual([]);
    expect(await found("ipv4_lookup((networks | where false), ip, network, true)")).toHaveLength(5);
  });

  test("names what is missing, and what it does not take", () => {
    expect(complaintAbout(`${TABLES} ipv4_lookup(networks, ip)`)?.code).toBe("WRONG_ARGUMENTS");
    expect(complaintAbout(`${TABLES} ipv4_lookup(networks, ip, nowhere)`)?.message).toContain("nowhere");
    expect(complaintAbout(`${TABLES} ipv4_lookup(networks, ip, network, other = true)`)?.message).toContain(
      "return_unmatched",
    );
    expect(complaintAbout(`${TABLES} ipv4_lookup(networks, ip, network, ip, ip)`)?.message).toContain("join");
    expect(complaintAbout(`${TABLES} ipv4_lookup(networks, 5, network)`)?.message).toContain("text");
  });
});

describe("mv-apply inside mv-apply", () => {
  const NESTED = `print a = dynamic([{"k":1,"l":[1,2,3]},{"k":2,"l":[4]}]), s = "z" | mv-apply x = a on`;

  test("works within each element of the elements of each row", async () => {
    const sums = `${NESTED} (mv-apply y = x.l to typeof(long) on (summarize t = sum(y)) | project k = tolong(x.k), t) | project s, k, t | sort by k asc`;
    expect(await rowsOfQuery(runner, sums)).toEqual([
      ["z", "1", "6"],
      ["z", "2", "4"],
    ]);
    const tops = `${NESTED} (mv-apply y = x.l to typeof(long) on (top 1 by y desc) | summarize total = sum(y), n = count()) | project s, total, n`;
    expect(await rowsOfQuery(runner, tops)).toEqual([["z", "7", "2"]]);
  });

  test("sees the columns around, three levels deep", async () => {
    const deep =
      "datatable(i:int, a:dynamic)[1, dynamic([[[1,2],[3]]]), 2, dynamic([[[5]]])] | mv-apply x = a on (mv-apply y = x on (mv-apply z = y to typeof(long) on (where z > i | summarize m = max(z)))) | project i, m | sort by i asc, m asc";
    expect(await rowsOfQuery(runner, deep)).toEqual([
      [1, "2"],
      [1, "3"],
      [2, "5"],
    ]);
  });
});
