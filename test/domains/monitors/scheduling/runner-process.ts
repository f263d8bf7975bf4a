/** An instance that runs monitors and does nothing else, in a process of its own that may be killed and stopped. */
import { createPostgres } from "../../../../src/storage/postgres.ts";
import { openRunner } from "./monitor-fixture.ts";

const [url = "", owner = ""] = process.argv.slice(2);
const sql = createPostgres(url);
const { scheduler } = openRunner({ sql, owner });
scheduler.start();
process.on("SIGTERM", async () => {
  await scheduler.stop();
  process.exit(0);
});
