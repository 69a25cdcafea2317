import { listen, type EventsOptions, type StreamEvent } from "./events.ts";
import { ask, urlOf, type ClientOptions, type Request } from "./request.ts";
import type {
  AnswerOf,
  Arguments,
  CallOptions,
  InputOf,
  ItemOf,
  Method,
  OperationOf,
  PagedPath,
  PageOf,
  PathOf,
} from "./types.ts";

/** Calls of one method: a path of the schema, and what it needs. */
export type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...rest: Arguments<OperationOf<M, P>>
) => Promise<AnswerOf<OperationOf<M, P>>>;

type ListInput<P extends PagedPath> = InputOf<OperationOf<"get", P>>;
type ListArguments<P extends PagedPath> =
  Arguments<OperationOf<"get", P>> extends [unknown] ? [input: ListInput<P>] : [input?: ListInput<P>];

/** One gateway, asked over HTTP. Every call rejects with {@link ParleyError}, or with the reason of its own signal. */
export interface Client {
  get: Call<"get">;
  post: Call<"post">;
  put: Call<"put">;
  patch: Call<"patch">;
  delete: Call<"delete">;
  /** Pages of a list from `before` on, newest first, until there are no more. */
  pages<P extends PagedPath>(path: P, ...rest: ListArguments<P>): AsyncGenerator<PageOf<P>, void>;
  /** Records of a list, as `pages` finds them. */
  list<P extends PagedPath>(path: P, ...rest: ListArguments<P>): AsyncGenerator<ItemOf<P>, void>;
  /** What happens in the account, for as long as it is listened to; a lost line is made anew and misses nothing that the gateway still has. */
  events(options?: EventsOptions): AsyncGenerator<StreamEvent, void>;
  /** A request whose path is filled already, for programs that know it only when they run. It tries again by the same rules. */
  request<T = unknown>(request: FilledRequest): Promise<T>;
  /** The whole address of a request, to be shown or copied. */
  url<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...rest: Arguments<OperationOf<M, P>>
  ): string;
}

/** A request that the compiler has not looked at. */
export interface FilledRequest extends CallOptions {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root, its parts encoded: `/devices/31600000001`. */
  path: string;
  /** Left out where undefined or null. */
  query?: Record<string, unknown>;
  /** Sent as JSON. */
  body?: unknown;
}

/** What the typed calls hand on: the compiler has looked at it. */
type Loose = Omit<Request, "method" | "template">;

/**
 * A gateway by HTTP.
 *
 * ```ts
 * const parley = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey });
 * await parley.post("/send-message", { body: { sender, number, message: "Hello" } });
 * ```
 */
export function createClient(options: ClientOptions = {}): Client {
  const call =
    (method: string) =>
    (template: string, input: Loose = {}): Promise<unknown> =>
      ask(options, { ...input, method, template });
  const get = call("GET");

  async function* pages(path: string, input: Loose = {}): AsyncGenerator<AnyPage, void> {
    let query = input.query;
    for (;;) {
      const page = (await get(path, query === undefined ? input : { ...input, query })) as AnyPage;
      yield page;
      if (page.next === null) return;
      query = { ...query, before: page.next };
    }
  }
  async function* list(path: string, input?: Loose): AsyncGenerator<unknown, void> {
    for await (const { data } of pages(path, input)) yield* data;
  }
  const client = {
    get,
    post: call("POST"),
    put: call("PUT"),
    patch: call("PATCH"),
    delete: call("DELETE"),
    pages,
    list,
    request: ({ path, ...rest }: FilledRequest) => ask(options, { ...rest, template: path }),
    events: (events?: EventsOptions) => listen(options, events),
    url: (method: string, template: string, input: Loose = {}) =>
      urlOf(options, { ...input, method, template }),
  };
  return client as unknown as Client;
}

interface AnyPage {
  next: string | null;
  data: unknown[];
}
