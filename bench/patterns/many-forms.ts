import type { ClickHouseClient } from "@clickhouse/client";

/** The second organization of a new server. */
export const MANY_FORMS_ORGANIZATION_ID = 2;
/** No other entries of the organization are of this day. */
export const MANY_FORMS_DAY = "2026-02-10";

/** Words of letters that differ from row to row. */
const word = (seed: string) => `lower(translate(hex(${seed}), '0123456789', 'ghijklmnop'))`;

/**
 * The worst case for counting by what messages look like: half of the entries are of one form, the other half have
 * words in them that occur nowhere else, so that there are half as many forms as entries.
 */
export async function fillManyForms(clickhouse: ClickHouseClient, rows: number): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, received_at, level, service, message)
      SELECT ${MANY_FORMS_ORGANIZATION_ID}, toDateTime64('${MANY_FORMS_DAY} 00:00:00', 9, 'UTC') + number * 86400 / ${rows}, number,
        toDateTime64('${MANY_FORMS_DAY} 00:00:00', 3, 'UTC'), 'info', 'shop',
        multiIf(
          number % 2 = 0, concat('request ', toString(number), ' of client ', toString(number % 977), ' took ', toString(number % 100), ' ms'),
          number % 4 = 1, concat('account ', ${word("number")}, ' searched for ', ${word("cityHash64(number)")}, ' in the catalogue'),
          concat('feedback: ', ${word("cityHash64(number, 1)")}, repeat(concat(' ', ${word("number")}), number % 30)))
      FROM numbers(${rows})`,
  });
}
