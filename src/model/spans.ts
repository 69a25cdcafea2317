import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from "@opentelemetry/api";
import { createLru } from "./lru.ts";

/** What is told of a span. Never what people wrote, and no phone number, chat or account. */
export type SpanAttributes = Attributes;

/** A step of a message's way that is under way. */
export interface Step {
  /** Adds what is known by now. */
  set(attributes: SpanAttributes): void;
  /** The step belongs together with that of another trace, named by a `traceparent`. What is none is ignored. */
  linkTo(traceparent: string | null): void;
}

/** How a step is told of. */
interface StepOptions {
  attributes?: SpanAttributes;
  /** `server`: asked by somebody; `client`: asks somebody. Default: neither. */
  kind?: "server" | "client";
  /** Default: the step that is under way. */
  parent?: Context | undefined;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
/** Messages whose first step is remembered until they are decided, and for attempts that follow. */
const MOST_REMEMBERED = 10_000;
const NOBODY: Step = { set: () => undefined, linkTo: () => undefined };

const tracer = trace.getTracer("parley");

/**
 * Whether somebody listens: an SDK that was loaded by `node --import` before the gateway. Looked at once: whoever comes later is
 * not told, and a gateway without one does no more than read this.
 */
export const isTraced = ((): boolean => {
  const provider = trace.getTracerProvider() as { getDelegateTracer?(name: string): unknown };
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer("parley") !== undefined;
})();

const remembered = createLru<number, Context>(MOST_REMEMBERED);

/** A message was stored. @param startedAt when its storing began, Unix milliseconds */
export function messageStored(inboxId: number, startedAt: number, attributes: SpanAttributes): void {
  if (!isTraced) return;
  const options = { kind: SpanKind.CONSUMER, startTime: startedAt, attributes };
  const span = tracer.startSpan("receive message", options, ROOT_CONTEXT);
  remembered.set(inboxId, trace.setSpan(ROOT_CONTEXT, span));
  span.end();
}

/** The trace of a message; undefined when it was stored by an earlier run, or long ago. */
export const traceOf = (inboxId: number): Context | undefined =>
  isTraced ? (remembered.get(inboxId) ?? ROOT_CONTEXT) : undefined;

/** What a caller's `traceparent` and `tracestate` name. */
export const traceOfHeaders = (header: (name: string) => string | null): Context | undefined =>
  isTraced
    ? propagation.extract(ROOT_CONTEXT, header, {
        get: (from, name) => from(name) ?? undefined,
        keys: () => [],
      })
    : undefined;

/** Runs `work` as a step of a trace; what throws marks it as failed, by the error's kind alone. */
export async function inStep<T>(
  name: string,
  { attributes = {}, kind, parent = context.active() }: StepOptions,
  work: (step: Step) => Promise<T>,
): Promise<T> {
  if (!isTraced) return work(NOBODY);
  const options = { attributes, ...(kind !== undefined && { kind: KINDS[kind] }) };
  const span = tracer.startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(stepOf(span)));
  } catch (error) {
    // Texts of errors may quote a message.
    span.setStatus({
      code: SpanStatusCode.ERROR,
      message: error instanceof Error ? error.name : typeof error,
    });
    throw error;
  } finally {
    span.end();
  }
}

/** Adds `traceparent` of the step that is under way, unless it is there. */
export function addTraceHeaders(headers: Record<string, string>): void {
  if (!isTraced || headers["traceparent"] !== undefined) return;
  propagation.inject(context.active(), headers);
}

const stepOf = (span: Span): Step => ({
  set: (attributes) => void span.setAttributes(attributes),
  linkTo(traceparent) {
    if (traceparent === null) return;
    const there = trace.getSpanContext(
      propagation.extract(ROOT_CONTEXT, { traceparent } satisfies Record<string, string>),
    );
    if (there !== undefined) span.addLink({ context: there });
  },
});
