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

test("a text that is longer than any path is none, and is not searched for its parts", () =>
  expectValues([
    ["parse_path(strrep(strrep('a', 1024), 32)).Filename", "a".repeat(32_768)],
    ["parse_path(strcat('/', strrep(strrep('a', 1024), 32)))", null],
  ]));

test("a command line comes apart at white space outside of quotes", async () => {
  await expectValues([
    [`parse_command_line('run "a b" /c\\td"e f"', 'windows')`, ["run", "a b", "/c", "de f"]],
    [`parse_command_line('say \\\\"hi\\\\"', 'windows')`, ["say", '"hi"']],
    ["parse_command_line('', 'windows')", []],
  ]);
  expect(complaintAbout("print parse_command_line('a', 'posix')")?.message).toContain("windows");
});

test("names of domains go to Punycode and back", () =>
  expectValues([
    ["punycode_from_string('bücher')", "bcher-kva"],
    ["punycode_from_string('他们为什么不说中文')", "ihqwcrb4cv8a8dqg056pqjye"],
    ["punycode_from_string('3年B組金八先生')", "3B-ww4c5e180e575a65lsy2b"],
    ["punycode_from_string('ascii')", "ascii-"],
    ["punycode_to_string('bcher-kva')", "bücher"],
    ["punycode_to_string('ihqwcrb4cv8a8dqg056pqjye')", "他们为什么不说中文"],
    ["punycode_to_string('3B-ww4c5e180e575a65lsy2b')", "3年B組金八先生"],
    ["punycode_to_string('d9juau41awczczp')", "そのスピードで"],
    ["punycode_to_string('99999999999999')", ""],
    ["punycode_to_string('bcher-kv')", ""],
    ["punycode_to_string('no digits: !')", ""],
    ["punycode_to_string(strrep('z', 300))", ""],
    ["punycode_domain_to_string('www.bücher.example。com')", "www.xn--bcher-kva.example.com"],
    ["punycode_domain_from_string('WWW.XN--bcher-kva.example')", "WWW.bücher.example"],
    ["punycode_domain_from_string('xn--ls8h.la')", "💩.la"],
  ]));

test("packed texts are unpacked, as far as they are constants", async () => {
  const packed = Buffer.from(Bun.gzipSync(new TextEncoder().encode("Get-MpPreference"))).toString("base64");
  const large = Buffer.from(Bun.gzipSync(new Uint8Array(1_000_000))).toString("base64");
  await expectValues([
    [`gzip_decompress_from_base64_string('${packed}')`, "Get-MpPreference"],
    [`gzip_decompress_from_base64_string('${large}')`, ""],
    ["gzip_decompress_from_base64_string('no gzip')", ""],
    ["zlib_decompress_from_base64_string('eJwLSS0uUSguKcrMS1cwNDIGACxqBQ4=')", "Test string 123"],
  ]);
  expect(complaintAbout("logs | extend x = gzip_decompress_from_base64_string(message)")?.code).toBe(
    "NOT_A_CONSTANT",
  );
});

test("units are converted, and an unknown one is refused with those that there are", async () => {
  await expectValues([
    ["convert_length(1.0, 'Mile', 'Meter')", 1609.344],
    ["convert_volume(1.2, 'CubicMeter', 'AcreFoot')", 0.0009728568],
    ["convert_speed(36.0, 'KilometerPerHour', 'MeterPerSecond')", 10],
    ["round(convert_temperature(100.0, 'DegreeCelsius', 'DegreeFahrenheit'), 9)", 212],
    ["round(convert_temperature(32.0, 'DegreeFahrenheit', 'Kelvin'), 9)", 273.15],
    ["convert_angle(180.0, 'Degree', 'Revolution')", 0.5],
    ["convert_energy(1.0, 'KilowattHour', 'Megajoule')", 3.6],
    ["convert_force(1.0, 'Kilonewton', 'Newton')", 1000],
    ["convert_mass(real(null), 'Kilogram', 'Pound')", null],
  ]);
  expect(complaintAbout("print convert_mass(1.0, 'Kilo', 'Pound')")?.message).toContain("Kilogram");
});
