/** The reference: one Elysia route that answers the same body, without anything around it. Usage: bun bench/http/bare.ts PORT */
import { Elysia } from "elysia";
import { ANSWER } from "./answer.ts";

new Elysia()
  .get("/api/v1/things", () => ANSWER)
  .listen({ hostname: "127.0.0.1", port: Number(process.argv[2]) });
