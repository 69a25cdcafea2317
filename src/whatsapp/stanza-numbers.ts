/**
 * A stanza's time, Unix seconds. What is no time counts as one that was not given: a stranger's stanza must not put a value
 * into the database that the database refuses.
 *
 * @returns 0 when the stanza names none; at most the year 5138
 */
export function secondsIn(attribute: string | undefined): number {
  return wholeNumberIn(attribute, 11);
}

/**
 * Gives a stanza that names no time the one of its arrival: a message of 1970 would be too old for any answer.
 *
 * @param nowMs by WhatsApp's clock
 */
export function dateUndated({ attrs }: { attrs: Record<string, string> }, nowMs: number): void {
  if (secondsIn(attrs.t) === 0) attrs.t = String(Math.floor(nowMs / 1000));
}

/** A count that a stanza names; 0 when it names none. */
export function countIn(attribute: string | undefined): number {
  return wholeNumberIn(attribute, 9);
}

function wholeNumberIn(attribute: string | undefined, mostDigits: number): number {
  const isNumber = attribute !== undefined && /^\d+$/.test(attribute) && attribute.length <= mostDigits;
  return isNumber ? Number(attribute) : 0;
}
