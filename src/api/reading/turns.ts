/** Beyond it a request is read in as many turns as it has parts. */
export const AT_ONCE_BYTES = 32_768;

const LARGE_AT_ONCE = 2;
/** Of turns in a row in which somebody new came: so many go by without a large request. */
const MOST_SKIPPED = 16;
const waiting: (() => void)[] = [];
let someoneCame = false;
let skipped = 0;

/**
 * Lets few large requests go on in each turn of the loop: Node reads up to two mebibytes of a connection before it looks at
 * the next one, and accepts one new connection a turn, so a caller who has just come waits for as many turns as others came before.
 */
export function inTurn(goOn: () => void): void {
  if (waiting.push(goOn) === 1) setImmediate(takeTurn);
}

/** Says that a connection was accepted: the next ones, which came together with it, are accepted before large requests go on. */
export function letPass(): void {
  someoneCame = true;
}

function takeTurn(): void {
  if (someoneCame && skipped < MOST_SKIPPED) skipped++;
  else {
    skipped = 0;
    for (const goOn of waiting.splice(0, LARGE_AT_ONCE)) goOn();
  }
  someoneCame = false;
  if (waiting.length > 0) setImmediate(takeTurn);
}
