import { euros, PRODUCTS, type Product } from "./_catalogue.ts";
import type { Session } from "./_session.ts";

type Cart = Session["cart"];

/** Cents; from this sum on delivery costs nothing. */
const FREE_FROM = 3000;
const DELIVERY = 490;
export const MOST_PIECES = 20;

export interface Wish {
  pieces: number;
  what: string;
}

/** "2 espresso", "2 x espresso", "espresso": what stands behind `add` and `remove`. */
export function readWish(text: string): Wish | null {
  // Word by word: an expression that may take the spaces for either side takes quadratic time on many of them.
  const [first = "", ...others] = text.trim().split(/\s+/);
  if (first === "") return null;
  const count = others.length > 0 ? /^(\d{1,4})([x×]?)$/i.exec(first) : null;
  if (count === null) return { pieces: 1, what: [first, ...others].join(" ") };
  const times = count[2] === "" && others.length > 1 && /^[x×]$/i.test(others[0]!);
  return { pieces: Number(count[1]), what: others.slice(times ? 1 : 0).join(" ") };
}

/** @returns whether it fits: a cart has at most {@link MOST_PIECES} of a thing */
export function put(cart: Cart, { id }: Product, pieces: number): boolean {
  const next = (cart[id] ?? 0) + pieces;
  if (pieces < 1 || next > MOST_PIECES) return false;
  cart[id] = next;
  return true;
}

/** @param pieces all of them when it is null */
export function takeOut(cart: Cart, { id }: Product, pieces: number | null): void {
  const left = (cart[id] ?? 0) - (pieces ?? Infinity);
  if (left > 0) cart[id] = left;
  else delete cart[id];
}

/** A product that was taken out of the catalogue is no longer in anybody's cart. */
const linesOf = (cart: Cart) =>
  PRODUCTS.flatMap((product) => (cart[product.id] ? [{ product, pieces: cart[product.id]! }] : []));

export const isEmpty = (cart: Cart): boolean => linesOf(cart).length === 0;

export function sumsOf(cart: Cart): { goods: number; delivery: number; total: number } {
  const goods = linesOf(cart).reduce((sum, { product, pieces }) => sum + product.price * pieces, 0);
  const delivery = goods >= FREE_FROM ? 0 : DELIVERY;
  return { goods, delivery, total: goods + delivery };
}

export function cartText(cart: Cart): string {
  if (isEmpty(cart)) return "Your cart is empty. Write “shop” to see what we have.";
  const lines = linesOf(cart).map(
    ({ product, pieces }) => `${pieces} × ${product.name}: ${euros(product.price * pieces)}`,
  );
  const { delivery, total } = sumsOf(cart);
  return [
    "Your cart:",
    ...lines,
    `Delivery: ${delivery === 0 ? "free" : euros(delivery)}`,
    `Total: ${euros(total)}`,
  ].join("\n");
}
