import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Principal, Role, Scope } from "../access/principal.ts";
import type { Change } from "../changes/change.ts";
import { route } from "./define-route.ts";
import { type Paged, PageParameters, type PageStart, pageBody, pageOf, pageStart } from "./record-page.ts";
import { IdParams } from "./record-schemas.ts";
import type { OwnErrorCode } from "./route.ts";

interface ResourceAccess {
  readonly role: Role;
  readonly scope: Scope;
}

/** How one record is named in a path. */
interface Naming<Param extends string, P extends TObject, Id> {
  readonly param: Param;
  readonly params: P;
  readonly id: (params: Static<P>) => Id;
}

/** By its number, which most records have. */
export const BY_ID: Naming<"id", typeof IdParams, number> = {
  param: "id",
  params: IdParams,
  id: ({ id }) => Number(id),
};

interface ResourceSpec<Path extends string, Param extends string, P extends TObject, Id, S extends TSchema> {
  /** Of the collection, for example `/api/v1/saved-searches`. */
  readonly path: Path;
  readonly tag: string;
  /** What one is called, with its article, and what several are called: `a saved search`, `saved searches`. */
  readonly one: string;
  readonly many: string;
  readonly by: Naming<Param, P, Id>;
  readonly record: S;
  readonly read: ResourceAccess;
  readonly write: ResourceAccess;
  /** What the audit log calls it, after CREATE_, UPDATE_ and DELETE_. */
  readonly audit: string;
}

interface BodyOptions {
  readonly errors?: readonly OwnErrorCode[];
  /** Unpacked bytes of the body; the default is the general limit. */
  readonly maxBytes?: number;
}

/**
 * The usual routes of a collection of records, each made from the verb it calls. A domain takes those it has; a route that
 * differs is written out.
 */
export function resource<
  const Path extends string,
  const Param extends string,
  P extends TObject,
  Id,
  S extends TSchema,
>(spec: ResourceSpec<Path, Param, P, Id, S>) {
  const { path, tag, one, many, by, record, read, write, audit } = spec;
  const recordPath: `${Path}/:${Param}` = `${path}/:${by.param}`;
  return {
    /** An array of all; `order` says in which order. */
    list: (order: string, list: (principal: Principal) => Promise<Static<S>[]>) =>
      route({
        method: "GET",
        path,
        tag,
        summary: `List the ${many}`,
        access: read,
        responses: { 200: { description: order, schema: Type.Array(record) } },
        handler: async ({ principal }) => ({ status: 200, body: await list(principal) }),
      }),

    /** In pages, newest first. */
    page: <A extends TObject>(
      answer: A,
      cursorKey: Uint8Array,
      read: (principal: Principal, start: PageStart) => Promise<Paged<Static<A> & { readonly id: number }>>,
    ) =>
      route({
        method: "GET",
        path,
        tag,
        summary: `List the ${many}`,
        access: spec.read,
        query: PageParameters,
        responses: { 200: { description: "Newest first", schema: pageOf(answer) } },
        handler: async ({ principal }, { query }) => {
          const list = { key: cursorKey, purpose: path, organizationId: principal.organizationId };
          const page = await read(principal, pageStart(query, list));
          return { status: 200, body: pageBody(page, list) };
        },
      }),

    /** Makes a record, or changes the one that has its key already. */
    put: <B extends TObject, A extends TSchema>(
      schema: B,
      answer: A,
      put: (change: Change, body: Static<B>) => Promise<{ record: Static<A>; isNew: boolean }>,
    ) =>
      route({
        method: "POST",
        path,
        tag,
        summary: `Create ${one}, or change the one with this key`,
        access: write,
        audit: `PUT_${audit}`,
        body: { kind: "json", schema },
        responses: {
          200: { description: "There was one; as it is now", schema: answer },
          201: { description: "Created", schema: answer },
        },
        errors: ["CONFLICT"],
        handler: ({ change }, { body }) =>
          change(async (made) => {
            const { record: found, isNew } = await put(made, body);
            return { status: isNew ? 201 : 200, body: found };
          }),
      }),

    /** `answer` is the record, or the record with what is shown this once. */
    create: <B extends TObject, A extends TSchema>(
      schema: B,
      answer: A,
      create: (change: Change, body: Static<B>) => Promise<Static<A>>,
      options: BodyOptions = {},
    ) =>
      route({
        method: "POST",
        path,
        tag,
        summary: `Create ${one}`,
        access: write,
        audit: `CREATE_${audit}`,
        body: { kind: "json", schema, ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }) },
        responses: { 201: { description: "Created", schema: answer } },
        errors: ["CONFLICT", ...(options.errors ?? [])],
        handler: ({ change }, { body }) =>
          change(async (made) => ({ status: 201, body: await create(made, body) })),
      }),

    read: <A extends TSchema>(answer: A, find: (principal: Principal, id: Id) => Promise<Static<A>>) =>
      route({
        method: "GET",
        path: recordPath,
        tag,
        summary: `Read ${one}`,
        access: read,
        params: by.params,
        responses: { 200: { description: "As it is now", schema: answer } },
        handler: async ({ principal }, { params }) => ({
          status: 200,
          body: await find(principal, by.id(params)),
        }),
      }),

    update: <B extends TObject>(
      schema: B,
      update: (change: Change, id: Id, body: Static<B>) => Promise<Static<S>>,
      options: BodyOptions = {},
    ) =>
      route({
        method: "PATCH",
        path: recordPath,
        tag,
        summary: `Change ${one}`,
        access: write,
        audit: `UPDATE_${audit}`,
        params: by.params,
        body: { kind: "json", schema, ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }) },
        responses: { 200: { description: "As it is now", schema: record } },
        errors: options.errors ?? [],
        handler: ({ change }, { params, body }) =>
          change(async (made) => ({ status: 200, body: await update(made, by.id(params), body) })),
      }),

    remove: (remove: (change: Change, id: Id) => Promise<void>, options: Pick<BodyOptions, "errors"> = {}) =>
      route({
        method: "DELETE",
        path: recordPath,
        tag,
        summary: `Delete ${one}`,
        access: write,
        audit: `DELETE_${audit}`,
        params: by.params,
        responses: { 204: { description: "Deleted" } },
        errors: options.errors ?? [],
        handler: ({ change }, { params }) =>
          change(async (made) => {
            await remove(made, by.id(params));
            return { status: 204 };
          }),
      }),
  };
}
