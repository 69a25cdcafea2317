/** The same items in an order that the seed decides. @param random between 0 and 1 */
export function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
