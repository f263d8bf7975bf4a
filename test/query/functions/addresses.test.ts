import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { type Case, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

async function expectValues(cases: readonly Case[]): Promise<void> {
  expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
}

test("addresses of version 4 are numbers, as far as their prefix reaches", () =>
  expectValues([
    ["parse_ipv4('10.0.0.1')", 167772161],
    ["parse_ipv4('255.255.255.255')", 4294967295],
    ["parse_ipv4('10.1.2.3/16')", 167837696],
    ["parse_ipv4('10.1.2.3/0')", 0],
    ["parse_ipv4_mask('10.1.2.3', 8)", 167772160],
    ["parse_ipv4_mask('10.1.2.3/8', 24)", 167772160],
    ["parse_ipv4_mask('10.1.2.3', 33)", null],
    ["ipv4_netmask_suffix('10.1.2.3/17')", 17],
    ["ipv4_netmask_suffix('10.1.2.3')", 32],
  ]));

test("what is no address of version 4 is null, never an error", () =>
  expectValues([
    ["parse_ipv4('')", null],
    ["parse_ipv4('10.0.0')", null],
    ["parse_ipv4('10.0.0.256')", null],
    ["parse_ipv4('10.0.0.1/33')", null],
    ["parse_ipv4('10.0.0.1/')", null],
    ["parse_ipv4(strcat('10.0.0.', '1/x'))", null],
    ["parse_ipv4(strcat('10.0.0', '.1/8/8'))", null],
    ["parse_ipv4(dynamic(null))", null],
    ["ipv4_compare('x', '10.0.0.1')", null],
    ["ipv4_is_match('10.0.0.1', '')", null],
    ["ipv4_is_in_range('x', '10.0.0.0/8')", null],
    ["ipv4_is_in_range('10.0.0.1', 'x')", null],
    ["ipv4_is_private('')", null],
    ["ipv4_netmask_suffix('10.1')", null],
    ["format_ipv4('x')", ""],
    ["ipv4_range_to_cidr_list('x', '10.0.0.1')", null],
  ]));

test("constant texts are read as the store reads others", () =>
  expectValues(
    ["1.2.3.4", "01.2.3.4", "1.2.3.4/09", "1.2.3.4/8", "1.2.3.4 ", "1.2.3", "1.2.3.4/", "1.2.3.4/32"].map(
      (text) => [
        `coalesce(tostring(parse_ipv4('${text}')), '') == coalesce(tostring(parse_ipv4(strcat('${text}', ''))), '')`,
        true,
      ],
    ),
  ));

test("addresses compare as far as all prefixes reach", () =>
  expectValues([
    ["ipv4_compare('10.0.0.1', '10.0.0.2')", -1],
    ["ipv4_compare('10.0.0.2', '10.0.0.1')", 1],
    ["ipv4_compare('10.0.0.2/24', '10.0.0.1')", 0],
    ["ipv4_compare('10.0.0.2', '10.0.0.1', 24)", 0],
    ["ipv4_is_match('10.0.0.1', '10.0.0.1')", true],
    ["ipv4_is_match('10.0.0.1', '10.0.1.1/24')", false],
    ["ipv4_is_match('10.0.0.1', '10.0.1.1', 16)", true],
    ["ipv4_is_match('10.0.0.1', '10.0.0.1', 99)", null],
    ["ipv4_is_in_range('10.2.0.1', '10.0.0.0/8')", true],
    ["ipv4_is_in_range('11.2.0.1', '10.0.0.0/8')", false],
    ["ipv4_is_in_range('10.2.0.1', '10.2.0.1')", true],
    ["ipv4_is_in_any_range('10.2.0.1', '172.16.0.0/12', 'x', '10.0.0.0/8')", true],
    ["ipv4_is_in_any_range('10.2.0.1', dynamic(['172.16.0.0/12']))", false],
    ["ipv4_is_in_any_range('10.2.0.1', parse_json('[\"x\",\"10.0.0.0/8\"]'))", true],
    ["ipv4_is_in_any_range('10.2.0.1', dynamic([]))", false],
    ["ipv4_is_in_any_range('x', '10.0.0.0/8')", null],
    ["ipv4_is_private('10.255.0.1')", true],
    ["ipv4_is_private('172.31.255.255')", true],
    ["ipv4_is_private('172.32.0.0')", false],
    ["ipv4_is_private(strcat('192.168.', '1.1/24'))", true],
  ]));

test("numbers become addresses, ranges networks", () =>
  expectValues([
    ["format_ipv4(167772161)", "10.0.0.1"],
    ["format_ipv4('10.1.2.3', 16)", "10.1.0.0"],
    ["format_ipv4_mask(167772161, 24)", "10.0.0.0/24"],
    ["format_ipv4_mask('10.1.2.3/8', 32)", "10.0.0.0/8"],
    ["format_ipv4(-1)", ""],
    ["format_ipv4(4294967296)", ""],
    ["format_ipv4('10.1.2.3', 99)", ""],
    ["ipv4_range_to_cidr_list('10.0.0.0', '10.0.1.127')", ["10.0.0.0/24", "10.0.1.0/25"]],
    ["ipv4_range_to_cidr_list('10.0.0.1', '10.0.0.1')", ["10.0.0.1/32"]],
    ["ipv4_range_to_cidr_list('0.0.0.0', '255.255.255.255')", ["0.0.0.0/0"]],
    ["array_length(ipv4_range_to_cidr_list('0.0.0.1', '255.255.255.254'))", 62],
    ["ipv4_range_to_cidr_list('10.0.0.2', '10.0.0.1')", []],
  ]));

test("addresses of version 6 are compared with those of version 4 as the mapped ones", () =>
  expectValues([
    ["parse_ipv6('10.0.0.1')", "0000:0000:0000:0000:0000:ffff:0a00:0001"],
    ["parse_ipv6('2001:db8::ff/120')", "2001:0db8:0000:0000:0000:0000:0000:0000"],
    ["parse_ipv6('x')", ""],
    ["parse_ipv6('')", ""],
    ["parse_ipv6('::1/129')", ""],
    ["parse_ipv6_mask('10.1.2.3', 8)", "0000:0000:0000:0000:0000:ffff:0a00:0000"],
    ["parse_ipv6_mask('2001:db8::ff', 64)", "2001:0db8:0000:0000:0000:0000:0000:0000"],
    ["parse_ipv6_mask('::1', 200)", ""],
    ["ipv6_compare('::1', '::2')", -1],
    ["ipv6_compare('::2', '::1')", 1],
    ["ipv6_compare('::1/120', '::2')", 0],
    ["ipv6_compare('10.0.0.1', '::ffff:a00:1')", 0],
    ["ipv6_compare('x', '::1')", null],
    ["ipv6_is_match('::1', '::2', 120)", true],
    ["ipv6_is_match('10.0.0.1', '10.0.0.2', 24)", true],
    ["ipv6_is_match('10.0.0.1', '10.0.1.2', 24)", false],
    ["ipv6_is_match('', '::1')", null],
    ["ipv6_is_in_range('2001:db8::7', '2001:db8::/64')", true],
    ["ipv6_is_in_range('2001:db9::7', '2001:db8::/64')", false],
    ["ipv6_is_in_range('10.1.1.1', '10.0.0.0/8')", true],
    ["ipv6_is_in_range('x', '::/0')", null],
    ["ipv6_is_in_any_range('2001:db8::7', '10.0.0.0/8', '2001:db8::/32')", true],
    ["ipv6_is_in_any_range('2001:db8::7', dynamic(['x']))", false],
    ["ipv6_is_in_any_range('x', '::/0')", null],
  ]));

test("addresses are found in a text where letters and digits do not touch them", () =>
  expectValues([
    ["has_ipv4('from 10.0.0.1, ok', '10.0.0.1')", true],
    ["has_ipv4('from10.0.0.1', '10.0.0.1')", false],
    ["has_ipv4('10.0.0.12', '10.0.0.1')", false],
    ["has_ipv4('10.0.0.256', '10.0.0.256')", false],
    ["has_ipv4('ip 10.0.0.1.', strcat('10.0.', '0.1'))", true],
    ["has_ipv4_prefix('ip=10.1.2.3;', '10.1.')", true],
    ["has_ipv4_prefix('ip=10.1.2.3;', '10.1')", false],
    ["has_ipv4_prefix('ip=10.1.2.3;', '10.1.2.3')", true],
    ["has_ipv4_prefix('ip=10.1.2.999;', '10.1.')", false],
    ["has_ipv4_prefix('ip=10.1.2.3;', strcat('10', '.'))", true],
    ["has_any_ipv4('ip 10.0.0.1', '9.9.9.9', '10.0.0.1')", true],
    ["has_any_ipv4('ip 10.0.0.1', dynamic(['9.9.9.9']))", false],
    ["has_any_ipv4_prefix('ip 10.0.0.1', dynamic(['9.', '10.']))", true],
    ["has_any_ipv4_prefix('', '10.')", false],
  ]));
