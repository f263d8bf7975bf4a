import { describe, expect, test } from "bun:test";
import { authorizationToken } from "../../../../src/receive/authorization-token.ts";

const TOKEN = `obs_${"aB3-_".repeat(8)}xyz`;
const every = authorizationToken("basic", "apikey", "splunk");

function read(header: string | null, reader = every): string | null {
  return reader(
    new Request("http://localhost/", { headers: header === null ? {} : { authorization: header } }),
  );
}
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the token is found", () => {
  test.each([
    [`Basic ${base64(`anyone:${TOKEN}`)}`],
    [`basic ${base64(`:${TOKEN}`)}`],
    [`Basic ${base64(`${TOKEN}:`)}`],
    [`ApiKey ${base64(`id:${TOKEN}`)}`],
    [`ApiKey ${base64(TOKEN)}`],
    [`apikey ${TOKEN}`],
    [`Splunk ${TOKEN}`],
    [`SPLUNK  ${TOKEN} `],
  ])("in %s", (header) => expect(read(header)).toBe(TOKEN));
});

describe("another header is left to others", () => {
  test.each([[null], [`Bearer ${TOKEN}`], ["Negotiate abc"], [TOKEN], [`Basic ${"A".repeat(2000)}`]])(
    "%s",
    (header) => expect(read(header)).toBeNull(),
  );

  test("of a scheme that the route does not know", () =>
    expect(read(`Splunk ${TOKEN}`, authorizationToken("basic"))).toBeNull());
});

test.each(["Basic", "Basic ", "Splunk", "ApiKey ", "Basic %%%", `Basic ${base64(":")}`])(
  "a header that holds none answers a token that is refused: %j",
  (header) => expect(read(header)).toBe(""),
);
