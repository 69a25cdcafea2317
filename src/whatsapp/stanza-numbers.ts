/**
 * A stanza's time, Unix seconds. What is no time counts as one that was not given: a stranger's stanza must not put a value
 * into the database that the database refuses.
 *
 * @returns 0 when the stanza names none; at most the year 5138
 */
export function secondsIn(attribute: string | undefined): number {
  return wholeNumberIn(attribute, 11);
}

/** A count that a stanza names; 0 when it names none. */
export function countIn(attribute: string | undefined): number {
  return wholeNumberIn(attribute, 9);
}

function wholeNumberIn(attribute: string | undefined, mostDigits: number): number {
  const isNumber = attribute !== undefined && /^\d+$/.test(attribute) && attribute.length <= mostDigits;
  return isNumber ? Number(attribute) : 0;
}
