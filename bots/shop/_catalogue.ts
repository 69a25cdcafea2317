/** One thing that can be bought. */
export interface Product {
  id: string;
  name: string;
  /** In cents: sums of cents are exact. */
  price: number;
}

export const PRODUCTS: readonly Product[] = [
  { id: "espresso", name: "Espresso beans, 1 kg", price: 1890 },
  { id: "filter", name: "Filter coffee, 500 g", price: 990 },
  { id: "decaf", name: "Decaf, 500 g", price: 1090 },
  { id: "mug", name: "Enamel mug", price: 1250 },
];

/** By its number in the list, its id, or a part of its name. */
export function findProduct(text: string): Product | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  const byNumber = /^\d+$/.test(wanted) ? PRODUCTS[Number(wanted) - 1] : undefined;
  return (
    byNumber ??
    PRODUCTS.find(({ id }) => id === wanted) ??
    PRODUCTS.find(({ name }) => name.toLowerCase().includes(wanted))
  );
}

export const euros = (cents: number): string => `${(cents / 100).toFixed(2)} €`;

export function catalogueText(): string {
  const lines = PRODUCTS.map(({ name, price }, index) => `${index + 1}. ${name}: ${euros(price)}`);
  return ["What we have today:", ...lines, "", "Write for instance: add 2 espresso"].join("\n");
}
