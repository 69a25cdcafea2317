import { currentStep } from "../gateway/steps.ts";
import type { MadeCall, NetworkBlockedError, NetworkRules, Stub, StubAnswer } from "../network/network.ts";

/** A request of a bot, and what it was answered. */
export interface Answered {
  method: string;
  url: string;
  status: number;
  body: Promise<string>;
}

/** A chat's answers to what its bots ask of the network. */
export interface Stubs extends NetworkRules {
  /** Texts match the address from its beginning. Of several that fit, the last one given counts. @param method default: all */
  add(url: string | URL | RegExp, answer: Stub, method?: string): void;
  /** What was asked, with what was answered. */
  readonly answered: readonly Answered[];
  /** What was asked, in order. */
  readonly calls: readonly MadeCall[];
  /** Calls that nobody had an answer for, since the last look. */
  takeBlocked(): NetworkBlockedError | null;
  /** Whether the error is, or repeats, that of a call which nobody had an answer for. */
  isBlocked(error: unknown): boolean;
  ports: Set<number>;
}

/** No answers yet: every call is blocked. */
export function createStubs(): Stubs {
  const stubs: { url: string | RegExp; answer: Stub; method: string | undefined }[] = [];
  const answered: Answered[] = [];
  const calls: MadeCall[] = [];
  let blocked: NetworkBlockedError[] = [];
  const messages = new Set<string>();
  return {
    ports: new Set(),
    calls,
    answered,
    add: (url, answer, method) =>
      void stubs.unshift({ url: url instanceof URL ? url.href : url, answer, method }),
    blocked(error) {
      blocked.push(error);
      messages.add(error.message);
    },
    isBlocked: (error) => error instanceof Error && messages.has(error.message),
    takeBlocked() {
      const [first = null] = blocked;
      blocked = [];
      return first;
    },
    answer(request) {
      const found = stubs.find(
        ({ url, method = request.method }) =>
          method === request.method &&
          (typeof url === "string" ? request.url.startsWith(url) : url.test(request.url)),
      );
      if (found === undefined) return null;
      const { method, url } = request;
      return answerWith(request, found.answer, calls).then((response) => {
        answered.push({ method, url, status: response.status, body: bodyOf(response) });
        return response;
      });
    },
  };
}

/** What comes piece by piece may have no end: it is not read for others. */
async function bodyOf(response: Response): Promise<string> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) return "";
  return response.clone().text();
}

async function answerWith(request: Request, stub: Stub, calls: MadeCall[]): Promise<Response> {
  const { method, url, headers } = request;
  const idempotencyKey = headers.get("idempotency-key");
  calls.push({ method, url, body: await request.clone().text(), idempotencyKey, ...currentStep() });
  const answer: StubAnswer =
    typeof stub === "function" && !(stub instanceof Response)
      ? await (stub as (request: Request) => StubAnswer | Promise<StubAnswer>)(request)
      : (stub as StubAnswer);
  if (answer instanceof Error) throw answer;
  if (answer instanceof Response) return answer.clone();
  return typeof answer === "string" ? new Response(answer) : Response.json(answer);
}
