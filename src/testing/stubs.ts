import type { Call, NetworkBlockedError, NetworkRules, Stub, StubAnswer } from "./network.ts";

/** A chat's answers to what its bots ask of the network. */
export interface Stubs extends NetworkRules {
  /** Texts match the address from its beginning. Of several that fit, the last one given counts. */
  add(url: string | URL | RegExp, answer: Stub): void;
  /** What was asked, in order. */
  readonly calls: readonly Call[];
  /** Calls that nobody had an answer for, since the last look. */
  takeBlocked(): NetworkBlockedError | null;
  ports: Set<number>;
}

/** No answers yet: every call is blocked. */
export function createStubs(): Stubs {
  const stubs: { url: string | RegExp; answer: Stub }[] = [];
  const calls: Call[] = [];
  let blocked: NetworkBlockedError[] = [];
  return {
    ports: new Set(),
    calls,
    add: (url, answer) => void stubs.unshift({ url: url instanceof URL ? url.href : url, answer }),
    blocked: (error) => void blocked.push(error),
    takeBlocked() {
      const [first = null] = blocked;
      blocked = [];
      return first;
    },
    answer(request) {
      const found = stubs.find(({ url }) =>
        typeof url === "string" ? request.url.startsWith(url) : url.test(request.url),
      );
      return found === undefined ? null : answerWith(request, found.answer, calls);
    },
  };
}

async function answerWith(request: Request, stub: Stub, calls: Call[]): Promise<Response> {
  calls.push({ method: request.method, url: request.url, body: await request.clone().text() });
  const answer: StubAnswer =
    typeof stub === "function" && !(stub instanceof Response)
      ? await (stub as (request: Request) => StubAnswer | Promise<StubAnswer>)(request)
      : (stub as StubAnswer);
  if (answer instanceof Error) throw answer;
  if (answer instanceof Response) return answer.clone();
  return typeof answer === "string" ? new Response(answer) : Response.json(answer);
}
