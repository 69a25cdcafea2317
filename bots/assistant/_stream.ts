/** A call of a tool, as the model worded it. */
export interface Call {
  id: string;
  name: string;
  /** JSON, or what the model takes for it. */
  arguments: string;
}

/** What a model has said. */
export interface Said {
  text: string;
  calls: Call[];
  /** It came to its end, or to the limit of tokens: what breaks off before is no answer. */
  isWhole: boolean;
}

/** Reads an answer while it arrives. */
export interface Reader {
  /** @returns true when there is enough: it is whole, or longer than any answer may be */
  take(bytes: Uint8Array): boolean;
  said(): Said;
}

const LONGEST_LINE = 65_536;
const LONGEST_TEXT = 32_768;
const MOST_CALLS = 8;
const LONGEST_ARGUMENTS = 8_192;

interface Delta {
  content?: unknown;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}
interface Choice {
  delta?: Delta;
  message?: Delta;
  finish_reason?: string | null;
}

function parsed(json: string): { choices?: Choice[] } | null {
  try {
    return JSON.parse(json) as { choices?: Choice[] } | null;
  } catch {
    return null;
  }
}

/**
 * Reads server-sent events of the chat API, cut anywhere, also within a sign; or an answer that came in one piece. Lines that
 * are none are left out. Nothing that is sent can make it hold more than its limits.
 */
export function createReader(): Reader {
  const decoder = new TextDecoder();
  let line = "";
  let text = "";
  let isWhole = false;
  let isOver = false;
  let isEvents = false;
  const calls: Call[] = [];

  function call(
    { index, id, function: named }: NonNullable<Delta["tool_calls"]>[number],
    last: number,
  ): void {
    const at = typeof index === "number" ? index : last;
    if (!Number.isInteger(at) || at < 0 || at >= MOST_CALLS) return;
    const known = (calls[at] ??= { id: "", name: "", arguments: "" });
    if (typeof id === "string") known.id ||= id.slice(0, 200);
    if (typeof named?.name === "string") known.name += named.name.slice(0, 200);
    if (typeof named?.arguments === "string") known.arguments += named.arguments;
    if (known.arguments.length > LONGEST_ARGUMENTS) isOver = true;
  }

  function choice({ delta, message, finish_reason: reason }: Choice): void {
    const part = delta ?? message ?? {};
    if (typeof part.content === "string") text += part.content;
    if (Array.isArray(part.tool_calls)) part.tool_calls.forEach((one, index) => call(one ?? {}, index));
    if (typeof reason === "string") isWhole = true;
    if (text.length > LONGEST_TEXT) isOver = true;
  }

  function read(json: string): void {
    const { choices } = parsed(json) ?? {};
    const [first] = Array.isArray(choices) ? choices : [];
    if (typeof first === "object" && first !== null) choice(first);
  }

  function event(one: string): void {
    if (!one.startsWith("data:")) return;
    isEvents = true;
    const data = one.slice("data:".length).trim();
    if (data === "[DONE]") isWhole = isOver = true;
    else read(data);
  }

  return {
    take(bytes) {
      line += decoder.decode(bytes, { stream: true });
      const lines = line.split(/\r\n|\n|\r/);
      // What has no end yet may go on. An answer in one piece has no ends, or has them anywhere.
      const last = lines.pop()!;
      if (isEvents || lines.some((one) => one.startsWith("data:"))) {
        for (const one of lines) if (!isOver) event(one);
        line = last;
      }
      if (line.length > LONGEST_LINE) isOver = true;
      return isOver;
    },
    said() {
      if (!isEvents) read(line);
      else if (!isOver) event(line);
      return { text: text.trim(), calls: calls.filter(Boolean), isWhole };
    },
  };
}
