/** Beyond it a request is read in as many turns as it has parts. */
export const AT_ONCE_BYTES = 32_768;

const LARGE_AT_ONCE = 2;
/** Of turns in a row in which somebody new came: so many go by without a large request. */
const MOST_SKIPPED = 16;
/** In the order in which they came. */
const waiting = new Set<() => void>();
let planned = false;
let someoneCame = false;
let skipped = 0;

/**
 * Lets few large requests go on in each turn of the loop: Node reads up to two mebibytes of a connection before it looks at
 * the next one, and accepts one new connection a turn, so a caller who has just come waits for as many turns as others came before.
 *
 * @returns gives the place up, for a caller who leaves
 */
export function inTurn(goOn: () => void): () => void {
  // One that waits again has another place.
  const place = (): void => goOn();
  waiting.add(place);
  plan();
  return () => void waiting.delete(place);
}

/** Says that a connection was accepted: the next ones, which came together with it, are accepted before large requests go on. */
export function letPass(): void {
  someoneCame = true;
  // It holds for this turn alone.
  plan();
}

function plan(): void {
  if (planned) return;
  planned = true;
  setImmediate(takeTurn);
}

function takeTurn(): void {
  planned = false;
  if (waiting.size > 0 && someoneCame && skipped < MOST_SKIPPED) skipped++;
  else {
    skipped = 0;
    let left = LARGE_AT_ONCE;
    for (const place of waiting) {
      if (left-- === 0) break;
      waiting.delete(place);
      place();
    }
  }
  someoneCame = false;
  if (waiting.size > 0) plan();
}
