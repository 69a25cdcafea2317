/** What a stranger's JSON may hold; see `tooMuchIn`. */
export interface JsonLimits {
  /** Lists and objects in each other. */
  levels: number;
  /** Values of lists and objects, all together. Default: any number. */
  values?: number;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Looked at before it is parsed: a mebibyte of brackets takes the parser a quarter of a second, in which nobody else is served.
 * Stops at the first thing that is too much. What is no JSON is looked at as if it were.
 *
 * @returns what there is too much of; null: it may be parsed
 */
export function tooMuchIn(text: string, { levels, values = Infinity }: JsonLimits): keyof JsonLimits | null {
  let depth = 0;
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) at = endOfString(text, at);
    else if (sign === COMMA) found++;
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) depth--;
    else if (sign === OPEN_LIST || sign === OPEN_OBJECT) {
      found++;
      if (++depth > levels) return "levels";
    }
    if (found > values) return "values";
  }
  return null;
}

/** @returns where its closing quote is, or the text's length */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let escapes = quote;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((quote - escapes) % 2 === 0) return quote;
    at = quote + 1;
  }
}
