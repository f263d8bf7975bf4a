import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { parse } from "yaml";
import type { Library } from "../../../query/index.ts";
import { openLibrary } from "../../../src/kql/library/open-library.ts";
import { placesDatabase } from "../../harness/places-database.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let database: string;
beforeAll(() => {
  directory = temporaryDirectory();
  database = join(directory.path, "places.mmdb");
  const place = {
    country: { names: { en: "Sweden" } },
    subdivisions: [{ names: { en: "Uppsala County" } }],
    city: { names: { en: "Uppsala" } },
    location: { latitude: 59.85, longitude: 17.63 },
  };
  writeFileSync(database, placesDatabase({ "203.0.113.0/24": place }));
});
afterAll(() => directory[Symbol.dispose]());

describe("places of addresses", () => {
  test("are those of the database, and nothing of any other address or text", async () => {
    const { geo_info_from_ip_address: describe } = await openLibrary(database);
    expect(JSON.parse(describe?.("203.0.113.77", null) ?? "")).toEqual({
      ...{ country: "Sweden", state: "Uppsala County", city: "Uppsala" },
      ...{ latitude: 59.85, longitude: 17.63 },
    });
    for (const other of ["198.51.100.1", "no address", "", "::1", "203.0.113.0/24"])
      expect(describe?.(other, null)).toBe("");
  });

  test("are not known without a database, and a file that is none stops the start", async () => {
    expect((await openLibrary(null)).geo_info_from_ip_address).toBeNull();
    const other = join(directory.path, "other.mmdb");
    writeFileSync(other, "no database");
    await expect(openLibrary(other)).rejects.toThrow("GEO_DATABASE");
  });
});

describe("user agents", () => {
  let library: Library;
  beforeAll(async () => {
    library = await openLibrary(null);
  });
  const describeAgent = (text: string, option: string | null = null) =>
    JSON.parse(library.parse_user_agent?.(text, option) ?? "null");

  test("are told by what every reader of YAML finds in the list of their expressions", async () => {
    const text = await Bun.file(fileURLToPath(import.meta.resolve("uap-core/regexes.yaml"))).text();
    expect(Bun.deepEquals(Bun.YAML.parse(text), parse(text), true)).toBeTrue();
  });

  test("name browser, system and device, of which what is asked for is answered", () => {
    const agent =
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1";
    expect(describeAgent(agent)).toEqual({
      Browser: { Family: "Mobile Safari", MajorVersion: "17", MinorVersion: "4", Patch: "" },
      OperatingSystem: { Family: "iOS", MajorVersion: "17", MinorVersion: "4", Patch: "", PatchMinor: "" },
      Device: { Family: "iPhone", Brand: "Apple", Model: "iPhone" },
    });
    expect(Object.keys(describeAgent(agent, "os"))).toEqual(["OperatingSystem"]);
    expect(Object.keys(describeAgent(agent, '["browser","device"]'))).toEqual(["Browser", "Device"]);
    expect(describeAgent("curl/8.5.0").Browser.Family).toBe("curl");
    expect(describeAgent("nobody knows").Device).toEqual({ Family: "Other", Brand: "", Model: "" });
  });
});

describe("XML", () => {
  let library: Library;
  beforeAll(async () => {
    library = await openLibrary(null);
  });
  const bag = (text: string) => library.parse_xml?.(text, null) ?? "";

  test("becomes a bag of its elements, attributes and texts, all of them texts", () => {
    expect(
      JSON.parse(bag('<Event id="7"><Data Name="User">ana</Data><Data Name="Ip">192.0.2.1</Data></Event>')),
    ).toEqual({
      Event: {
        "@id": "7",
        Data: [
          { "#text": "ana", "@Name": "User" },
          { "#text": "192.0.2.1", "@Name": "Ip" },
        ],
      },
    });
    expect(JSON.parse(bag("<n>007</n>"))).toEqual({ n: "007" });
  });

  test("that is none, is too long or declares entities is nothing", () => {
    const bomb = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>';
    for (const text of ["no xml", "<a>", "<a></b>", bomb, `<a>${"x".repeat(70_000)}</a>`])
      expect(bag(text)).toBe("");
  });
});

test("no text makes a function throw, and each answers a JSON text or nothing", async () => {
  const library = await openLibrary(database);
  const { geo_info_from_ip_address: place, parse_user_agent: agent, parse_xml: xml } = library;
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.ipV4(),
        fc.ipV6(),
        fc.string().map((s) => `<a>${s}</a>`),
      ),
      (text) => {
        for (const made of [place?.(text, null), agent?.(text, "os"), xml?.(text, null)])
          if (made !== undefined && made !== "") expect(() => JSON.parse(made)).not.toThrow();
      },
    ),
    { numRuns: 200 },
  );
});
