import type { components, paths, webhooks } from "./schema.ts";

/** Records by the names that the documentation gives them: `Schemas["Device"]`. */
export type Schemas = components["schemas"];

/** Every code of a failure that the gateway may answer with. */
export type ErrorCode = Schemas["Error"]["code"];

/** What is posted to a webhook. */
export type WebhookPayload = webhooks["event"]["post"]["requestBody"]["content"]["application/json"];

/** Methods, as the paths of the schema have them. */
export type Method = "get" | "post" | "put" | "patch" | "delete";

/** Paths that have a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: M extends keyof paths[P] ? P : never;
}[keyof paths];

/** One request as the schema has it. */
export type OperationOf<M extends Method, P extends keyof paths> = M extends keyof paths[P]
  ? paths[P][M]
  : never;

/** What may accompany every request. */
export interface CallOptions {
  /** Ends the call, also between attempts; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Of a send: names it instead of a key that is made for this call. A second call with it sends nothing more. */
  idempotencyKey?: string;
  /** Further attempts after the first; default is the client's. */
  retries?: number;
}

type JsonOf<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Parameters<O> = O extends { parameters: infer P } ? P : Record<never, never>;
type InPath<O> = Parameters<O> extends { path: infer V } ? { path: V } : Record<never, never>;
type InQuery<O> =
  Parameters<O> extends { query: infer Q }
    ? { query: Q }
    : "query" extends keyof Parameters<O>
      ? { query?: NonNullable<Parameters<O>["query" & keyof Parameters<O>]> }
      : Record<never, never>;
type InBody<O> = O extends { requestBody: infer R }
  ? { body: JsonOf<R> }
  : "requestBody" extends keyof O
    ? { body?: JsonOf<NonNullable<O["requestBody" & keyof O]>> }
    : Record<never, never>;

/** Path, query and body of a request; what it does not have is refused by the compiler. */
export type InputOf<O> = InPath<O> & InQuery<O> & InBody<O> & CallOptions;

/** The arguments of a call after its path: none have to be given when nothing has to be said. */
export type Arguments<O> =
  Record<never, never> extends Omit<InputOf<O>, keyof CallOptions>
    ? [input?: InputOf<O>]
    : [input: InputOf<O>];

/** The JSON of a success. */
export type AnswerOf<O> = O extends { responses: infer R }
  ? { [S in keyof R]: JsonOf<R[S]> }[keyof R]
  : never;

/** Lists that are told page by page, and what one page is. */
export type PagedPath = {
  [P in PathOf<"get">]: AnswerOf<OperationOf<"get", P>> extends { next: string | null; data: unknown[] }
    ? P
    : never;
}[PathOf<"get">];

/** A page of a list. */
export type PageOf<P extends PagedPath> = AnswerOf<OperationOf<"get", P>>;

/** A record of a list. */
export type ItemOf<P extends PagedPath> = PageOf<P> extends { data: (infer Item)[] } ? Item : never;
