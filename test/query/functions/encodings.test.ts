import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout } from "./answers.ts";
import { answered, type Case, printed, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

async function expectValues(cases: readonly Case[]): Promise<void> {
  expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
}

test("characters become numbers and numbers characters", () =>
  expectValues([
    ["unicode_codepoints_from_string('aé€😀')", [97, 233, 8364, 128512]],
    ["unicode_codepoints_from_string('')", []],
    ["to_utf8('é')", [233]],
    ["unicode_codepoints_to_string(97, dynamic([233, 8364, 128512]))", "aé€😀"],
    ["unicode_codepoints_to_string(dynamic([]))", ""],
    ["unicode_codepoints_to_string(-1, 55296, 1114112, long(null), dynamic(['x', 97]))", "a"],
    ["make_string(75, 81, 76)", "KQL"],
  ]));

test("Base64 stands for texts, bytes and guids; what is none gives nothing", () =>
  expectValues([
    ["base64_encode_tostring('naïve')", "bmHDr3Zl"],
    ["base64_encode_tostring('')", ""],
    ["base64_decode_tostring('bmHDr3Zl')", "naïve"],
    ["base64_decode_tostring('no base64!')", ""],
    ["base64_decode_tostring('/w==')", ""],
    ["base64_decode_toarray('S1FM')", [75, 81, 76]],
    ["base64_decode_toarray('!')", null],
    ["base64_decode_toarray('')", []],
    ["base64_encode_fromarray(dynamic([75, 81, 76]))", "S1FM"],
    ["base64_encode_fromarray(dynamic([0, 255]))", "AP8="],
    ["base64_encode_fromarray(dynamic([75, 300]))", ""],
    ["base64_encode_fromarray(dynamic(null))", ""],
    [
      "base64_decode_toguid(base64_encode_fromguid(guid(00112233-4455-6677-8899-aabbccddeeff)))",
      "00112233-4455-6677-8899-aabbccddeeff",
    ],
    ["base64_encode_fromguid(guid(00112233-4455-6677-8899-aabbccddeeff))", "MyIRAFVEd2aImaq7zN3u/w=="],
    ["base64_encode_fromguid(guid(null))", ""],
    ["base64_decode_toguid('S1FM')", ""],
  ]));

test("digests are of the text of a value", () =>
  expectValues([
    ["hash_md5('abc')", "900150983cd24fb0d6963f7d28e17f72"],
    ["hash_sha1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"],
    ["hash_sha256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["hash_sha256(1) == hash_sha256('1')", true],
    ["hash_md5(dynamic(null))", "d41d8cd98f00b204e9800998ecf8427e"],
  ]));

test("hashes of texts and times are Kusto's; a modulus keeps them small", () =>
  expectValues([
    ["hash('World')", "1846988464401551951"],
    ["hash_xxhash64('World')", "1846988464401551951"],
    ["hash('World', 100)", 51],
    ["hash(datetime(2015-01-01))", "1380966698541616202"],
    ["hash('World', 0)", null],
    ["hash('', 7) between (0 .. 6)", true],
    ["hash(1) == hash(256)", false],
    ["isnotnull(hash(int(null)))", true],
  ]));

test("a new guid is another one in every row and in every place", async () => {
  const runner = queryRunner(stores);
  const [first, second] = await printed(runner, ["new_guid()", "new_guid()"]);
  const rows = await answered(runner, "range x from 1 to 20 step 1 | extend g = new_guid() | project g");
  const all = new Set([first, second, ...rows.flat()]);
  expect(all.size).toBe(22);
  for (const guid of all) expect(String(guid)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test("parts of URLs are encoded and decoded", () =>
  expectValues([
    ["url_encode('https://a b/é?x=1~')", "https%3a%2f%2fa+b%2f%c3%a9%3fx%3d1%7e"],
    ["url_encode_component('a b&c')", "a%20b%26c"],
    ["url_encode('')", ""],
    ["url_decode('a%20b+c%C3%a9')", "a b cé"],
    ["url_decode('100%')", "100%"],
    ["url_decode(url_encode('round trip: 50% & more'))", "round trip: 50% & more"],
  ]));

const NO_URL = {
  Scheme: "",
  Host: "",
  Port: "",
  Path: "",
  Username: "",
  Password: "",
  "Query Parameters": {},
  Fragment: "",
};

test("a URL comes apart", () =>
  expectValues([
    [
      "parse_url('https://user:secret@host.example:8443/a/b?x=1&y=&x=2#top')",
      {
        Scheme: "https",
        Host: "host.example",
        Port: "8443",
        Path: "/a/b",
        Username: "user",
        Password: "secret",
        "Query Parameters": { x: "2", y: "" },
        Fragment: "top",
      },
    ],
    ["parse_url('http://[::1]:80/x')", { ...NO_URL, Scheme: "http", Host: "[::1]", Port: "80", Path: "/x" }],
    ["parse_url('')", NO_URL],
    ["tostring(parse_url('http://host.example/x?q=1').Host)", "host.example"],
    ["parse_urlquery('k1=v1&k2=v=2&k3')", { "Query Parameters": { k1: "v1", k2: "v=2", k3: "" } }],
    ["parse_urlquery('')", { "Query Parameters": {} }],
  ]));

test("one record of comma-separated values comes apart", () =>
  expectValues([
    [`parse_csv('a,"b,c","say ""hi""",,d')`, ["a", "b,c", 'say "hi"', "", "d"]],
    [`parse_csv('a,"two\\nlines",b\\nnext,record')`, ["a", "two\nlines", "b"]],
    ["parse_csv('')", [""]],
    [`parse_csv('"open, b')`, ["open, b"]],
  ]));

test("versions compare part by part", () =>
  expectValues([
    ["parse_version('1.10') > parse_version('1.9.9.9')", true],
    ["parse_version('1.2') == parse_version('1.2.0.0')", true],
    ["isempty(parse_version('1.2.3.4.5'))", true],
    ["isempty(parse_version('v1'))", true],
    ["isempty(parse_version(''))", true],
  ]));

const NO_PATH = {
  Scheme: "",
  RootPath: "",
  DirectoryPath: "",
  DirectoryName: "",
  Filename: "",
  Extension: "",
  AlternateDataStreamName: "",
};

test("a path comes apart, with either kind of slash", () =>
  expectValues([
    [
      "parse_path(@'D:\\logs\\today\\app.log')",
      {
        ...NO_PATH,
        RootPath: "D:\\",
        DirectoryPath: "D:\\logs\\today",
        DirectoryName: "today",
        Filename: "app.log",
        Extension: "log",
      },
    ],
    [
      "parse_path('file://D:/logs/a.txt:hidden')",
      {
        ...NO_PATH,
        Scheme: "file",
        RootPath: "D:/",
        DirectoryPath: "D:/logs",
        DirectoryName: "logs",
        Filename: "a.txt",
        Extension: "txt",
        AlternateDataStreamName: "hidden",
      },
    ],
    [
      "parse_path('/var/log/syslog')",
      { ...NO_PATH, DirectoryPath: "/var/log", DirectoryName: "log", Filename: "syslog" },
    ],
    ["parse_path('')", NO_PATH],
  ]));

test("a command line comes apart at white space outside of quotes", async () => {
  await expectValues([
    [`parse_command_line('run "a b" /c\\td"e f"', 'windows')`, ["run", "a b", "/c", "de f"]],
    [`parse_command_line('say \\\\"hi\\\\"', 'windows')`, ["say", '"hi"']],
    ["parse_command_line('', 'windows')", []],
  ]);
  expect(complaintAbout("print parse_command_line('a', 'posix')")?.message).toContain("windows");
});
